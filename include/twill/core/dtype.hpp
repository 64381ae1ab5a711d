#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Element types and their run-time names. A `Scalar` is a type that a tensor can hold; a `DType` is its value-level
// twin for graphs, files and messages, which hold no types. The first eight enumerators are the types of models, for
// which kernels are made at run time; tensors hold and compute with all of them. Read next: core/promotion.hpp.

#include <twill/core/complex.hpp>
#include <twill/core/float8.hpp>
#include <twill/core/half.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace twill { inline namespace v0 {

/// The element types: those of models in the order in which they promote, then those of tensors alone.
enum class DType : std::uint8_t {
  boolean,
  uint8,
  int32,
  int64,
  float16,
  bfloat16,
  float32,
  float64,
  int8,
  int16,
  uint16,
  uint32,
  uint64,
  float8_e4m3fn,
  float8_e5m2,
  complex64,
  complex128
};

// Named after the enumerators, so that these do not shadow them.
/// Up to 448, at which it saturates, with 4 significant bits; NaN, no infinities.
using float8_e4m3fn = Float8<3>;
/// Up to 57344 with 3 significant bits; NaN and infinities.
using float8_e5m2 = Float8<2>;
/// Two floats, NumPy's and PyTorch's complex64.
using complex64 = Complex<float>;
/// Two doubles, NumPy's and PyTorch's complex128.
using complex128 = Complex<double>;

/// The number of element types.
inline constexpr int dtype_count = static_cast<int>(DType::complex128) + 1;

namespace detail {
template <class T> inline constexpr int dtype_index = -1;
template <DType D> struct ScalarOf;
template <> inline constexpr int dtype_index<bool> = 0;
template <> inline constexpr int dtype_index<std::uint8_t> = 1;
template <> inline constexpr int dtype_index<std::int32_t> = 2;
template <> inline constexpr int dtype_index<std::int64_t> = 3;
template <> inline constexpr int dtype_index<half> = 4;
template <> inline constexpr int dtype_index<bfloat16> = 5;
template <> inline constexpr int dtype_index<float> = 6;
template <> inline constexpr int dtype_index<double> = 7;
template <> inline constexpr int dtype_index<std::int8_t> = 8;
template <> inline constexpr int dtype_index<std::int16_t> = 9;
template <> inline constexpr int dtype_index<std::uint16_t> = 10;
template <> inline constexpr int dtype_index<std::uint32_t> = 11;
template <> inline constexpr int dtype_index<std::uint64_t> = 12;
template <> inline constexpr int dtype_index<float8_e4m3fn> = 13;
template <> inline constexpr int dtype_index<float8_e5m2> = 14;
template <> inline constexpr int dtype_index<complex64> = 15;
template <> inline constexpr int dtype_index<complex128> = 16;

template <> struct ScalarOf<DType::boolean> { using type = bool; };
template <> struct ScalarOf<DType::uint8> { using type = std::uint8_t; };
template <> struct ScalarOf<DType::int32> { using type = std::int32_t; };
template <> struct ScalarOf<DType::int64> { using type = std::int64_t; };
template <> struct ScalarOf<DType::float16> { using type = half; };
template <> struct ScalarOf<DType::bfloat16> { using type = bfloat16; };
template <> struct ScalarOf<DType::float32> { using type = float; };
template <> struct ScalarOf<DType::float64> { using type = double; };
template <> struct ScalarOf<DType::int8> { using type = std::int8_t; };
template <> struct ScalarOf<DType::int16> { using type = std::int16_t; };
template <> struct ScalarOf<DType::uint16> { using type = std::uint16_t; };
template <> struct ScalarOf<DType::uint32> { using type = std::uint32_t; };
template <> struct ScalarOf<DType::uint64> { using type = std::uint64_t; };
template <> struct ScalarOf<DType::float8_e4m3fn> { using type = float8_e4m3fn; };
template <> struct ScalarOf<DType::float8_e5m2> { using type = float8_e5m2; };
template <> struct ScalarOf<DType::complex64> { using type = complex64; };
template <> struct ScalarOf<DType::complex128> { using type = complex128; };
} // namespace detail

