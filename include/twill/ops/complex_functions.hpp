#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Functions of complex numbers in models beside exp and log: roots, powers, trigonometric and hyperbolic functions and
// their inverses, by the formulas of complex tensors (elementwise/complex_formulas.hpp) with the derivatives of the
// functions. Not in twill.hpp. Read next: ops/complex_value.hpp.

#include <twill/core/call_site.hpp>
#include <twill/core/config.hpp>
#include <twill/elementwise/complex_formulas.hpp>
#include <twill/graph/functions.hpp>
#include <twill/graph/reductions.hpp>
#include <twill/graph/shape_functions.hpp>
#include <twill/ops/complex_moves.hpp>
#include <twill/ops/complex_value.hpp>

#include <cstdint>
#include <initializer_list>
#include <numbers>

namespace twill { inline namespace v0 { namespace graph { inline namespace TWILL_ISA {

// Of real values as well, which the functions below would hide.
using elementwise::acos;
using elementwise::acosh;
using elementwise::asin;
using elementwise::asinh;
using elementwise::atan;
using elementwise::atanh;
using elementwise::cos;
using elementwise::cosh;
using elementwise::exp2;
using elementwise::expm1;
using elementwise::isfinite;
using elementwise::isinf;
using elementwise::isnan;
using elementwise::log10;
using elementwise::log1p;
using elementwise::log2;
using elementwise::pow;
using elementwise::reciprocal;
using elementwise::rsqrt;
using elementwise::sigmoid;
using elementwise::sign;
using elementwise::sin;
using elementwise::sinh;
using elementwise::sqrt;
using elementwise::square;
using elementwise::tan;
using elementwise::tanh;

/// z z.
[[nodiscard]] constexpr ComplexValue square(const ComplexValue& z) { return z * z; }
/// 1 / z.
[[nodiscard]] constexpr ComplexValue reciprocal(const ComplexValue& z) { return 1 / z; }
/// The principal root, in the right half-plane.
[[nodiscard]] TWILL_CONSTEXPR ComplexValue sqrt(const ComplexValue& z);
/// 2^z.
[[nodiscard]] TWILL_CONSTEXPR ComplexValue exp2(const ComplexValue& z);
/// e^z - 1, accurate near 0.
[[nodiscard]] TWILL_CONSTEXPR ComplexValue expm1(const ComplexValue& z);
/// log(1 + z), accurate near 0.
[[nodiscard]] TWILL_CONSTEXPR ComplexValue log1p(const ComplexValue& z);
/// The sine.
[[nodiscard]] TWILL_CONSTEXPR ComplexValue sin(const ComplexValue& z);
/// The cosine.
[[nodiscard]] TWILL_CONSTEXPR ComplexValue cos(const ComplexValue& z);
/// The tangent.
[[nodiscard]] TWILL_CONSTEXPR ComplexValue tan(const ComplexValue& z);
/// The hyperbolic sine.
[[nodiscard]] TWILL_CONSTEXPR ComplexValue sinh(const ComplexValue& z);
/// The hyperbolic cosine.
[[nodiscard]] TWILL_CONSTEXPR ComplexValue cosh(const ComplexValue& z);
/// The hyperbolic tangent.
[[nodiscard]] TWILL_CONSTEXPR ComplexValue tanh(const ComplexValue& z);
/// The inverse of sin, cut beyond -1 and 1 on the real axis.
[[nodiscard]] TWILL_CONSTEXPR ComplexValue asin(const ComplexValue& z);
/// The inverse of cos, cut as asin is.
[[nodiscard]] TWILL_CONSTEXPR ComplexValue acos(const ComplexValue& z);
/// The inverse of tan, cut beyond -i and i on the imaginary axis.
[[nodiscard]] TWILL_CONSTEXPR ComplexValue atan(const ComplexValue& z);
/// The inverse of sinh, cut as atan is.
[[nodiscard]] TWILL_CONSTEXPR ComplexValue asinh(const ComplexValue& z);
/// The inverse of cosh, cut below 1 on the real axis.
[[nodiscard]] TWILL_CONSTEXPR ComplexValue acosh(const ComplexValue& z);
/// The inverse of tanh, cut as asin is.
[[nodiscard]] TWILL_CONSTEXPR ComplexValue atanh(const ComplexValue& z);
}}}} // namespace twill::v0::graph::TWILL_ISA

