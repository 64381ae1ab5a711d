#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Elementwise functions of tensors alone, beside those of elementwise/: rounding to decimals, numbers in place of NaN
// and infinities, closeness, and the functions that take a number apart. Those give pairs of expressions that own
// handles to their operands: `auto [quotient, rest] = divmod(a, b)`. Each makes a node; nothing is computed before the
// statement ends. Read next: expr/rowwise.hpp.

#include <twill/core/config.hpp>
#include <twill/expr/evaluate.hpp>
#include <twill/expr/leaf.hpp>
#include <twill/expr/operation.hpp>
#include <twill/expr/reductions.hpp>

#include <limits>
#include <string_view>
#include <utility>

namespace twill { inline namespace v0 { namespace expr { inline namespace TWILL_ISA {

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

[[nodiscard]] constexpr double largest_finite(DType type) {
  return type == DType::float16    ? 65504.0
         : type == DType::bfloat16 ? 0x1.fep127
         : type == DType::float32  ? 0x1.fffffep127
                                   : 0x1.fffffffffffffp1023;
}

struct ReplaceNotFinite {
  static constexpr std::string_view name = "nan_to_num";
  constexpr Symbol operator()(Symbol x, Symbol nan, Symbol high, Symbol low) const {
    if (!is_floating(x.type())) return x;
    const DType type = x.type();
    return where(isnan(x), nan.to(type), where(isposinf(x), high.to(type), where(isneginf(x), low.to(type), x)));
  }
};

struct Closeness {
  static constexpr std::string_view name() { return "isclose"; }
  static constexpr DType result(DType, DType, DType, DType, DType) { return DType::boolean; }
  static constexpr Symbol emit(Symbol a, Symbol b, Symbol rtol, Symbol atol, Symbol equal_nan) {
    const DType common = promote(a.type(), b.type());
    const DType type = is_fractional(common) ? compute_type(common) : DType::float64;
    const DType real = real_type(type); // of the distance
    const Symbol x = a.to(type);
    const Symbol y = b.to(type);
    const Symbol near = isfinite(y) & (abs(x - y) <= atol.to(real) + rtol.to(real) * abs(y));
    return near | (x == y) | (equal_nan & isnan(x) & isnan(y));
  }
};

}}}} // namespace twill::v0::expr::TWILL_ISA

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

using elementwise::round;

/// Rounds to a number of decimals, negative ones to tens, hundreds and so on, like NumPy: scales, rounds, scales back.
template <TensorOperand X> [[nodiscard]] constexpr auto round(X&& x, int decimals) {
  double up = 1, down = 1;
  for (int i = 0; i < decimals; ++i) up *= 10;
  for (int i = 0; i > decimals; --i) down *= 10;
  return expr::Node<expr::RoundDecimals, expr::operand_t<DType::float64, X>, expr::Constant<double>,
                    expr::Constant<double>>(expr::operand<DType::float64>(std::forward<X>(x)),
                                            expr::Constant<double>{up}, expr::Constant<double>{down});
}

/// The pair of floor_divide and remainder.
template <class A, OperandWith<A> B> [[nodiscard]] auto divmod(A&& a, B&& b) {
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

/// Replacements of nan_to_num. NaN here means the largest finite number of the element type, with its sign.
struct NanToNum {
  double nan = 0;                                           ///< for NaN
  double posinf = std::numeric_limits<double>::quiet_NaN(); ///< for infinity
  double neginf = std::numeric_limits<double>::quiet_NaN(); ///< for minus infinity
};

/// Numbers in place of NaN and infinities.
template <TensorOperand X> [[nodiscard]] constexpr auto nan_to_num(X&& x, NanToNum options = {}) {
  constexpr DType type = floating_type(expr::typed<X>().type);
  const double largest = expr::largest_finite(type);
  const double high = options.posinf == options.posinf ? options.posinf : largest;
  const double low = options.neginf == options.neginf ? options.neginf : -largest;
  return expr::make_node<expr::Function<expr::ReplaceNotFinite>>(std::forward<X>(x), options.nan, high, low);
}

/// Tolerances of closeness, and whether NaN is close to NaN.
struct IsClose {
  double rtol = 1e-5;     ///< relative to the second operand
  double atol = 1e-8;     ///< absolute
  bool equal_nan = false; ///< whether two NaN are close
};

/// Whether |a - b| <= atol + rtol |b|; infinities are close to themselves. Compared in float32 at least, integers in
/// float64.
template <class A, OperandWith<A> B> [[nodiscard]] constexpr auto isclose(A&& a, B&& b, IsClose options = {}) {
  constexpr DType common = expr::common_type<A, B>();
  using Number = expr::Constant<double>;
  return expr::Node<expr::Closeness, expr::operand_t<common, A>, expr::operand_t<common, B>, Number, Number,
                    expr::Constant<bool>>(expr::operand<common>(std::forward<A>(a)),
                                          expr::operand<common>(std::forward<B>(b)), Number{options.rtol},
                                          Number{options.atol}, expr::Constant<bool>{options.equal_nan});
}

/// Whether isclose holds for all elements, as a number: an expression without axes.
template <class A, OperandWith<A> B> [[nodiscard]] constexpr auto allclose(A&& a, B&& b, IsClose options = {}) {
  return all_of(isclose(std::forward<A>(a), std::forward<B>(b), options));
}

}}} // namespace twill::v0::TWILL_ISA