/// A type that a tensor can hold.
template <class T>
concept Scalar = (detail::dtype_index<T> >= 0);

/// A floating-point type that a tensor can hold: half, bfloat16, float, double, or one of 8 bits.
template <class T>
concept FloatingScalar = Scalar<T> &&(std::floating_point<T> || ShortFloat<T>);

/// complex64 or complex128.
template <class T>
concept ComplexScalar = Scalar<T> && detail::is_complex_number<T>;

/// An integer that a tensor can hold, signed or unsigned, of 8 to 64 bits.
template <class T>
concept IntegerScalar = Scalar<T> && std::integral<T> && !std::same_as<T, bool>;

/// The run-time name of the element type T.
template <Scalar T> inline constexpr DType dtype_of = static_cast<DType>(detail::dtype_index<T>);

/// The element type that a `DType` names.
template <DType D> using scalar_t = typename detail::ScalarOf<D>::type;

/// Whether models have the type, and kernels for it are made at run time: the first eight.
[[nodiscard]] constexpr bool is_model_type(DType dtype) { return dtype <= DType::float64; }

/// Calls `f.template operator()<T>()` with the element type that a `DType` of models names.
/// requires: is_model_type(dtype)
template <class F> constexpr decltype(auto) with_model_scalar(DType dtype, F&& f) {
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
  default:
    return f.template operator()<double>();
  }
}

/// Calls `f.template operator()<T>()` with the element type that a `DType` names.
template <class F> constexpr decltype(auto) with_scalar(DType dtype, F&& f) {
  switch (dtype) {
  case DType::int8:
    return f.template operator()<std::int8_t>();
  case DType::int16:
    return f.template operator()<std::int16_t>();
  case DType::uint16:
    return f.template operator()<std::uint16_t>();
  case DType::uint32:
    return f.template operator()<std::uint32_t>();
  case DType::uint64:
    return f.template operator()<std::uint64_t>();
  case DType::float8_e4m3fn:
    return f.template operator()<float8_e4m3fn>();
  case DType::float8_e5m2:
    return f.template operator()<float8_e5m2>();
  case DType::complex64:
    return f.template operator()<complex64>();
  case DType::complex128:
    return f.template operator()<complex128>();
  default:
    return with_model_scalar(dtype, f);
  }
}

/// Bytes of one element.
[[nodiscard]] constexpr std::size_t size_of(DType dtype) {
  constexpr std::size_t sizes[] = {1, 1, 4, 8, 2, 2, 4, 8, 1, 2, 2, 4, 8, 1, 1, 8, 16};
  return sizes[static_cast<int>(dtype)];
}

/// Whether the type has 8 bits and a floating point: tensors store it and compute in another.
[[nodiscard]] constexpr bool is_float8(DType dtype) {
  return dtype == DType::float8_e4m3fn || dtype == DType::float8_e5m2;
}

/// Whether the type is float16, bfloat16, float32, float64 or one of 8 bits.
[[nodiscard]] constexpr bool is_floating(DType dtype) {
  return (dtype >= DType::float16 && dtype <= DType::float64) || is_float8(dtype);
}

/// Whether the type is complex64 or complex128.
[[nodiscard]] constexpr bool is_complex(DType dtype) { return dtype == DType::complex64 || dtype == DType::complex128; }

/// Whether the type is an unsigned integer of 16 to 64 bits, which PyTorch promotes with floating types only.
[[nodiscard]] constexpr bool is_wide_unsigned(DType dtype) { return dtype >= DType::uint16 && dtype <= DType::uint64; }

/// The NumPy name: "float32", "bool", "bfloat16".
[[nodiscard]] constexpr std::string_view name(DType dtype) {
  constexpr std::string_view names[] = {"bool",    "uint8",         "int32",       "int64",     "float16",   "bfloat16",
                                        "float32", "float64",       "int8",        "int16",     "uint16",    "uint32",
                                        "uint64",  "float8_e4m3fn", "float8_e5m2", "complex64", "complex128"};
  return names[static_cast<int>(dtype)];
}

}} // namespace twill::v0
