#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Element types and their run-time names. A `Scalar` is a type that a tensor can hold; a `DType` is its value-level
// twin for graphs, files and messages, which hold no types. The order of the enumerators is the order of promotion
// ranks within a kind. Read next: core/promotion.hpp.

#include <twill/core/half.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace twill { inline namespace v0 {

/// The element types, in the order in which they promote.
enum class DType : std::uint8_t { boolean, uint8, int32, int64, float16, bfloat16, float32, float64 };

namespace detail {
template <class T> inline constexpr int dtype_index = -1;
template <> inline constexpr int dtype_index<bool> = 0;
template <> inline constexpr int dtype_index<std::uint8_t> = 1;
template <> inline constexpr int dtype_index<std::int32_t> = 2;
template <> inline constexpr int dtype_index<std::int64_t> = 3;
template <> inline constexpr int dtype_index<half> = 4;
template <> inline constexpr int dtype_index<bfloat16> = 5;
template <> inline constexpr int dtype_index<float> = 6;
template <> inline constexpr int dtype_index<double> = 7;

template <DType D> struct ScalarOf;
template <> struct ScalarOf<DType::boolean> { using type = bool; };
template <> struct ScalarOf<DType::uint8> { using type = std::uint8_t; };
template <> struct ScalarOf<DType::int32> { using type = std::int32_t; };
template <> struct ScalarOf<DType::int64> { using type = std::int64_t; };
template <> struct ScalarOf<DType::float16> { using type = half; };
template <> struct ScalarOf<DType::bfloat16> { using type = bfloat16; };
template <> struct ScalarOf<DType::float32> { using type = float; };
template <> struct ScalarOf<DType::float64> { using type = double; };
} // namespace detail

/// A type that a tensor can hold.
template <class T>
concept Scalar = (detail::dtype_index<T> >= 0);

/// A floating-point type that a tensor can hold: half, bfloat16, float or double.
template <class T>
concept FloatingScalar = Scalar<T> && detail::dtype_index<T>
>= 4;

/// The run-time name of the element type T.
template <Scalar T> inline constexpr DType dtype_of = static_cast<DType>(detail::dtype_index<T>);

/// The element type that a `DType` names.
template <DType D> using scalar_t = typename detail::ScalarOf<D>::type;

/// Calls `f.template operator()<T>()` with the element type that a `DType` names.
template <class F> constexpr decltype(auto) with_scalar(DType dtype, F&& f) {
  switch (dtype) {
  case DType::boolean:
    return f.template operator()<bool>();
  case DType::uint8:
    return f.template operator()<std::uint8_t>();
  case DType::int32:
    return f.template operator()<std::int32_t>();
  case DType::int64:
    return f.template operator()<std::int64_t>();
  case DType::float16:
    return f.template operator()<half>();
  case DType::bfloat16:
    return f.template operator()<bfloat16>();
  case DType::float32:
    return f.template operator()<float>();
  case DType::float64:
    break;
  }
  return f.template operator()<double>();
}

/// Bytes of one element.
[[nodiscard]] constexpr std::size_t size_of(DType dtype) {
  constexpr std::size_t sizes[] = {1, 1, 4, 8, 2, 2, 4, 8};
  return sizes[static_cast<int>(dtype)];
}

/// Whether the type is float16, bfloat16, float32 or float64.
[[nodiscard]] constexpr bool is_floating(DType dtype) { return dtype >= DType::float16; }

/// The NumPy name: "float32", "bool", "bfloat16".
[[nodiscard]] constexpr std::string_view name(DType dtype) {
  constexpr std::string_view names[] = {"bool", "uint8", "int32", "int64", "float16", "bfloat16", "float32", "float64"};
  return names[static_cast<int>(dtype)];
}

}} // namespace twill::v0
