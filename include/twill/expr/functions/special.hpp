#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Special functions. Integers become float32. Read next: expr/functions/floating.hpp.

#include <twill/core/config.hpp>
#include <twill/expr/leaf.hpp>
#include <twill/expr/operation.hpp>

#include <utility>

namespace twill::inline v0::inline TWILL_ISA {

/// The error function. float32: within 6 ULP; erf_accurate is closer and slower
template <TensorOperand X> [[nodiscard]] constexpr auto erf(X&& x) {
  return expr::apply_node<expr::Primitive::erf>(std::forward<X>(x));
}
/// The error function. float32: within 1.2 ULP
template <TensorOperand X> [[nodiscard]] constexpr auto erf_accurate(X&& x) {
  return expr::apply_node<expr::Primitive::erf_accurate>(std::forward<X>(x));
}
/// 1 - erf(x), accurate in the right tail. float32: within 0.51 ULP
template <TensorOperand X> [[nodiscard]] constexpr auto erfc(X&& x) {
  return expr::apply_node<expr::Primitive::erfc>(std::forward<X>(x));
}
/// The logarithm of the magnitude of the gamma function.
template <TensorOperand X> [[nodiscard]] constexpr auto lgamma(X&& x) {
  return expr::apply_node<expr::Primitive::lgamma>(std::forward<X>(x));
}
/// The derivative of lgamma.
template <TensorOperand X> [[nodiscard]] constexpr auto digamma(X&& x) {
  return expr::apply_node<expr::Primitive::digamma>(std::forward<X>(x));
}
/// The derivative of order n of digamma.
template <class A, class B>
requires Operands<A, B>
[[nodiscard]] constexpr auto polygamma(A&& n, B&& x) {
  return expr::apply_node<expr::Primitive::polygamma>(std::forward<A>(n), std::forward<B>(x));
}

} // namespace twill::inline v0::inline TWILL_ISA
