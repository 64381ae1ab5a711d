#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// The named elementwise functions, as NumPy calls them, over tensors, expressions and numbers. Each makes a node; nothing
// is computed before the statement ends. Functions of real numbers turn integers into float32, rounding keeps integers.
// Read next: expr/activations.hpp, and expr/map.hpp for functions of your own.

#include <twill/core/dtype.hpp>
#include <twill/expr/evaluate.hpp>
#include <twill/expr/leaf.hpp>
#include <twill/expr/operation.hpp>

#include <utility>

namespace twill::inline v0 {

template <TensorOperand X> [[nodiscard]] constexpr auto abs(X&& x) {
  return expr::apply_node<expr::Primitive::abs>(std::forward<X>(x));
}
template <TensorOperand X> [[nodiscard]] constexpr auto sign(X&& x) {
  return expr::apply_node<expr::Primitive::sign>(std::forward<X>(x));
}
template <TensorOperand X> [[nodiscard]] constexpr auto square(X&& x) {
  return expr::apply_node<expr::Primitive::square>(std::forward<X>(x));
}
template <TensorOperand X> [[nodiscard]] constexpr auto sqrt(X&& x) {
  return expr::apply_node<expr::Primitive::sqrt>(std::forward<X>(x));
}
template <TensorOperand X> [[nodiscard]] constexpr auto rsqrt(X&& x) {
  return expr::apply_node<expr::Primitive::rsqrt>(std::forward<X>(x));
}
template <TensorOperand X> [[nodiscard]] constexpr auto reciprocal(X&& x) {
  return expr::apply_node<expr::Primitive::reciprocal>(std::forward<X>(x));
}
template <TensorOperand X> [[nodiscard]] constexpr auto floor(X&& x) {
  return expr::apply_node<expr::Primitive::floor>(std::forward<X>(x));
}
template <TensorOperand X> [[nodiscard]] constexpr auto ceil(X&& x) {
  return expr::apply_node<expr::Primitive::ceil>(std::forward<X>(x));
}
template <TensorOperand X> [[nodiscard]] constexpr auto round(X&& x) {
  return expr::apply_node<expr::Primitive::round>(std::forward<X>(x));
}
template <TensorOperand X> [[nodiscard]] constexpr auto trunc(X&& x) {
  return expr::apply_node<expr::Primitive::trunc>(std::forward<X>(x));
}
template <TensorOperand X> [[nodiscard]] constexpr auto exp(X&& x) {
  return expr::apply_node<expr::Primitive::exp>(std::forward<X>(x));
}
template <TensorOperand X> [[nodiscard]] constexpr auto expm1(X&& x) {
  return expr::apply_node<expr::Primitive::expm1>(std::forward<X>(x));
}
template <TensorOperand X> [[nodiscard]] constexpr auto log(X&& x) {
  return expr::apply_node<expr::Primitive::log>(std::forward<X>(x));
}
template <TensorOperand X> [[nodiscard]] constexpr auto log1p(X&& x) {
  return expr::apply_node<expr::Primitive::log1p>(std::forward<X>(x));
}
template <TensorOperand X> [[nodiscard]] constexpr auto sin(X&& x) {
  return expr::apply_node<expr::Primitive::sin>(std::forward<X>(x));
}
template <TensorOperand X> [[nodiscard]] constexpr auto cos(X&& x) {
  return expr::apply_node<expr::Primitive::cos>(std::forward<X>(x));
}
template <TensorOperand X> [[nodiscard]] constexpr auto tan(X&& x) {
  return expr::apply_node<expr::Primitive::tan>(std::forward<X>(x));
}
template <TensorOperand X> [[nodiscard]] constexpr auto asin(X&& x) {
  return expr::apply_node<expr::Primitive::asin>(std::forward<X>(x));
}
template <TensorOperand X> [[nodiscard]] constexpr auto acos(X&& x) {
  return expr::apply_node<expr::Primitive::acos>(std::forward<X>(x));
}
template <TensorOperand X> [[nodiscard]] constexpr auto atan(X&& x) {
  return expr::apply_node<expr::Primitive::atan>(std::forward<X>(x));
}
template <TensorOperand X> [[nodiscard]] constexpr auto sinh(X&& x) {
  return expr::apply_node<expr::Primitive::sinh>(std::forward<X>(x));
}
template <TensorOperand X> [[nodiscard]] constexpr auto cosh(X&& x) {
  return expr::apply_node<expr::Primitive::cosh>(std::forward<X>(x));
}
template <TensorOperand X> [[nodiscard]] constexpr auto tanh(X&& x) {
  return expr::apply_node<expr::Primitive::tanh>(std::forward<X>(x));
}
template <TensorOperand X> [[nodiscard]] constexpr auto erf(X&& x) {
  return expr::apply_node<expr::Primitive::erf>(std::forward<X>(x));
}
template <TensorOperand X> [[nodiscard]] constexpr auto isnan(X&& x) {
  return expr::apply_node<expr::Primitive::isnan>(std::forward<X>(x));
}
template <TensorOperand X> [[nodiscard]] constexpr auto isinf(X&& x) {
  return expr::apply_node<expr::Primitive::isinf>(std::forward<X>(x));
}
template <TensorOperand X> [[nodiscard]] constexpr auto isfinite(X&& x) {
  return expr::apply_node<expr::Primitive::isfinite>(std::forward<X>(x));
}
template <TensorOperand X> [[nodiscard]] constexpr auto logical_not(X&& x) {
  return expr::apply_node<expr::Primitive::logical_not>(std::forward<X>(x));
}

template <class A, class B>
requires Operands<A, B>
[[nodiscard]] constexpr auto floor_divide(A&& a, B&& b) {
  return expr::apply_node<expr::Primitive::floor_divide>(std::forward<A>(a), std::forward<B>(b));
}
template <class A, class B>
requires Operands<A, B>
[[nodiscard]] constexpr auto remainder(A&& a, B&& b) {
  return expr::apply_node<expr::Primitive::remainder>(std::forward<A>(a), std::forward<B>(b));
}
template <class A, class B>
requires Operands<A, B>
[[nodiscard]] constexpr auto power(A&& a, B&& b) {
  return expr::apply_node<expr::Primitive::power>(std::forward<A>(a), std::forward<B>(b));
}
template <class A, class B>
requires Operands<A, B>
[[nodiscard]] constexpr auto atan2(A&& a, B&& b) {
  return expr::apply_node<expr::Primitive::atan2>(std::forward<A>(a), std::forward<B>(b));
}
template <class A, class B>
requires Operands<A, B>
[[nodiscard]] constexpr auto maximum(A&& a, B&& b) {
  return expr::apply_node<expr::Primitive::maximum>(std::forward<A>(a), std::forward<B>(b));
}
template <class A, class B>
requires Operands<A, B>
[[nodiscard]] constexpr auto minimum(A&& a, B&& b) {
  return expr::apply_node<expr::Primitive::minimum>(std::forward<A>(a), std::forward<B>(b));
}
template <class A, class B>
requires Operands<A, B>
[[nodiscard]] constexpr auto logical_and(A&& a, B&& b) {
  return expr::apply_node<expr::Primitive::logical_and>(std::forward<A>(a), std::forward<B>(b));
}
template <class A, class B>
requires Operands<A, B>
[[nodiscard]] constexpr auto logical_or(A&& a, B&& b) {
  return expr::apply_node<expr::Primitive::logical_or>(std::forward<A>(a), std::forward<B>(b));
}
template <class A, class B>
requires Operands<A, B>
[[nodiscard]] constexpr auto logical_xor(A&& a, B&& b) {
  return expr::apply_node<expr::Primitive::logical_xor>(std::forward<A>(a), std::forward<B>(b));
}

/// a where the condition holds, b elsewhere. A condition of numbers holds where it is not zero.
template <TensorOperand C, AnyOperand A, AnyOperand B> [[nodiscard]] constexpr auto where(C&& condition, A&& a, B&& b) {
  constexpr DType common = expr::common_type<A, B>();
  using Node =
      expr::Node<expr::Where, expr::operand_t<common, C>, expr::operand_t<common, A>, expr::operand_t<common, B>>;
  return Node(expr::operand<common>(std::forward<C>(condition)), expr::operand<common>(std::forward<A>(a)),
              expr::operand<common>(std::forward<B>(b)));
}

/// Converts as static_cast does; to bool: different from zero.
template <Scalar T, TensorOperand X> [[nodiscard]] constexpr auto cast(X&& x) {
  return expr::make_node<expr::Convert<dtype_of<T>>>(std::forward<X>(x));
}

/// x between low and high; NaN stays NaN.
template <TensorOperand X, AnyOperand Low, AnyOperand High>
[[nodiscard]] constexpr auto clamp(X&& x, Low&& low, High&& high) {
  return minimum(maximum(std::forward<X>(x), std::forward<Low>(low)), std::forward<High>(high));
}

} // namespace twill::inline v0
