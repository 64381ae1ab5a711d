#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Choices between values, and conversions. Read next: expr/activations.hpp, and `map` there for functions of your own.

#include <twill/core/config.hpp>
#include <twill/expr/functions/arithmetic.hpp>
#include <twill/expr/leaf.hpp>
#include <twill/expr/operation.hpp>

#include <utility>

namespace twill::inline v0::inline TWILL_ISA {

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

/// x between low and high; NaN stays NaN. Where low is above high, high.
template <TensorOperand X, AnyOperand Low, AnyOperand High>
[[nodiscard]] constexpr auto clamp(X&& x, Low&& low, High&& high) {
  return minimum(maximum(std::forward<X>(x), std::forward<Low>(low)), std::forward<High>(high));
}
/// NumPy's name of `clamp`: x between low and high.
template <TensorOperand X, AnyOperand Low, AnyOperand High>
[[nodiscard]] constexpr auto clip(X&& x, Low&& low, High&& high) {
  return clamp(std::forward<X>(x), std::forward<Low>(low), std::forward<High>(high));
}
/// x, but at least low; NaN stays NaN.
template <TensorOperand X, AnyOperand Low> [[nodiscard]] constexpr auto clamp_min(X&& x, Low&& low) {
  return maximum(std::forward<X>(x), std::forward<Low>(low));
}
/// x, but at most high; NaN stays NaN.
template <TensorOperand X, AnyOperand High> [[nodiscard]] constexpr auto clamp_max(X&& x, High&& high) {
  return minimum(std::forward<X>(x), std::forward<High>(high));
}

} // namespace twill::inline v0::inline TWILL_ISA
