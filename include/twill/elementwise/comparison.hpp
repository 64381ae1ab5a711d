#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Comparisons, logic and bits by NumPy's names, and the choice between two values. Logic takes anything that differs
// from 0 as true; bits are those of integers, and of booleans. Read next: elementwise/arithmetic.hpp.

#include <twill/core/call_site.hpp>
#include <twill/core/config.hpp>
#include <twill/elementwise/argument.hpp>

#include <utility>

namespace twill { inline namespace v0 { namespace elementwise { inline namespace TWILL_ISA {

/// a == b
template <class A, With<A> B> [[nodiscard]] constexpr auto equal(A&& a, B&& b, CallSite site = CallSite::here()) {
  return apply<Primitive::equal>(std::forward<A>(a), std::forward<B>(b), site);
}
/// a != b
template <class A, With<A> B> [[nodiscard]] constexpr auto not_equal(A&& a, B&& b, CallSite site = CallSite::here()) {
  return apply<Primitive::not_equal>(std::forward<A>(a), std::forward<B>(b), site);
}
/// a < b
template <class A, With<A> B> [[nodiscard]] constexpr auto less(A&& a, B&& b, CallSite site = CallSite::here()) {
  return apply<Primitive::less>(std::forward<A>(a), std::forward<B>(b), site);
}
/// a <= b
template <class A, With<A> B> [[nodiscard]] constexpr auto less_equal(A&& a, B&& b, CallSite site = CallSite::here()) {
  return apply<Primitive::less_equal>(std::forward<A>(a), std::forward<B>(b), site);
}
/// a > b
template <class A, With<A> B> [[nodiscard]] constexpr auto greater(A&& a, B&& b, CallSite site = CallSite::here()) {
  return apply<Primitive::greater>(std::forward<A>(a), std::forward<B>(b), site);
}
/// a >= b
template <class A, With<A> B>
[[nodiscard]] constexpr auto greater_equal(A&& a, B&& b, CallSite site = CallSite::here()) {
  return apply<Primitive::greater_equal>(std::forward<A>(a), std::forward<B>(b), site);
}
/// Whether both differ from 0.
template <class A, With<A> B> [[nodiscard]] constexpr auto logical_and(A&& a, B&& b, CallSite site = CallSite::here()) {
  return apply<Primitive::logical_and>(std::forward<A>(a), std::forward<B>(b), site);
}
/// Whether one of them differs from 0.
template <class A, With<A> B> [[nodiscard]] constexpr auto logical_or(A&& a, B&& b, CallSite site = CallSite::here()) {
  return apply<Primitive::logical_or>(std::forward<A>(a), std::forward<B>(b), site);
}
/// Whether exactly one of them differs from 0.
template <class A, With<A> B> [[nodiscard]] constexpr auto logical_xor(A&& a, B&& b, CallSite site = CallSite::here()) {
  return apply<Primitive::logical_xor>(std::forward<A>(a), std::forward<B>(b), site);
}
/// Whether x is 0.
template <Argument X> [[nodiscard]] constexpr auto logical_not(X&& x) {
  return apply<Primitive::logical_not>(std::forward<X>(x));
}
/// a & b
template <class A, With<A> B> [[nodiscard]] constexpr auto bitwise_and(A&& a, B&& b, CallSite site = CallSite::here()) {
  return apply<Primitive::bitwise_and>(std::forward<A>(a), std::forward<B>(b), site);
}
/// a | b
template <class A, With<A> B> [[nodiscard]] constexpr auto bitwise_or(A&& a, B&& b, CallSite site = CallSite::here()) {
  return apply<Primitive::bitwise_or>(std::forward<A>(a), std::forward<B>(b), site);
}
/// a ^ b
template <class A, With<A> B> [[nodiscard]] constexpr auto bitwise_xor(A&& a, B&& b, CallSite site = CallSite::here()) {
  return apply<Primitive::bitwise_xor>(std::forward<A>(a), std::forward<B>(b), site);
}
/// a << b; 0 when b is negative or not below the width
template <class A, With<A> B> [[nodiscard]] constexpr auto left_shift(A&& a, B&& b, CallSite site = CallSite::here()) {
  return apply<Primitive::left_shift>(std::forward<A>(a), std::forward<B>(b), site);
}
/// a >> b, which keeps the sign; nothing but the sign when b is negative or not below the width
template <class A, With<A> B> [[nodiscard]] constexpr auto right_shift(A&& a, B&& b, CallSite site = CallSite::here()) {
  return apply<Primitive::right_shift>(std::forward<A>(a), std::forward<B>(b), site);
}
/// ~x; on booleans logical_not
template <Argument X> [[nodiscard]] constexpr auto invert(X&& x) {
  return apply<Primitive::invert>(std::forward<X>(x));
}
/// NumPy's other name of `invert`.
template <Argument X> [[nodiscard]] constexpr auto bitwise_not(X&& x) { return invert(std::forward<X>(x)); }

/// a where the condition holds, b elsewhere. A condition of numbers holds where it is not zero; models take truth
/// values.
template <Argument C, class A, With<C, A> B>
[[nodiscard]] constexpr auto where(C&& condition, A&& a, B&& b, CallSite site = CallSite::here()) {
  return Algebra<kind_of<C, A, B>>::choose(std::forward<C>(condition), std::forward<A>(a), std::forward<B>(b), site);
}
/// Converts as static_cast does; to bool: different from zero.
template <Scalar T, Argument X> [[nodiscard]] constexpr auto cast(X&& x) {
  return Algebra<kind_of<X>>::template convert<dtype_of<T>>(std::forward<X>(x));
}

}}}} // namespace twill::v0::elementwise::TWILL_ISA
