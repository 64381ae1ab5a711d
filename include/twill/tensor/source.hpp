#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Source text of a tensor: `to_source(x)` is an expression of twill that makes a tensor with every bit of every number
// when it is pasted into a program (a NaN stays some NaN). For tests, bug reports and small tables; all elements are
// written. Read next: tensor/print.hpp.

#include <twill/core/config.hpp>
#include <twill/core/dtype.hpp>
#include <twill/core/shape.hpp>
#include <twill/tensor/access.hpp>
#include <twill/tensor/number_format.hpp>
#include <twill/tensor/tensor.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>

namespace twill { inline namespace v0 { namespace detail { inline namespace TWILL_ISA {

/// The element type as source text.
[[nodiscard]] std::string_view type_in_source(DType type);

template <Scalar T> [[nodiscard]] std::string literal(T value) {
  const std::string type{type_in_source(dtype_of<T>)};
  if constexpr (std::is_same_v<T, bool>) {
    return value ? "true" : "false";
  } else if constexpr (FloatingScalar<T>) {
    const auto wide = static_cast<double>(value);
    constexpr bool narrow = NarrowFloat<T>;
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
  } else if constexpr (std::is_same_v<T, std::int32_t>) {
    return value == std::numeric_limits<T>::min() ? "-2147483647 - 1" : std::to_string(value);
  } else {
    // the least int64 has no literal of its own
    if constexpr (std::is_same_v<T, std::int64_t>)
      if (value == std::numeric_limits<T>::min()) return type + "{-9223372036854775807 - 1}";
    return type + "{" + std::to_string(value) + "}";
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
    return std::is_same_v<T, bool> || FloatingScalar<T>
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
#include <twill/tensor/source.ipp>
#endif
