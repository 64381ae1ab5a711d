#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Printing of tensors, `std::cout << x` and `to_string(x)`, in NumPy's format: brackets for each axis, lines of at most
// 75 characters, only the first and last three along each axis for more than 1000 elements. `to_source(x)` prints all
// elements as an expression of twill, which makes a tensor with every bit of every number (a NaN stays some NaN).

#include <twill/core/config.hpp>
#include <twill/core/dtype.hpp>
#include <twill/core/shape.hpp>
#include <twill/tensor/access.hpp>
#include <twill/tensor/number_format.hpp>
#include <twill/tensor/tensor.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

/// How tensors are printed; NumPy's names and defaults.
struct PrintOptions {
  int precision = 8;             ///< most digits after the point
  std::int64_t threshold = 1000; ///< more elements are summarised
  std::int64_t edge_items = 3;   ///< shown at each end of a summarised axis
  int line_width = 75;           ///< characters
  bool suppress = false;         ///< no exponents for small numbers
};

}}} // namespace twill::v0::TWILL_ISA

namespace twill { inline namespace v0 { namespace detail { inline namespace TWILL_ISA {

/// Lays out words that stand for the elements in row-major order.
class ArrayPrinter {
public:
  ArrayPrinter(const Dims& extents, const PrintOptions& options)
      : extents_{extents}, options_{options}, summarized_{extents.elements() > options.threshold} {}

  /// The row-major positions of the elements that are shown.
  [[nodiscard]] std::vector<std::size_t> shown() const;

  /// The text, given the words of the shown elements.
  [[nodiscard]] std::string print(std::vector<std::string> words);

private:
  [[nodiscard]] bool cut(int axis) const { return summarized_ && extents_[axis] > 2 * options_.edge_items; }

  [[nodiscard]] std::string axis_text(int axis, const std::string& indent, int width);

  Dims extents_;
  const PrintOptions& options_;
  bool summarized_;
  std::vector<std::string> words_{};
  std::size_t next_ = 0;
};

}}}} // namespace twill::v0::detail::TWILL_ISA

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

/// The elements as NumPy writes them; for a device without memory, a description of the tensor.
template <Scalar T, Device D, AnyShape S>
[[nodiscard]] std::string to_string(const Tensor<T, D, S>& x, const PrintOptions& options = {}) {
  if constexpr (!D::has_memory) {
    return "<" + std::string(name(dtype_of<T>)) + " tensor of shape " + to_string(x.shape()) + " on " +
           to_string(x.device()) + ">";
  } else if constexpr (S::rank == 0) {
    if constexpr (std::is_same_v<T, bool>)
      return x.item() ? "True" : "False";
    else
      return detail::formatted_alone(x.item());
  } else {
    detail::ArrayPrinter printer(x.shape(), options);
    const auto values = to_vector(x);
    std::remove_const_t<decltype(values)> shown;
    if (!values.empty())
      for (const std::size_t place : printer.shown()) shown.push_back(values[place]);
    if constexpr (std::is_same_v<T, bool>)
      return printer.print(detail::formatted_booleans(shown));
    else
      return printer.print(detail::formatted(shown, options.precision, options.suppress));
  }
}

/// Writes the text of `to_string`; waits for the tensor.
template <class Character, class Traits, Scalar T, Device D, AnyShape S>
std::basic_ostream<Character, Traits>& operator<<(std::basic_ostream<Character, Traits>& out,
                                                  const Tensor<T, D, S>& x) {
  const std::string text = to_string(x);
  out.write(text.data(), static_cast<std::int64_t>(text.size()));
  return out;
}

}}} // namespace twill::v0::TWILL_ISA

namespace twill { inline namespace v0 { namespace detail { inline namespace TWILL_ISA {

/// The element type as source text.
[[nodiscard]] std::string_view type_in_source(DType type);

template <Scalar T> [[nodiscard]] std::string literal(T value) {
  const std::string type{type_in_source(dtype_of<T>)};
  if constexpr (std::is_same_v<T, bool>) {
    return value ? "true" : "false";
  } else if constexpr (FloatingScalar<T>) {
    const auto wide = static_cast<double>(value);
    constexpr bool narrow = ShortFloat<T>;
    const std::string number = narrow ? "float" : type;
    std::string text;
    if (std::isnan(wide))
      text = "std::numeric_limits<" + number + ">::quiet_NaN()";
    else if (std::isinf(wide))
      text = (wide < 0 ? "-" : "") + ("std::numeric_limits<" + number + ">::infinity()");
    else
      text = formatted_alone(value) + (std::is_same_v<T, double> ? "" : "F");
    // "1e+20" is a double by itself, "1e+20F" a float
    return narrow ? type + "(" + text + ")" : text;
  } else if constexpr (ComplexScalar<T>) {
    return type + "{" + literal(value.re) + ", " + literal(value.im) + "}";
  } else if constexpr (std::is_same_v<T, std::int32_t>) {
    return value == std::numeric_limits<T>::min() ? "-2147483647 - 1" : std::to_string(value);
  } else {
    // the least int64 has no literal of its own
    if constexpr (std::is_same_v<T, std::int64_t>)
      if (value == std::numeric_limits<T>::min()) return type + "{-9223372036854775807 - 1}";
    return type + "{" + std::to_string(value) + (std::is_same_v<T, std::uint64_t> ? "U}" : "}");
  }
}

template <class V>
[[nodiscard]] std::string literals(const V& values, std::size_t first, std::size_t count, auto write) {
  std::string text = "{";
  for (std::size_t i = 0; i < count; ++i) text += (i > 0 ? ", " : "") + write(values[first + i]);
  return text + "}";
}

}}}} // namespace twill::v0::detail::TWILL_ISA

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

/// `tensor({{1.0F, 2.0F}, {3.0F, 4.0F}})`: an expression that makes this tensor.
template <Scalar T, Device D, AnyShape S> [[nodiscard]] std::string to_source(const Tensor<T, D, S>& x) {
  const auto write = [](auto element) { return detail::literal<T>(static_cast<T>(element)); };
  if constexpr (S::rank == 0) {
    const std::string value = write(x.item());
    return std::is_same_v<T, bool> || FloatingScalar<T> || ComplexScalar<T>
               ? "scalar(" + value + ")"
               : "scalar<" + std::string(detail::type_in_source(dtype_of<T>)) + ">(" + value + ")";
  } else {
    const Dims extents = x.shape();
    std::string shape = "Shape<";
    for (int axis = 0; axis < S::rank; ++axis) shape += (axis > 0 ? ", " : "") + std::to_string(extents[axis]);
    shape += ">";
    if (extents.elements() == 0)
      return "zeros<" + std::string(detail::type_in_source(dtype_of<T>)) + ", " + shape + ">()";
    const auto values = to_vector(x);
    if (S::rank != 2) {
      const std::string all = detail::literals(values, 0, values.size(), write);
      return (S::rank == 1 ? "tensor(" : "tensor<" + shape + ">(") + all + ")";
    }
    const auto columns = static_cast<std::size_t>(extents[S::rank - 1]);
    std::string text = "tensor({";
    for (std::size_t first = 0; first < values.size(); first += columns)
      text += (first > 0 ? ", " : "") + detail::literals(values, first, columns, write);
    return text + "})";
  }
}

}}} // namespace twill::v0::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/tensor/print.ipp>
#endif
