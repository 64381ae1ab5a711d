#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Comparisons, logic and bits by NumPy's names. Logic takes whatever differs from 0 as true; bits are those of integers, and
// of booleans. Read next: expr/functions/choice.hpp.

#include <twill/core/config.hpp>
#include <twill/expr/leaf.hpp>
#include <twill/expr/operation.hpp>

#include <utility>

namespace twill::inline v0::inline TWILL_ISA {

/// a == b
template <class A, class B>
requires Operands<A, B>
[[nodiscard]] constexpr auto equal(A&& a, B&& b) {
  return expr::apply_node<expr::Primitive::equal>(std::forward<A>(a), std::forward<B>(b));
}
/// a != b
template <class A, class B>
requires Operands<A, B>
[[nodiscard]] constexpr auto not_equal(A&& a, B&& b) {
  return expr::apply_node<expr::Primitive::not_equal>(std::forward<A>(a), std::forward<B>(b));
}
/// a < b
template <class A, class B>
requires Operands<A, B>
[[nodiscard]] constexpr auto less(A&& a, B&& b) {
  return expr::apply_node<expr::Primitive::less>(std::forward<A>(a), std::forward<B>(b));
}
/// a <= b
template <class A, class B>
requires Operands<A, B>
[[nodiscard]] constexpr auto less_equal(A&& a, B&& b) {
  return expr::apply_node<expr::Primitive::less_equal>(std::forward<A>(a), std::forward<B>(b));
}
/// a > b
template <class A, class B>
requires Operands<A, B>
[[nodiscard]] constexpr auto greater(A&& a, B&& b) {
  return expr::apply_node<expr::Primitive::greater>(std::forward<A>(a), std::forward<B>(b));
}
/// a >= b
template <class A, class B>
requires Operands<A, B>
[[nodiscard]] constexpr auto greater_equal(A&& a, B&& b) {
  return expr::apply_node<expr::Primitive::greater_equal>(std::forward<A>(a), std::forward<B>(b));
}
/// Whether both differ from 0.
template <class A, class B>
requires Operands<A, B>
[[nodiscard]] constexpr auto logical_and(A&& a, B&& b) {
  return expr::apply_node<expr::Primitive::logical_and>(std::forward<A>(a), std::forward<B>(b));
}
/// Whether one of them differs from 0.
template <class A, class B>
requires Operands<A, B>
[[nodiscard]] constexpr auto logical_or(A&& a, B&& b) {
  return expr::apply_node<expr::Primitive::logical_or>(std::forward<A>(a), std::forward<B>(b));
}
/// Whether exactly one of them differs from 0.
template <class A, class B>
requires Operands<A, B>
[[nodiscard]] constexpr auto logical_xor(A&& a, B&& b) {
  return expr::apply_node<expr::Primitive::logical_xor>(std::forward<A>(a), std::forward<B>(b));
}
/// Whether x is 0.
template <TensorOperand X> [[nodiscard]] constexpr auto logical_not(X&& x) {
  return expr::apply_node<expr::Primitive::logical_not>(std::forward<X>(x));
}
/// a & b
template <class A, class B>
requires Operands<A, B>
[[nodiscard]] constexpr auto bitwise_and(A&& a, B&& b) {
  return expr::apply_node<expr::Primitive::bitwise_and>(std::forward<A>(a), std::forward<B>(b));
}
/// a | b
template <class A, class B>
requires Operands<A, B>
[[nodiscard]] constexpr auto bitwise_or(A&& a, B&& b) {
  return expr::apply_node<expr::Primitive::bitwise_or>(std::forward<A>(a), std::forward<B>(b));
}
/// a ^ b
template <class A, class B>
requires Operands<A, B>
[[nodiscard]] constexpr auto bitwise_xor(A&& a, B&& b) {
  return expr::apply_node<expr::Primitive::bitwise_xor>(std::forward<A>(a), std::forward<B>(b));
}
/// a << b; 0 when b is negative or not below the width
template <class A, class B>
requires Operands<A, B>
[[nodiscard]] constexpr auto left_shift(A&& a, B&& b) {
  return expr::apply_node<expr::Primitive::left_shift>(std::forward<A>(a), std::forward<B>(b));
}
/// a >> b, which keeps the sign; nothing but the sign when b is negative or not below the width
template <class A, class B>
requires Operands<A, B>
[[nodiscard]] constexpr auto right_shift(A&& a, B&& b) {
  return expr::apply_node<expr::Primitive::right_shift>(std::forward<A>(a), std::forward<B>(b));
}
/// ~x; on booleans logical_not
template <TensorOperand X> [[nodiscard]] constexpr auto invert(X&& x) {
  return expr::apply_node<expr::Primitive::invert>(std::forward<X>(x));
}
/// NumPy's other name of `invert`.
template <TensorOperand X> [[nodiscard]] constexpr auto bitwise_not(X&& x) { return invert(std::forward<X>(x)); }

} // namespace twill::inline v0::inline TWILL_ISA
