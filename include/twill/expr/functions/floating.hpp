#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// What floating-point numbers are made of: classification, signs, neighbours, powers of two, and what takes the place of NaN
// and infinities. Integers become float32 where a real number is needed. Read next: expr/functions/comparison.hpp.

#include <twill/core/config.hpp>
#include <twill/expr/leaf.hpp>
#include <twill/expr/operation.hpp>
#include <twill/expr/reductions.hpp>
#include <twill/expr/symbol_functions.hpp>
#include <twill/kernel/formulas.hpp>

#include <limits>
#include <string_view>
#include <utility>

namespace twill::inline v0::expr::inline TWILL_ISA {

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
    return where(isnan(x), nan.to(type),
                 where(formula::Isposinf{}(x), high.to(type), where(formula::Isneginf{}(x), low.to(type), x)));
  }
};

struct Closeness {
  static constexpr std::string_view name() { return "isclose"; }
  static constexpr DType result(DType, DType, DType, DType, DType) { return DType::boolean; }
  static constexpr Symbol emit(Symbol a, Symbol b, Symbol rtol, Symbol atol, Symbol equal_nan) {
    const DType common = promote(a.type(), b.type());
    const DType type = is_floating(common) ? compute_type(common) : DType::float64;
    const Symbol x = a.to(type);
    const Symbol y = b.to(type);
    const Symbol near = isfinite(y) & (abs(x - y) <= atol.to(type) + rtol.to(type) * abs(y));
    return near | (x == y) | (equal_nan & isnan(x) & isnan(y));
  }
};

} // namespace twill::inline v0::expr::inline TWILL_ISA

namespace twill::inline v0::inline TWILL_ISA {

/// Whether x is no number.
template <TensorOperand X> [[nodiscard]] constexpr auto isnan(X&& x) {
  return expr::apply_node<expr::Primitive::isnan>(std::forward<X>(x));
}
/// Whether x is an infinity.
template <TensorOperand X> [[nodiscard]] constexpr auto isinf(X&& x) {
  return expr::apply_node<expr::Primitive::isinf>(std::forward<X>(x));
}
/// Whether x is neither an infinity nor NaN.
template <TensorOperand X> [[nodiscard]] constexpr auto isfinite(X&& x) {
  return expr::apply_node<expr::Primitive::isfinite>(std::forward<X>(x));
}
/// Whether x is the positive infinity.
template <TensorOperand X> [[nodiscard]] constexpr auto isposinf(X&& x) {
  return expr::function_node<formula::Isposinf>(std::forward<X>(x));
}
/// Whether x is the negative infinity.
template <TensorOperand X> [[nodiscard]] constexpr auto isneginf(X&& x) {
  return expr::function_node<formula::Isneginf>(std::forward<X>(x));
}
/// Whether x has its sign bit set: negative numbers, -0, and NaNs that say so.
template <TensorOperand X> [[nodiscard]] constexpr auto signbit(X&& x) {
  return expr::function_node<formula::Signbit>(std::forward<X>(x));
}
/// The magnitude of a with the sign of b.
template <class A, class B>
requires Operands<A, B>
[[nodiscard]] constexpr auto copysign(A&& a, B&& b) {
  return expr::apply_node<expr::Primitive::copysign>(std::forward<A>(a), std::forward<B>(b));
}
/// The next number after a on the way to b, in float32 or float64.
template <class A, class B>
requires Operands<A, B>
[[nodiscard]] constexpr auto nextafter(A&& a, B&& b) {
  return expr::apply_node<expr::Primitive::nextafter>(std::forward<A>(a), std::forward<B>(b));
}
/// a 2^b for a whole b
template <class A, class B>
requires Operands<A, B>
[[nodiscard]] constexpr auto ldexp(A&& a, B&& b) {
  return expr::apply_node<expr::Primitive::ldexp>(std::forward<A>(a), std::forward<B>(b));
}
/// The distance to the next number away from 0, with the sign of x, in float32 or float64.
template <TensorOperand X> [[nodiscard]] constexpr auto spacing(X&& x) {
  return expr::function_node<formula::Spacing>(std::forward<X>(x));
}

/// What nan_to_num writes. NaN stands for the largest finite number of the element type, with its sign.
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

/// How far apart close numbers may be, and whether NaN is close to NaN.
struct IsClose {
  double rtol = 1e-5;     ///< relative to the second operand
  double atol = 1e-8;     ///< absolute
  bool equal_nan = false; ///< whether two NaN are close
};

/// Whether |a - b| <= atol + rtol |b|; infinities are close to themselves. Compared in float32 at least, integers in float64.
template <class A, class B>
requires Operands<A, B>
[[nodiscard]] constexpr auto isclose(A&& a, B&& b, IsClose options = {}) {
  constexpr DType common = expr::common_type<A, B>();
  using Number = expr::Constant<double>;
  return expr::Node<expr::Closeness, expr::operand_t<common, A>, expr::operand_t<common, B>, Number, Number,
                    expr::Constant<bool>>(expr::operand<common>(std::forward<A>(a)),
                                          expr::operand<common>(std::forward<B>(b)), Number{options.rtol},
                                          Number{options.atol}, expr::Constant<bool>{options.equal_nan});
}

/// Whether isclose holds for all elements, as a number: an expression without axes.
template <class A, class B>
requires Operands<A, B>
[[nodiscard]] constexpr auto allclose(A&& a, B&& b, IsClose options = {}) {
  return all_of(isclose(std::forward<A>(a), std::forward<B>(b), options));
}

} // namespace twill::inline v0::inline TWILL_ISA
