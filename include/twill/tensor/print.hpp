#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Printing of tensors, `std::cout << x` and `to_string(x)`, in NumPy's format: brackets for each axis, lines of at most
// 75 characters, only the first and last three along each axis for more than 1000 elements.

#include <twill/core/config.hpp>
#include <twill/core/shape.hpp>
#include <twill/tensor/access.hpp>
#include <twill/tensor/number_format.hpp>
#include <twill/tensor/tensor.hpp>

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string>
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

#if TWILL_HEADER_ONLY
#include <twill/tensor/print.ipp>
#endif
