#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Type promotion of operations. The rules are PyTorch's: bool is below integers, these below floating types and these
// below complex ones; the wider type wins within a kind, an unsigned byte with a signed one gives int16, half with
// bfloat16 float32. PyTorch promotes unsigned integers of 16 bits and more with floating types only, and the floats of
// 8 bits with nothing. C++ scalars are weak: they decide only when their kind is above the tensor's (`x * 2.0` stays
// float32, an integer tensor times 2.0 becomes float32).

#include <twill/core/dtype.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>

namespace twill { inline namespace v0 {

/// The result of `promote` where two types have none.
inline constexpr DType no_type{255};

/// The element type of an operation on two tensors; `no_type` where PyTorch refuses the pair.
[[nodiscard]] constexpr DType promote(DType left, DType right) {
  if (left == right) return left;
  if (left > right) { // the order of models' types is that of promotion among them
    const DType first = right;
    right = left;
    left = first;
  }
  if (is_float8(left) || is_float8(right)) return no_type;
  if (is_complex(right)) {
    if (is_wide_unsigned(left)) return no_type;
    return left == DType::float64 ? DType::complex128 : right;
  }
  if (is_floating(left)) // beside an integer of tensors alone, or a wider float
    return !is_floating(right) ? left : left == DType::float16 && right == DType::bfloat16 ? DType::float32 : right;
  if (is_model_type(right)) return right;
  if (is_wide_unsigned(right)) return no_type;
  if (left == DType::boolean || left >= DType::int8) return right;
  if (left == DType::uint8) return DType::int16; // with int8 and int16
  return left;
}

/// The kinds between which a weak scalar can lift a tensor.
enum class TypeCategory : std::uint8_t { boolean, integer, floating, complex };

/// The category that decides promotion with a plain number.
[[nodiscard]] constexpr TypeCategory category(DType dtype) {
  if (dtype == DType::boolean) return TypeCategory::boolean;
  if (is_complex(dtype)) return TypeCategory::complex;
  return is_floating(dtype) ? TypeCategory::floating : TypeCategory::integer;
}

/// The element type of an operation on a tensor and a scalar of some kind: a lifted integer is int64, a
/// float float32, a complex number complex64, beside float64 complex128.
[[nodiscard]] constexpr DType weak_promote(DType tensor, TypeCategory scalar) {
  if (scalar <= category(tensor)) return tensor;
  if (scalar == TypeCategory::complex) return tensor == DType::float64 ? DType::complex128 : DType::complex64;
  return scalar == TypeCategory::floating ? DType::float32 : DType::int64;
}

/// Whether the type has a fractional part: it is floating or complex.
[[nodiscard]] constexpr bool is_fractional(DType dtype) { return is_floating(dtype) || is_complex(dtype); }

/// The type in which `sum` and `prod` accumulate and return: booleans and integers count in int64.
[[nodiscard]] constexpr DType sum_type(DType dtype) { return is_fractional(dtype) ? dtype : DType::int64; }

/// The type that `/`, `mean`, `exp` and similar functions return: booleans and integers become float32.
[[nodiscard]] constexpr DType floating_type(DType dtype) { return is_fractional(dtype) ? dtype : DType::float32; }

/// Whether the type is a floating one of 16 or 8 bits.
[[nodiscard]] constexpr bool is_short_float(DType dtype) {
  return dtype == DType::float16 || dtype == DType::bfloat16 || is_float8(dtype);
}

/// The type in which an operation computes: floating types of 16 and 8 bits compute in float32.
[[nodiscard]] constexpr DType compute_type(DType dtype) { return is_short_float(dtype) ? DType::float32 : dtype; }

/// Bytes of one element in the type in which it is computed.
[[nodiscard]] constexpr int computed_bytes(DType dtype) { return static_cast<int>(size_of(compute_type(dtype))); }

/// The type of the two parts of a complex type; any other type itself.
[[nodiscard]] constexpr DType real_type(DType dtype) {
  return dtype == DType::complex64 ? DType::float32 : dtype == DType::complex128 ? DType::float64 : dtype;
}

/// The complex type whose parts have this type: complex128 of float64, else complex64.
[[nodiscard]] constexpr DType complex_type(DType dtype) {
  return dtype == DType::float64 || dtype == DType::complex128 ? DType::complex128 : DType::complex64;
}

/// A C++ number that may stand beside a tensor.
template <class T>
concept WeakScalar = std::integral<T> || std::floating_point<T> || ShortFloat<T> || ComplexNumber<T>;

/// The category of a plain C++ number.
template <WeakScalar T>
inline constexpr TypeCategory category_of = std::same_as<T, bool> ? TypeCategory::boolean
                                            : std::integral<T>    ? TypeCategory::integer
                                            : ComplexNumber<T>    ? TypeCategory::complex
                                                                  : TypeCategory::floating;

template <Scalar A, Scalar B> using promote_t = scalar_t<promote(dtype_of<A>, dtype_of<B>)>;

/// The element type of `tensor op scalar`.
template <Scalar Element, WeakScalar S>
using weak_promote_t = scalar_t<weak_promote(dtype_of<Element>, category_of<S>)>;

template <Scalar T> using sum_t = scalar_t<sum_type(dtype_of<T>)>;
template <Scalar T> using floating_t = scalar_t<floating_type(dtype_of<T>)>;
template <Scalar T> using compute_t = scalar_t<compute_type(dtype_of<T>)>;
template <Scalar T> using real_t = scalar_t<real_type(dtype_of<T>)>;

}} // namespace twill::v0
