#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Exponentials and logarithms. Integers become float32. Errors are in units in the last place of float32; all of them stand
// in tools/ulp/results.md. Read next: expr/functions/trigonometric.hpp.

#include <twill/core/config.hpp>
#include <twill/expr/leaf.hpp>
#include <twill/expr/operation.hpp>
#include <twill/expr/symbol_functions.hpp>
#include <twill/kernel/formulas.hpp>

#include <utility>

namespace twill::inline v0::inline TWILL_ISA {

/// e^x. float32: within 1.1 ULP, float64 within 1
template <TensorOperand X> [[nodiscard]] constexpr auto exp(X&& x) {
  return expr::apply_node<expr::Primitive::exp>(std::forward<X>(x));
}
/// e^x - 1, accurate near 0. float32: within 1.6 ULP
template <TensorOperand X> [[nodiscard]] constexpr auto expm1(X&& x) {
  return expr::apply_node<expr::Primitive::expm1>(std::forward<X>(x));
}
/// 2^x. float32: within 0.9 ULP
template <TensorOperand X> [[nodiscard]] constexpr auto exp2(X&& x) {
  return expr::apply_node<expr::Primitive::exp2>(std::forward<X>(x));
}
/// The natural logarithm. float32: within 1.03 ULP, float64 within 0.8
template <TensorOperand X> [[nodiscard]] constexpr auto log(X&& x) {
  return expr::apply_node<expr::Primitive::log>(std::forward<X>(x));
}
/// log(1 + x), accurate near 0. float32: within 1.5 ULP
template <TensorOperand X> [[nodiscard]] constexpr auto log1p(X&& x) {
  return expr::apply_node<expr::Primitive::log1p>(std::forward<X>(x));
}
/// The logarithm to base 2. float32: within 1.06 ULP
template <TensorOperand X> [[nodiscard]] constexpr auto log2(X&& x) {
  return expr::apply_node<expr::Primitive::log2>(std::forward<X>(x));
}
/// The logarithm to base 10. float32: within 0.9 ULP
template <TensorOperand X> [[nodiscard]] constexpr auto log10(X&& x) {
  return expr::apply_node<expr::Primitive::log10>(std::forward<X>(x));
}
/// log(exp(a) + exp(b)) without overflow
template <class A, class B>
requires Operands<A, B>
[[nodiscard]] constexpr auto logaddexp(A&& a, B&& b) {
  return expr::function_node<formula::Logaddexp>(std::forward<A>(a), std::forward<B>(b));
}
/// log2(2^a + 2^b) without overflow
template <class A, class B>
requires Operands<A, B>
[[nodiscard]] constexpr auto logaddexp2(A&& a, B&& b) {
  return expr::function_node<formula::Logaddexp2>(std::forward<A>(a), std::forward<B>(b));
}
/// a log(b), 0 where a is 0 and b is no NaN
template <class A, class B>
requires Operands<A, B>
[[nodiscard]] constexpr auto xlogy(A&& a, B&& b) {
  return expr::function_node<formula::Xlogy>(std::forward<A>(a), std::forward<B>(b));
}

} // namespace twill::inline v0::inline TWILL_ISA
