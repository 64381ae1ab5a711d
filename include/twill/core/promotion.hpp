#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Type promotion of operations. The rules are PyTorch's, in one table: bool is below integers and these below floating
// types, the wider type wins within a kind, half with bfloat16 gives float32. C++ scalars are weak: they decide only
// when their kind is above the tensor's (`x * 2.0` stays float32, an integer tensor times 2.0 becomes float32).

#include <twill/core/dtype.hpp>

#include <concepts>
#include <cstddef>

namespace twill { inline namespace v0 {

/// The element type of an operation on two tensors.
[[nodiscard]] constexpr DType promote(DType left, DType right) {
  constexpr DType b1 = DType::boolean, u1 = DType::uint8, i4 = DType::int32, i8 = DType::int64;
  constexpr DType f2 = DType::float16, bf = DType::bfloat16, f4 = DType::float32, f8 = DType::float64;
  constexpr DType table[8][8] = {
      // b1  u1  i4  i8  f2  bf  f4  f8
      {b1, u1, i4, i8, f2, bf, f4, f8}, // bool
      {u1, u1, i4, i8, f2, bf, f4, f8}, // uint8
      {i4, i4, i4, i8, f2, bf, f4, f8}, // int32
      {i8, i8, i8, i8, f2, bf, f4, f8}, // int64
      {f2, f2, f2, f2, f2, f4, f4, f8}, // float16
      {bf, bf, bf, bf, f4, bf, f4, f8}, // bfloat16
      {f4, f4, f4, f4, f4, f4, f4, f8}, // float32
      {f8, f8, f8, f8, f8, f8, f8, f8}, // float64
  };
  return table[static_cast<std::size_t>(left)][static_cast<std::size_t>(right)];
}

/// The three kinds between which a weak scalar can lift a tensor.
enum class TypeCategory : std::uint8_t { boolean, integer, floating };

/// The category that decides promotion with a plain number.
[[nodiscard]] constexpr TypeCategory category(DType dtype) {
  if (dtype == DType::boolean) return TypeCategory::boolean;
  return is_floating(dtype) ? TypeCategory::floating : TypeCategory::integer;
}

/// The element type of an operation on a tensor and a scalar of some kind: a lifted integer is int64, a float float32.
[[nodiscard]] constexpr DType weak_promote(DType tensor, TypeCategory scalar) {
  if (scalar <= category(tensor)) return tensor;
  return scalar == TypeCategory::floating ? DType::float32 : DType::int64;
}

/// The type in which `sum` and `prod` accumulate and return: booleans and integers count in int64.
[[nodiscard]] constexpr DType sum_type(DType dtype) { return is_floating(dtype) ? dtype : DType::int64; }

/// The type that `/`, `mean`, `exp` and similar functions return: booleans and integers become float32.
[[nodiscard]] constexpr DType floating_type(DType dtype) { return is_floating(dtype) ? dtype : DType::float32; }

/// The type in which an operation computes: the 16-bit types compute in float32.
[[nodiscard]] constexpr DType compute_type(DType dtype) {
  return dtype == DType::float16 || dtype == DType::bfloat16 ? DType::float32 : dtype;
}

/// A C++ number that may stand beside a tensor.
template <class T>
concept WeakScalar = std::integral<T> || std::floating_point<T> || NarrowFloat<T>;

/// The category of a plain C++ number.
template <WeakScalar T>
inline constexpr TypeCategory category_of = std::same_as<T, bool> ? TypeCategory::boolean
                                            : std::integral<T>    ? TypeCategory::integer
                                                                  : TypeCategory::floating;

template <Scalar A, Scalar B> using promote_t = scalar_t<promote(dtype_of<A>, dtype_of<B>)>;

/// The element type of `tensor op scalar`.
template <Scalar Element, WeakScalar S>
using weak_promote_t = scalar_t<weak_promote(dtype_of<Element>, category_of<S>)>;

template <Scalar T> using sum_t = scalar_t<sum_type(dtype_of<T>)>;
template <Scalar T> using floating_t = scalar_t<floating_type(dtype_of<T>)>;
template <Scalar T> using compute_t = scalar_t<compute_type(dtype_of<T>)>;

}} // namespace twill::v0
