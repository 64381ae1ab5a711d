#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Rounding, which leaves integers alone, and the functions that take a number apart; those give pairs of expressions that own
// handles to their operands: `auto [quotient, rest] = divmod(a, b)`. Read next: expr/functions/exponential.hpp.

#include <twill/core/config.hpp>
#include <twill/expr/evaluate.hpp>
#include <twill/expr/leaf.hpp>
#include <twill/expr/operation.hpp>
#include <twill/expr/symbol_functions.hpp>

#include <utility>

namespace twill::inline v0::expr::inline TWILL_ISA {

struct RoundDecimals {
  static constexpr std::string_view name() { return "round"; }
  static constexpr DType result(DType x, DType, DType) { return x; }
  static constexpr Symbol emit(Symbol x, Symbol up, Symbol down) {
    const DType type = is_floating(x.type()) ? x.type() : DType::float64;
    const Symbol scaled = round(x.to(type) * up.to(type) / down.to(type));
    return (scaled * down.to(type) / up.to(type)).to(x.type());
  }
};
struct WholeOf {
  static constexpr std::string_view name = "modf";
  constexpr Symbol operator()(Symbol x) const { return trunc(x.to(floating_type(x.type()))); }
};
struct FractionOf {
  static constexpr std::string_view name = "modf";
  // an infinity has no fraction
  constexpr Symbol operator()(Symbol x) const {
    const Symbol real = x.to(floating_type(x.type()));
    return copysign(where(isinf(real), 0.0, real - trunc(real)), real);
  }
};
struct ExponentOf {
  static constexpr std::string_view name = "frexp";
  constexpr Symbol operator()(Symbol x) const { return apply(Primitive::frexp_exponent, x).to(DType::int32); }
};
struct MantissaOf {
  static constexpr std::string_view name = "frexp";
  constexpr Symbol operator()(Symbol x) const { return ldexp(x, -apply(Primitive::frexp_exponent, x)); }
};

} // namespace twill::inline v0::expr::inline TWILL_ISA

namespace twill::inline v0::inline TWILL_ISA {

/// The largest whole number not above x.
template <TensorOperand X> [[nodiscard]] constexpr auto floor(X&& x) {
  return expr::apply_node<expr::Primitive::floor>(std::forward<X>(x));
}
/// The smallest whole number not below x.
template <TensorOperand X> [[nodiscard]] constexpr auto ceil(X&& x) {
  return expr::apply_node<expr::Primitive::ceil>(std::forward<X>(x));
}
/// The nearest whole number, the even one of two.
template <TensorOperand X> [[nodiscard]] constexpr auto round(X&& x) {
  return expr::apply_node<expr::Primitive::round>(std::forward<X>(x));
}
/// The whole number towards 0.
template <TensorOperand X> [[nodiscard]] constexpr auto trunc(X&& x) {
  return expr::apply_node<expr::Primitive::trunc>(std::forward<X>(x));
}
/// NumPy's name of `round`: to the nearest integer, ties to even.
template <TensorOperand X> [[nodiscard]] constexpr auto rint(X&& x) { return round(std::forward<X>(x)); }
/// NumPy's name of `trunc`: towards zero.
template <TensorOperand X> [[nodiscard]] constexpr auto fix(X&& x) { return trunc(std::forward<X>(x)); }

/// Rounds to so many decimals, negative ones to tens, hundreds and so on, as NumPy does: scales, rounds, scales back.
template <TensorOperand X> [[nodiscard]] constexpr auto round(X&& x, int decimals) {
  double up = 1, down = 1;
  for (int i = 0; i < decimals; ++i) up *= 10;
  for (int i = 0; i > decimals; --i) down *= 10;
  return expr::Node<expr::RoundDecimals, expr::operand_t<DType::float64, X>, expr::Constant<double>,
                    expr::Constant<double>>(expr::operand<DType::float64>(std::forward<X>(x)),
                                            expr::Constant<double>{up}, expr::Constant<double>{down});
}

/// The pair of floor_divide and remainder.
template <class A, class B>
requires Operands<A, B>
[[nodiscard]] auto divmod(A&& a, B&& b) {
  constexpr DType common = expr::common_type<A, B>();
  const auto left = owned(expr::operand<common>(std::forward<A>(a)));
  const auto right = owned(expr::operand<common>(std::forward<B>(b)));
  using Left = std::remove_const_t<decltype(left)>;
  using Right = std::remove_const_t<decltype(right)>;
  using expr::Primitive;
  return std::pair{expr::Node<expr::Apply<Primitive::floor_divide>, Left, Right>(left, right),
                   expr::Node<expr::Apply<Primitive::remainder>, Left, Right>(left, right)};
}

/// The pair of the fraction and the whole part, both with the sign of x.
template <TensorOperand X> [[nodiscard]] auto modf(X&& x) {
  const auto held = owned(expr::operand<DType::boolean>(std::forward<X>(x)));
  using Held = std::remove_const_t<decltype(held)>;
  return std::pair{expr::Node<expr::Function<expr::FractionOf>, Held>(held),
                   expr::Node<expr::Function<expr::WholeOf>, Held>(held)};
}

/// The pair of the mantissa m in [0.5, 1) and the exponent e of x = m 2^e.
template <TensorOperand X> [[nodiscard]] auto frexp(X&& x) {
  const auto held = owned(expr::operand<DType::boolean>(std::forward<X>(x)));
  using Held = std::remove_const_t<decltype(held)>;
  return std::pair{expr::Node<expr::Function<expr::MantissaOf>, Held>(held),
                   expr::Node<expr::Function<expr::ExponentOf>, Held>(held)};
}

} // namespace twill::inline v0::inline TWILL_ISA