namespace twill { inline namespace v0 { namespace graph { namespace detail { inline namespace TWILL_ISA {

/// i z.
[[nodiscard]] constexpr ComplexValue turned(const ComplexValue& z) { return {-z.im, z.re}; }

// The derivatives, of the operands.
[[nodiscard]] constexpr ComplexValue sqrt_slope(const ComplexValue* z) { return 0.5 / sqrt(*z); }
[[nodiscard]] constexpr ComplexValue exp2_slope(const ComplexValue* z) { return exp2(*z) * std::numbers::ln2; }
[[nodiscard]] constexpr ComplexValue expm1_slope(const ComplexValue* z) { return exp(*z); }
[[nodiscard]] constexpr ComplexValue log1p_slope(const ComplexValue* z) { return 1 / (*z + 1); }
[[nodiscard]] constexpr ComplexValue sin_slope(const ComplexValue* z) { return cos(*z); }
[[nodiscard]] constexpr ComplexValue cos_slope(const ComplexValue* z) { return -sin(*z); }
[[nodiscard]] constexpr ComplexValue tan_slope(const ComplexValue* z) { return 1 + square(tan(*z)); }
[[nodiscard]] constexpr ComplexValue sinh_slope(const ComplexValue* z) { return cosh(*z); }
[[nodiscard]] constexpr ComplexValue cosh_slope(const ComplexValue* z) { return sinh(*z); }
[[nodiscard]] constexpr ComplexValue tanh_slope(const ComplexValue* z) { return 1 - square(tanh(*z)); }
[[nodiscard]] constexpr ComplexValue asin_slope(const ComplexValue* z) { return 1 / (sqrt(1 - *z) * sqrt(1 + *z)); }
[[nodiscard]] constexpr ComplexValue acos_slope(const ComplexValue* z) { return -1 / (sqrt(1 - *z) * sqrt(1 + *z)); }
[[nodiscard]] constexpr ComplexValue atan_slope(const ComplexValue* z) { return 1 / (1 + square(*z)); }
[[nodiscard]] constexpr ComplexValue asinh_slope(const ComplexValue* z) {
  return 1 / (sqrt(1 - turned(*z)) * sqrt(1 + turned(*z)));
}
[[nodiscard]] constexpr ComplexValue acosh_slope(const ComplexValue* z) { return 1 / (sqrt(*z - 1) * sqrt(*z + 1)); }
[[nodiscard]] constexpr ComplexValue atanh_slope(const ComplexValue* z) { return 1 / ((1 - *z) * (1 + *z)); }
[[nodiscard]] constexpr ComplexValue sigmoid_slope(const ComplexValue* z);
[[nodiscard]] constexpr ComplexValue pow_slope(const ComplexValue* z);
[[nodiscard]] constexpr ComplexValue pow_slope_by_exponent(const ComplexValue* z);

/// Whether a complex number is zero.
[[nodiscard]] constexpr Value is_zero(const ComplexValue& z) { return (z.re == 0) & (z.im == 0); }

}}}}} // namespace twill::v0::graph::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace graph { inline namespace TWILL_ISA {

