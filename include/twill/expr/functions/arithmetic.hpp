#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Arithmetic by NumPy's names. Integers stay integers and wrap; `divide` and `reciprocal` make real numbers. Read next:
// expr/functions/rounding.hpp.

#include <twill/core/config.hpp>
#include <twill/expr/leaf.hpp>
#include <twill/expr/operation.hpp>
#include <twill/expr/symbol_functions.hpp>
#include <twill/kernel/formulas.hpp>

#include <utility>

namespace twill::inline v0::inline TWILL_ISA {

/// -x
template <TensorOperand X> [[nodiscard]] constexpr auto negative(X&& x) {
  return expr::apply_node<expr::Primitive::negate>(std::forward<X>(x));
}
/// |x|; the most negative integer stays what it is
template <TensorOperand X> [[nodiscard]] constexpr auto abs(X&& x) {
  return expr::apply_node<expr::Primitive::abs>(std::forward<X>(x));
}
/// -1, 0 or 1; NaN stays NaN
template <TensorOperand X> [[nodiscard]] constexpr auto sign(X&& x) {
  return expr::apply_node<expr::Primitive::sign>(std::forward<X>(x));
}
/// x x
template <TensorOperand X> [[nodiscard]] constexpr auto square(X&& x) {
  return expr::apply_node<expr::Primitive::square>(std::forward<X>(x));
}
/// The square root; NaN below 0.
template <TensorOperand X> [[nodiscard]] constexpr auto sqrt(X&& x) {
  return expr::apply_node<expr::Primitive::sqrt>(std::forward<X>(x));
}
/// 1 / sqrt(x)
template <TensorOperand X> [[nodiscard]] constexpr auto rsqrt(X&& x) {
  return expr::apply_node<expr::Primitive::rsqrt>(std::forward<X>(x));
}
/// The cube root, of negative numbers too.
template <TensorOperand X> [[nodiscard]] constexpr auto cbrt(X&& x) {
  return expr::apply_node<expr::Primitive::cbrt>(std::forward<X>(x));
}
/// 1 / x as a real number
template <TensorOperand X> [[nodiscard]] constexpr auto reciprocal(X&& x) {
  return expr::apply_node<expr::Primitive::reciprocal>(std::forward<X>(x));
}
/// NumPy's other name of `abs`.
template <TensorOperand X> [[nodiscard]] constexpr auto absolute(X&& x) { return abs(std::forward<X>(x)); }
/// x with its element type
template <TensorOperand X> [[nodiscard]] constexpr auto positive(X&& x) {
  return expr::make_node<expr::Convert<expr::typed<X>().type>>(std::forward<X>(x));
}
/// |x| as a real number
template <TensorOperand X> [[nodiscard]] constexpr auto fabs(X&& x) {
  return abs(expr::make_node<expr::Convert<floating_type(expr::typed<X>().type)>>(std::forward<X>(x)));
}
/// a + b
template <class A, class B>
requires Operands<A, B>
[[nodiscard]] constexpr auto add(A&& a, B&& b) {
  return expr::apply_node<expr::Primitive::add>(std::forward<A>(a), std::forward<B>(b));
}
/// a - b
template <class A, class B>
requires Operands<A, B>
[[nodiscard]] constexpr auto subtract(A&& a, B&& b) {
  return expr::apply_node<expr::Primitive::subtract>(std::forward<A>(a), std::forward<B>(b));
}
/// a b
template <class A, class B>
requires Operands<A, B>
[[nodiscard]] constexpr auto multiply(A&& a, B&& b) {
  return expr::apply_node<expr::Primitive::multiply>(std::forward<A>(a), std::forward<B>(b));
}
/// a / b as real numbers
template <class A, class B>
requires Operands<A, B>
[[nodiscard]] constexpr auto divide(A&& a, B&& b) {
  return expr::apply_node<expr::Primitive::divide>(std::forward<A>(a), std::forward<B>(b));
}
/// The largest whole number not above a / b; integers divided by 0 give 0.
template <class A, class B>
requires Operands<A, B>
[[nodiscard]] constexpr auto floor_divide(A&& a, B&& b) {
  return expr::apply_node<expr::Primitive::floor_divide>(std::forward<A>(a), std::forward<B>(b));
}
/// What floor_divide leaves: it has the sign of b.
template <class A, class B>
requires Operands<A, B>
[[nodiscard]] constexpr auto remainder(A&& a, B&& b) {
  return expr::apply_node<expr::Primitive::remainder>(std::forward<A>(a), std::forward<B>(b));
}
/// What the division towards 0 leaves: it has the sign of a.
template <class A, class B>
requires Operands<A, B>
[[nodiscard]] constexpr auto fmod(A&& a, B&& b) {
  return expr::apply_node<expr::Primitive::fmod>(std::forward<A>(a), std::forward<B>(b));
}
/// a to the power of b; integers to negative powers give what is left of the fraction.
template <class A, class B>
requires Operands<A, B>
[[nodiscard]] constexpr auto power(A&& a, B&& b) {
  return expr::apply_node<expr::Primitive::power>(std::forward<A>(a), std::forward<B>(b));
}
/// The larger; NaN wins.
template <class A, class B>
requires Operands<A, B>
[[nodiscard]] constexpr auto maximum(A&& a, B&& b) {
  return expr::apply_node<expr::Primitive::maximum>(std::forward<A>(a), std::forward<B>(b));
}
/// The smaller; NaN wins.
template <class A, class B>
requires Operands<A, B>
[[nodiscard]] constexpr auto minimum(A&& a, B&& b) {
  return expr::apply_node<expr::Primitive::minimum>(std::forward<A>(a), std::forward<B>(b));
}
/// sqrt(a a + b b) without overflow on the way
template <class A, class B>
requires Operands<A, B>
[[nodiscard]] constexpr auto hypot(A&& a, B&& b) {
  return expr::apply_node<expr::Primitive::hypot>(std::forward<A>(a), std::forward<B>(b));
}
/// The greatest common divisor of integers, never negative.
template <class A, class B>
requires Operands<A, B>
[[nodiscard]] constexpr auto gcd(A&& a, B&& b) {
  return expr::apply_node<expr::Primitive::gcd>(std::forward<A>(a), std::forward<B>(b));
}
/// NumPy's other name of `divide`.
template <class A, class B>
requires Operands<A, B>
[[nodiscard]] constexpr auto true_divide(A&& a, B&& b) { return divide(std::forward<A>(a), std::forward<B>(b)); }
/// NumPy's other name of `remainder`.
template <class A, class B>
requires Operands<A, B>
[[nodiscard]] constexpr auto mod(A&& a, B&& b) { return remainder(std::forward<A>(a), std::forward<B>(b)); }
/// The larger; a NaN beside a number is left out.
template <class A, class B>
requires Operands<A, B>
[[nodiscard]] constexpr auto fmax(A&& a, B&& b) {
  return expr::make_node<expr::Function<formula::Fmax>>(std::forward<A>(a), std::forward<B>(b));
}
/// The smaller; a NaN beside a number is left out.
template <class A, class B>
requires Operands<A, B>
[[nodiscard]] constexpr auto fmin(A&& a, B&& b) {
  return expr::make_node<expr::Function<formula::Fmin>>(std::forward<A>(a), std::forward<B>(b));
}
/// The least common multiple of integers; 0 when one of them is 0.
template <class A, class B>
requires Operands<A, B>
[[nodiscard]] constexpr auto lcm(A&& a, B&& b) {
  return expr::make_node<expr::Function<formula::Lcm>>(std::forward<A>(a), std::forward<B>(b));
}
/// 0 below 0, at_zero at 0, 1 above
template <class A, class B>
requires Operands<A, B>
[[nodiscard]] constexpr auto heaviside(A&& a, B&& b) {
  return expr::function_node<formula::Heaviside>(std::forward<A>(a), std::forward<B>(b));
}
/// a to the power of b in float64
template <class A, class B>
requires Operands<A, B>
[[nodiscard]] constexpr auto float_power(A&& a, B&& b) {
  constexpr auto as_double = []<class X>(X&& x) {
    if constexpr (TensorOperand<X>)
      return expr::make_node<expr::Convert<DType::float64>>(std::forward<X>(x));
    else
      return static_cast<double>(x);
  };
  return power(as_double(std::forward<A>(a)), as_double(std::forward<B>(b)));
}
/// start + weight (end - start), as PyTorch has it
template <class A, class B, class W>
requires Operands<A, B, W>
[[nodiscard]] constexpr auto lerp(A&& start, B&& end, W&& weight) {
  return expr::function_node<formula::Lerp>(std::forward<A>(start), std::forward<B>(end), std::forward<W>(weight));
}

} // namespace twill::inline v0::inline TWILL_ISA
