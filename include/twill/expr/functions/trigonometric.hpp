#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Trigonometric and hyperbolic functions and their inverses, with both of NumPy's spellings. Integers become float32. Read
// next: expr/functions/special.hpp.

#include <twill/core/config.hpp>
#include <twill/expr/leaf.hpp>
#include <twill/expr/operation.hpp>
#include <twill/expr/symbol_functions.hpp>
#include <twill/kernel/formulas.hpp>

#include <utility>

namespace twill::inline v0::inline TWILL_ISA {

/// The sine of radians. float32: within 1.6 ULP, float64 within 1.5
template <TensorOperand X> [[nodiscard]] constexpr auto sin(X&& x) {
  return expr::apply_node<expr::Primitive::sin>(std::forward<X>(x));
}
/// The cosine of radians. float32: within 1.6 ULP, float64 within 1.5
template <TensorOperand X> [[nodiscard]] constexpr auto cos(X&& x) {
  return expr::apply_node<expr::Primitive::cos>(std::forward<X>(x));
}
/// The tangent of radians. float32: within 3.8 ULP
template <TensorOperand X> [[nodiscard]] constexpr auto tan(X&& x) {
  return expr::apply_node<expr::Primitive::tan>(std::forward<X>(x));
}
/// The angle in [-pi / 2, pi / 2]; NaN outside [-1, 1].
template <TensorOperand X> [[nodiscard]] constexpr auto asin(X&& x) {
  return expr::apply_node<expr::Primitive::asin>(std::forward<X>(x));
}
/// The angle in [0, pi]; NaN outside [-1, 1].
template <TensorOperand X> [[nodiscard]] constexpr auto acos(X&& x) {
  return expr::apply_node<expr::Primitive::acos>(std::forward<X>(x));
}
/// The angle in [-pi / 2, pi / 2].
template <TensorOperand X> [[nodiscard]] constexpr auto atan(X&& x) {
  return expr::apply_node<expr::Primitive::atan>(std::forward<X>(x));
}
/// The hyperbolic sine. float32: within 1.7 ULP
template <TensorOperand X> [[nodiscard]] constexpr auto sinh(X&& x) {
  return expr::apply_node<expr::Primitive::sinh>(std::forward<X>(x));
}
/// The hyperbolic cosine. float32: within 1.6 ULP
template <TensorOperand X> [[nodiscard]] constexpr auto cosh(X&& x) {
  return expr::apply_node<expr::Primitive::cosh>(std::forward<X>(x));
}
/// The hyperbolic tangent. float32: within 5 ULP; tanh_accurate is closer and slower
template <TensorOperand X> [[nodiscard]] constexpr auto tanh(X&& x) {
  return expr::apply_node<expr::Primitive::tanh>(std::forward<X>(x));
}
/// The hyperbolic tangent. float32: within 1.4 ULP
template <TensorOperand X> [[nodiscard]] constexpr auto tanh_accurate(X&& x) {
  return expr::apply_node<expr::Primitive::tanh_accurate>(std::forward<X>(x));
}
/// The inverse of sinh. float32: within 0.51 ULP
template <TensorOperand X> [[nodiscard]] constexpr auto asinh(X&& x) {
  return expr::apply_node<expr::Primitive::asinh>(std::forward<X>(x));
}
/// The inverse of cosh; NaN below 1.
template <TensorOperand X> [[nodiscard]] constexpr auto acosh(X&& x) {
  return expr::apply_node<expr::Primitive::acosh>(std::forward<X>(x));
}
/// The inverse of tanh; NaN outside [-1, 1].
template <TensorOperand X> [[nodiscard]] constexpr auto atanh(X&& x) {
  return expr::apply_node<expr::Primitive::atanh>(std::forward<X>(x));
}
/// The angle of the point (b, a) in [-pi, pi], signed zeros and infinities as C has them.
template <class A, class B>
requires Operands<A, B>
[[nodiscard]] constexpr auto atan2(A&& a, B&& b) {
  return expr::apply_node<expr::Primitive::atan2>(std::forward<A>(a), std::forward<B>(b));
}
/// NumPy's name of `atan2`: the angle in radians of the point (b, a).
template <class A, class B>
requires Operands<A, B>
[[nodiscard]] constexpr auto arctan2(A&& a, B&& b) { return atan2(std::forward<A>(a), std::forward<B>(b)); }
/// NumPy's name of `asin`, in radians.
template <TensorOperand X> [[nodiscard]] constexpr auto arcsin(X&& x) { return asin(std::forward<X>(x)); }
/// NumPy's name of `acos`, in radians.
template <TensorOperand X> [[nodiscard]] constexpr auto arccos(X&& x) { return acos(std::forward<X>(x)); }
/// NumPy's name of `atan`, in radians.
template <TensorOperand X> [[nodiscard]] constexpr auto arctan(X&& x) { return atan(std::forward<X>(x)); }
/// NumPy's name of `asinh`.
template <TensorOperand X> [[nodiscard]] constexpr auto arcsinh(X&& x) { return asinh(std::forward<X>(x)); }
/// NumPy's name of `acosh`.
template <TensorOperand X> [[nodiscard]] constexpr auto arccosh(X&& x) { return acosh(std::forward<X>(x)); }
/// NumPy's name of `atanh`.
template <TensorOperand X> [[nodiscard]] constexpr auto arctanh(X&& x) { return atanh(std::forward<X>(x)); }
/// Degrees as radians.
template <TensorOperand X> [[nodiscard]] constexpr auto deg2rad(X&& x) {
  return expr::function_node<formula::Deg2rad>(std::forward<X>(x));
}
/// Degrees to radians, as `deg2rad`.
template <TensorOperand X> [[nodiscard]] constexpr auto radians(X&& x) { return deg2rad(std::forward<X>(x)); }
/// Radians as degrees.
template <TensorOperand X> [[nodiscard]] constexpr auto rad2deg(X&& x) {
  return expr::function_node<formula::Rad2deg>(std::forward<X>(x));
}
/// Radians to degrees, as `rad2deg`.
template <TensorOperand X> [[nodiscard]] constexpr auto degrees(X&& x) { return rad2deg(std::forward<X>(x)); }
/// sin(pi x) / (pi x), 1 at 0
template <TensorOperand X> [[nodiscard]] constexpr auto sinc(X&& x) {
  return expr::function_node<formula::Sinc>(std::forward<X>(x));
}

} // namespace twill::inline v0::inline TWILL_ISA