TWILL_CONSTEXPR ComplexValue sqrt(const ComplexValue& z) {
  return detail::complex_function<Primitive::sqrt, &detail::sqrt_slope>(z);
}
TWILL_CONSTEXPR ComplexValue exp2(const ComplexValue& z) {
  return detail::complex_function<Primitive::exp2, &detail::exp2_slope>(z);
}
TWILL_CONSTEXPR ComplexValue expm1(const ComplexValue& z) {
  return detail::complex_function<Primitive::expm1, &detail::expm1_slope>(z);
}
TWILL_CONSTEXPR ComplexValue log1p(const ComplexValue& z) {
  return detail::complex_function<Primitive::log1p, &detail::log1p_slope>(z);
}
TWILL_CONSTEXPR ComplexValue sin(const ComplexValue& z) {
  return detail::complex_function<Primitive::sin, &detail::sin_slope>(z);
}
TWILL_CONSTEXPR ComplexValue cos(const ComplexValue& z) {
  return detail::complex_function<Primitive::cos, &detail::cos_slope>(z);
}
TWILL_CONSTEXPR ComplexValue tan(const ComplexValue& z) {
  return detail::complex_function<Primitive::tan, &detail::tan_slope>(z);
}
TWILL_CONSTEXPR ComplexValue sinh(const ComplexValue& z) {
  return detail::complex_function<Primitive::sinh, &detail::sinh_slope>(z);
}
TWILL_CONSTEXPR ComplexValue cosh(const ComplexValue& z) {
  return detail::complex_function<Primitive::cosh, &detail::cosh_slope>(z);
}
TWILL_CONSTEXPR ComplexValue tanh(const ComplexValue& z) {
  return detail::complex_function<Primitive::tanh, &detail::tanh_slope>(z);
}
TWILL_CONSTEXPR ComplexValue asin(const ComplexValue& z) {
  return detail::complex_function<Primitive::asin, &detail::asin_slope>(z);
}
TWILL_CONSTEXPR ComplexValue acos(const ComplexValue& z) {
  return detail::complex_function<Primitive::acos, &detail::acos_slope>(z);
}
TWILL_CONSTEXPR ComplexValue atan(const ComplexValue& z) {
  return detail::complex_function<Primitive::atan, &detail::atan_slope>(z);
}
TWILL_CONSTEXPR ComplexValue asinh(const ComplexValue& z) {
  return detail::complex_function<Primitive::asinh, &detail::asinh_slope>(z);
}
TWILL_CONSTEXPR ComplexValue acosh(const ComplexValue& z) {
  return detail::complex_function<Primitive::acosh, &detail::acosh_slope>(z);
}
TWILL_CONSTEXPR ComplexValue atanh(const ComplexValue& z) {
  return detail::complex_function<Primitive::atanh, &detail::atanh_slope>(z);
}

/// 1 / sqrt(z).
[[nodiscard]] constexpr ComplexValue rsqrt(const ComplexValue& z) { return 1 / sqrt(z); }
/// The logarithm to base 2.
[[nodiscard]] constexpr ComplexValue log2(const ComplexValue& z) { return log(z) * std::numbers::log2e; }
/// The logarithm to base 10.
[[nodiscard]] constexpr ComplexValue log10(const ComplexValue& z) { return log(z) * std::numbers::log10e; }

/// z / |z|, 0 at 0, where its gradient is 0 as well. PyTorch's `sgn`.
[[nodiscard]] TWILL_CONSTEXPR ComplexValue sign(const ComplexValue& z) {
  const Value is_zero = detail::is_zero(z);
  const Value size = where(is_zero, 1.0, abs(z));
  return {where(is_zero, 0.0, z.re / size), where(is_zero, 0.0, z.im / size)};
}

/// 1 / (1 + exp(-z)), without overflow.
[[nodiscard]] TWILL_CONSTEXPR ComplexValue sigmoid(const ComplexValue& z) {
  const Value is_left = z.re < 0;
  const ComplexValue decay = exp(where(is_left, z, -z));
  const ComplexValue one{where(is_left, decay.re, 1.0), where(is_left, decay.im, 0.0)};
  return detail::with_slope<&detail::sigmoid_slope>(one / (decay + 1), z);
}

/// z^w = exp(w log z): 1 for w = 0, and 0 for z = 0 where the real part of w is positive. Shapes broadcast.
[[nodiscard]] TWILL_CONSTEXPR ComplexValue pow(const ComplexValue& z, const ComplexValue& w,
                                               CallSite site = CallSite::here()) {
  const Extents shape = broadcast_shape(z.graph(), z.shape(), w.shape(), site);
  if (z.graph().fault.any()) return z;
  const DType dtype = promote(z.part_dtype(), w.part_dtype());
  const auto whole = [&](Value part) { return broadcast_to(cast(part, dtype), shape); };
  const ComplexValue a = each_part(z, whole), b = each_part(w, whole);
  const auto y = elementwise::formula::ComplexFormulas<Value>::power_of({a.re, a.im}, {b.re, b.im});
  constexpr auto by_base = &detail::pow_slope;
  constexpr auto by_exponent = &detail::pow_slope_by_exponent;
  return {with_rule(y.re, detail::complex_rule<false, by_base, by_exponent>, {a.re, a.im, b.re, b.im}),
          with_rule(y.im, detail::complex_rule<true, by_base, by_exponent>, {a.re, a.im, b.re, b.im})};
}
/// z^r of a real exponent, a value or a number.
[[nodiscard]] TWILL_CONSTEXPR ComplexValue pow(const ComplexValue& z, Term r, CallSite site = CallSite::here()) {
  const Value exponent = r.is_number ? full_like(z.re, r.number) : r.value;
  return pow(z, complex(exponent, zeros_like(exponent), site), site);
}

