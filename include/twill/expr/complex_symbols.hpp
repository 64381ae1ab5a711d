#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Functions of complex symbols as formulas of their real and imaginary parts, so that they fuse and run in the packs of
// real numbers. Branch cuts, signed zeros and infinities are those of C's Annex G, which NumPy follows. Errors are a
// few times those of the real functions, relative to the size of the result; a power is exp(w log z). Read next:
// expr/complex_functions.hpp.

#include <twill/core/config.hpp>
#include <twill/core/dtype.hpp>
#include <twill/core/promotion.hpp>
#include <twill/expr/symbol.hpp>
#include <twill/kernel/primitive.hpp>

#include <limits>

namespace twill { inline namespace v0 { namespace expr { inline namespace TWILL_ISA {

/// A complex number of two real ones of one type.
[[nodiscard]] constexpr Symbol complex_of(Symbol real, Symbol imag) {
  return {real.code(), paired(real.line(), imag.line())};
}

[[nodiscard]] constexpr Symbol choose_complex(Symbol condition, Symbol a, Symbol b) {
  return complex_of(where(condition, a.real(), b.real()), where(condition, a.imag(), b.imag()));
}

namespace complex_formula {

/// a b, but 0 where one of them is 0 and the other not finite.
[[nodiscard]] constexpr Symbol product(Symbol a, Symbol b) {
  return where((a == 0) & !isfinite(b), a, where((b == 0) & !isfinite(a), b, a * b));
}

[[nodiscard]] constexpr Symbol times(Symbol a, Symbol b) {
  return complex_of(a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real());
}

/// Source: Smith, "Algorithm 116: Complex division" (1962).
[[nodiscard]] constexpr Symbol quotient(Symbol a, Symbol b) {
  const Symbol is_wide = abs(b.real()) >= abs(b.imag());
  const Symbol large = where(is_wide, b.real(), b.imag());
  const Symbol small = where(is_wide, b.imag(), b.real());
  const Symbol is_zero = (large == 0) & (small == 0);
  const Symbol ratio = where(is_zero, 0.0, small / large);
  const Symbol divisor = where(is_zero, 0.0, large + small * ratio);
  const Symbol x = where(is_wide, a.real() + a.imag() * ratio, a.real() * ratio + a.imag());
  const Symbol y = where(is_wide, a.imag() - a.real() * ratio, a.imag() * ratio - a.real());
  return complex_of(x / divisor, y / divisor);
}

/// e^x (cos y + i sin y). Beside the largest numbers e^x is divided by a factor first, since a cosine may be small.
[[nodiscard]] constexpr Symbol exponential(Symbol z) {
  const Symbol x = z.real(), y = z.imag();
  const bool is_double = x.type() == DType::float64;
  const Symbol is_large = x > (is_double ? 700.0 : 80.0);
  const Symbol size = exp(where(is_large, x - 20.0, x));
  const Symbol factor = where(is_large, x.number(485165195.40979027796910683054154), x.number(1));
  const Symbol is_limit = isinf(x) & !isfinite(y);
  const Symbol real = where(is_limit, size, size * cos(y) * factor);
  const Symbol imag = where(is_limit & (x < 0), 0.0, size * sin(y) * factor);
  return complex_of(real, where(y == 0, y, imag));
}

/// log|z| + i arg z. Near |z| = 1, log|z| is log1p(|z|^2 - 1) / 2 without cancellation.
[[nodiscard]] constexpr Symbol logarithm(Symbol z) {
  const Symbol x = abs(z.real()), y = abs(z.imag());
  const Symbol size = apply(Primitive::hypot, x, y);
  const Symbol large = maximum(x, y), small = minimum(x, y);
  const Symbol excess = (large - 1.0) * (large + 1.0) + small * small;
  const Symbol is_near = (size > 0.5) & (size < 2.0);
  const Symbol real = where(is_near, log1p(excess) * 0.5, log(size));
  return complex_of(real, atan2(z.imag(), z.real()));
}

/// Source: Kahan, "Branch cuts for complex elementary functions" (1987).
[[nodiscard]] constexpr Symbol root(Symbol z) {
  const Symbol x = z.real(), y = z.imag();
  const Symbol size = sqrt((abs(x) + apply(Primitive::hypot, x, y)) * 0.5);
  const Symbol rest = where(size == 0, y, y / (size + size));
  const Symbol is_right = x >= 0.0;
  const Symbol real = where(is_right, size, abs(rest));
  const Symbol imag = where(is_right | isnan(x), rest, copysign(size, y));
  const Symbol is_limit = isinf(y);
  return complex_of(where(is_limit, abs(y), real), where(is_limit, y, imag));
}

/// a b for the part that is infinite where a is, although the direction b is unknown.
[[nodiscard]] constexpr Symbol large_product(Symbol a, Symbol b) {
  return where(isinf(a) & isnan(b), abs(a), product(a, b));
}
/// sinh x cos y + i cosh x sin y
[[nodiscard]] constexpr Symbol hyperbolic_sine(Symbol x, Symbol y) {
  return complex_of(large_product(sinh(x), cos(y)), product(sin(y), cosh(x)));
}
/// cosh x cos y + i sinh x sin y
[[nodiscard]] constexpr Symbol hyperbolic_cosine(Symbol x, Symbol y) {
  return complex_of(large_product(cosh(x), cos(y)), product(sinh(x), sin(y)));
}
/// Source: Kahan, "Branch cuts for complex elementary functions" (1987); beside large |x| the limit.
[[nodiscard]] constexpr Symbol hyperbolic_tangent(Symbol x, Symbol y) {
  const Symbol is_large = abs(x) > (x.type() == DType::float64 ? 20.0 : 9.0);
  const Symbol tangent = tan(y);
  const Symbol slope = 1.0 + tangent * tangent;
  const Symbol sine = sinh(where(is_large, 0.0, x));
  const Symbol divisor = 1.0 + slope * sine * sine;
  const Symbol decay = exp(abs(x) * -2.0) * 4.0;
  const Symbol wave = sin(y) * cos(y);
  const Symbol limit = where(decay == 0, copysign(x.number(0), wave), decay * wave);
  const Symbol real = slope * sqrt(1.0 + sine * sine) * sine / divisor;
  return complex_of(where(x == 0, x, where(is_large, copysign(x.number(1), x), real)),
                    where(y == 0, y, where(is_large, limit, tangent / divisor)));
}

/// y + xi of x + yi: sin z and tan z are sinh and tanh of the exchanged number, exchanged again.
[[nodiscard]] constexpr Symbol exchanged(Symbol z) { return complex_of(z.imag(), z.real()); }

/// z^w = e^(w log z), 1 for w = 0, and 0 for z = 0 where the real part of w is positive.
[[nodiscard]] constexpr Symbol power(Symbol z, Symbol w) {
  const Symbol general = exponential(times(w, logarithm(z)));
  const Symbol is_zero = !z.to(DType::boolean), is_one = !w.to(DType::boolean);
  const auto settled = [&](Symbol part, double one) {
    const Symbol of_zero = where(w.real() > 0.0, 0.0, part.number(std::numeric_limits<double>::quiet_NaN()));
    return where(is_one, one, where(is_zero, of_zero, part));
  };
  return complex_of(settled(general.real(), 1), settled(general.imag(), 0));
}

} // namespace complex_formula

constexpr Symbol apply_complex(Primitive primitive, Symbol z) {
  using namespace complex_formula;
  using enum Primitive;
  const Symbol x = z.real(), y = z.imag();
  switch (primitive) {
  case negate:
    return complex_of(-x, -y);
  case abs:
    return apply(hypot, x, y);
  case square:
    return times(z, z);
  case sqrt:
    return root(z);
  case reciprocal:
    return quotient(complex_of(x.number(1), x.number(0)), z);
  case exp:
    return exponential(z);
  case log:
    return logarithm(z);
  case sin:
    return exchanged(hyperbolic_sine(y, x));
  case cos:
    return hyperbolic_cosine(-y, x);
  case tan:
    return exchanged(hyperbolic_tangent(y, x));
  case sinh:
    return hyperbolic_sine(x, y);
  case cosh:
    return hyperbolic_cosine(x, y);
  case tanh:
    return hyperbolic_tangent(x, y);
  case logical_not:
    return !z.to(DType::boolean);
  case isfinite:
    return expr::apply(isfinite, x) & expr::apply(isfinite, y);
  default: // isnan and isinf
    return expr::apply(primitive, x) | expr::apply(primitive, y);
  }
}

constexpr Symbol apply_complex(Primitive primitive, Symbol left, Symbol right) {
  using namespace complex_formula;
  using enum Primitive;
  const DType type = promote(left.type(), right.type());
  const Symbol a = left.to(type), b = right.to(type);
  switch (primitive) {
  case add:
    return complex_of(a.real() + b.real(), a.imag() + b.imag());
  case subtract:
    return complex_of(a.real() - b.real(), a.imag() - b.imag());
  case multiply:
    return times(a, b);
  case divide:
    return quotient(a, b);
  case Primitive::power:
    return complex_formula::power(a, b);
  case equal:
    return (a.real() == b.real()) & (a.imag() == b.imag());
  case not_equal:
    return (a.real() != b.real()) | (a.imag() != b.imag());
  default: // of truth values
    return expr::apply(primitive, a.to(DType::boolean), b.to(DType::boolean));
  }
}

}}}} // namespace twill::v0::expr::TWILL_ISA