/// Whether a part is NaN.
[[nodiscard]] constexpr Value isnan(const ComplexValue& z) { return isnan(z.re) | isnan(z.im); }
/// Whether a part is an infinity.
[[nodiscard]] constexpr Value isinf(const ComplexValue& z) { return isinf(z.re) | isinf(z.im); }
/// Whether both parts are neither infinities nor NaN.
[[nodiscard]] constexpr Value isfinite(const ComplexValue& z) { return isfinite(z.re) & isfinite(z.im); }

/// The mean of |z - mean|^2 over axes, divided by N - correction, which is real.
[[nodiscard]] TWILL_CONSTEXPR Value var(const ComplexValue& z, std::initializer_list<int> axes, double correction = 0,
                                        KeepDims keep = KeepDims::no, CallSite site = CallSite::here()) {
  return var(z.re, axes, correction, keep, site) + var(z.im, axes, correction, keep, site);
}

/// The product over an axis, whose extent the compiler has to know; the axis disappears. 1 of no numbers.
[[nodiscard]] TWILL_CONSTEXPR ComplexValue prod(const ComplexValue& z, int axis, CallSite site = CallSite::here()) {
  std::int64_t rest = z.size(axis, site);
  if (z.graph().fault.any()) return z;
  if (rest == 0) return {prod(z.re, {axis}), sum(z.im, {axis})};
  ComplexValue y = z;
  while (rest > 1) { // both halves are multiplied
    const std::int64_t half = rest / 2;
    const ComplexValue products = narrow(y, axis, 0, half, site) * narrow(y, axis, half, half, site);
    y = rest % 2 == 0 ? products : concatenate({products, narrow(y, axis, rest - 1, 1, site)}, axis, site);
    rest -= half;
  }
  return select(y, axis, 0, site);
}
/// The product of the numbers up to and including each one along an axis, whose extent the compiler has to know.
[[nodiscard]] TWILL_CONSTEXPR ComplexValue cumprod(const ComplexValue& z, int axis, CallSite site = CallSite::here()) {
  const std::int64_t extent = z.size(axis, site);
  if (z.graph().fault.any()) return z;
  ComplexValue y = z;
  for (std::int64_t step = 1; step < extent; step *= 2) // each is the product of the last 2 step numbers
    y = concatenate({narrow(y, axis, 0, step, site),
                     narrow(y, axis, step, extent - step, site) * narrow(y, axis, 0, extent - step, site)},
                    axis, site);
  return y;
}

}}}} // namespace twill::v0::graph::TWILL_ISA

namespace twill { inline namespace v0 { namespace graph { namespace detail { inline namespace TWILL_ISA {

constexpr ComplexValue sigmoid_slope(const ComplexValue* z) { return sigmoid(*z) * sigmoid(-*z); }

/// w z^(w - 1), 0 for w = 0.
constexpr ComplexValue pow_slope(const ComplexValue* z) {
  const Value is_constant = is_zero(z[1]);
  const ComplexValue slope = z[1] * pow(z[0], z[1] - 1);
  return {where(is_constant, 0.0, slope.re), where(is_constant, 0.0, slope.im)};
}
/// z^w log z, 0 for z = 0.
constexpr ComplexValue pow_slope_by_exponent(const ComplexValue* z) {
  const Value is_nothing = is_zero(z[0]);
  const ComplexValue base{where(is_nothing, 1.0, z[0].re), z[0].im};
  const ComplexValue slope = pow(z[0], z[1]) * log(base);
  return {where(is_nothing, 0.0, slope.re), where(is_nothing, 0.0, slope.im)};
}

}}}}} // namespace twill::v0::graph::detail::TWILL_ISA
