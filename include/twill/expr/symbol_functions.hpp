#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// The operators and functions of symbols: the names that tensors and traced values have, so that one generic function serves
// all three. Functions that are formulas stand in kernel/formulas.hpp. Read next: expr/activations.hpp.

#include <twill/core/config.hpp>
#include <twill/core/dtype.hpp>
#include <twill/expr/symbol.hpp>
#include <twill/kernel/formulas.hpp>

namespace twill::inline v0::expr::inline TWILL_ISA {

// clang-format off
[[nodiscard]] constexpr Symbol operator+(Term a, Term b) { return apply(Primitive::add, a, b); }
[[nodiscard]] constexpr Symbol operator-(Term a, Term b) { return apply(Primitive::subtract, a, b); }
[[nodiscard]] constexpr Symbol operator*(Term a, Term b) { return apply(Primitive::multiply, a, b); }
[[nodiscard]] constexpr Symbol operator/(Term a, Term b) { return apply(Primitive::divide, a, b); }
[[nodiscard]] constexpr Symbol operator%(Term a, Term b) { return apply(Primitive::remainder, a, b); }
[[nodiscard]] constexpr Symbol operator&(Term a, Term b) { return apply(Primitive::bitwise_and, a, b); }
[[nodiscard]] constexpr Symbol operator|(Term a, Term b) { return apply(Primitive::bitwise_or, a, b); }
[[nodiscard]] constexpr Symbol operator^(Term a, Term b) { return apply(Primitive::bitwise_xor, a, b); }
[[nodiscard]] constexpr Symbol operator<<(Term a, Term b) { return apply(Primitive::left_shift, a, b); }
[[nodiscard]] constexpr Symbol operator>>(Term a, Term b) { return apply(Primitive::right_shift, a, b); }
[[nodiscard]] constexpr Symbol operator==(Term a, Term b) { return apply(Primitive::equal, a, b); }
[[nodiscard]] constexpr Symbol operator!=(Term a, Term b) { return apply(Primitive::not_equal, a, b); }
[[nodiscard]] constexpr Symbol operator<(Term a, Term b) { return apply(Primitive::less, a, b); }
[[nodiscard]] constexpr Symbol operator<=(Term a, Term b) { return apply(Primitive::less_equal, a, b); }
[[nodiscard]] constexpr Symbol operator>(Term a, Term b) { return apply(Primitive::greater, a, b); }
[[nodiscard]] constexpr Symbol operator>=(Term a, Term b) { return apply(Primitive::greater_equal, a, b); }
[[nodiscard]] constexpr Symbol operator-(Symbol x) { return apply(Primitive::negate, x); }
[[nodiscard]] constexpr Symbol operator!(Symbol x) { return apply(Primitive::logical_not, x); }
[[nodiscard]] constexpr Symbol operator~(Symbol x) { return apply(Primitive::invert, x); }
[[nodiscard]] constexpr Symbol operator+(Symbol x) { return x; }

[[nodiscard]] constexpr Symbol abs(Symbol x) { return apply(Primitive::abs, x); }
[[nodiscard]] constexpr Symbol sign(Symbol x) { return apply(Primitive::sign, x); }
[[nodiscard]] constexpr Symbol square(Symbol x) { return apply(Primitive::square, x); }
[[nodiscard]] constexpr Symbol sqrt(Symbol x) { return apply(Primitive::sqrt, x); }
[[nodiscard]] constexpr Symbol rsqrt(Symbol x) { return apply(Primitive::rsqrt, x); }
[[nodiscard]] constexpr Symbol reciprocal(Symbol x) { return apply(Primitive::reciprocal, x); }
[[nodiscard]] constexpr Symbol floor(Symbol x) { return apply(Primitive::floor, x); }
[[nodiscard]] constexpr Symbol ceil(Symbol x) { return apply(Primitive::ceil, x); }
[[nodiscard]] constexpr Symbol round(Symbol x) { return apply(Primitive::round, x); }
[[nodiscard]] constexpr Symbol trunc(Symbol x) { return apply(Primitive::trunc, x); }
[[nodiscard]] constexpr Symbol exp(Symbol x) { return apply(Primitive::exp, x); }
[[nodiscard]] constexpr Symbol expm1(Symbol x) { return apply(Primitive::expm1, x); }
[[nodiscard]] constexpr Symbol exp2(Symbol x) { return apply(Primitive::exp2, x); }
[[nodiscard]] constexpr Symbol log(Symbol x) { return apply(Primitive::log, x); }
[[nodiscard]] constexpr Symbol log1p(Symbol x) { return apply(Primitive::log1p, x); }
[[nodiscard]] constexpr Symbol log2(Symbol x) { return apply(Primitive::log2, x); }
[[nodiscard]] constexpr Symbol log10(Symbol x) { return apply(Primitive::log10, x); }
[[nodiscard]] constexpr Symbol cbrt(Symbol x) { return apply(Primitive::cbrt, x); }
[[nodiscard]] constexpr Symbol sin(Symbol x) { return apply(Primitive::sin, x); }
[[nodiscard]] constexpr Symbol cos(Symbol x) { return apply(Primitive::cos, x); }
[[nodiscard]] constexpr Symbol tan(Symbol x) { return apply(Primitive::tan, x); }
[[nodiscard]] constexpr Symbol asin(Symbol x) { return apply(Primitive::asin, x); }
[[nodiscard]] constexpr Symbol acos(Symbol x) { return apply(Primitive::acos, x); }
[[nodiscard]] constexpr Symbol atan(Symbol x) { return apply(Primitive::atan, x); }
[[nodiscard]] constexpr Symbol sinh(Symbol x) { return apply(Primitive::sinh, x); }
[[nodiscard]] constexpr Symbol cosh(Symbol x) { return apply(Primitive::cosh, x); }
[[nodiscard]] constexpr Symbol tanh(Symbol x) { return apply(Primitive::tanh, x); }
[[nodiscard]] constexpr Symbol asinh(Symbol x) { return apply(Primitive::asinh, x); }
[[nodiscard]] constexpr Symbol acosh(Symbol x) { return apply(Primitive::acosh, x); }
[[nodiscard]] constexpr Symbol atanh(Symbol x) { return apply(Primitive::atanh, x); }
[[nodiscard]] constexpr Symbol erf(Symbol x) { return apply(Primitive::erf, x); }
[[nodiscard]] constexpr Symbol erfc(Symbol x) { return apply(Primitive::erfc, x); }
[[nodiscard]] constexpr Symbol lgamma(Symbol x) { return apply(Primitive::lgamma, x); }
[[nodiscard]] constexpr Symbol digamma(Symbol x) { return apply(Primitive::digamma, x); }
[[nodiscard]] constexpr Symbol tanh_accurate(Symbol x) { return apply(Primitive::tanh_accurate, x); }
[[nodiscard]] constexpr Symbol erf_accurate(Symbol x) { return apply(Primitive::erf_accurate, x); }
[[nodiscard]] constexpr Symbol logical_not(Symbol x) { return apply(Primitive::logical_not, x); }
[[nodiscard]] constexpr Symbol isnan(Symbol x) { return apply(Primitive::isnan, x); }
[[nodiscard]] constexpr Symbol isinf(Symbol x) { return apply(Primitive::isinf, x); }
[[nodiscard]] constexpr Symbol isfinite(Symbol x) { return apply(Primitive::isfinite, x); }
[[nodiscard]] constexpr Symbol invert(Symbol x) { return apply(Primitive::invert, x); }
[[nodiscard]] constexpr Symbol negative(Symbol x) { return apply(Primitive::negate, x); }
[[nodiscard]] constexpr Symbol absolute(Symbol x) { return apply(Primitive::abs, x); }
[[nodiscard]] constexpr Symbol rint(Symbol x) { return apply(Primitive::round, x); }
[[nodiscard]] constexpr Symbol fix(Symbol x) { return apply(Primitive::trunc, x); }
[[nodiscard]] constexpr Symbol arcsin(Symbol x) { return apply(Primitive::asin, x); }
[[nodiscard]] constexpr Symbol arccos(Symbol x) { return apply(Primitive::acos, x); }
[[nodiscard]] constexpr Symbol arctan(Symbol x) { return apply(Primitive::atan, x); }
[[nodiscard]] constexpr Symbol arcsinh(Symbol x) { return apply(Primitive::asinh, x); }
[[nodiscard]] constexpr Symbol arccosh(Symbol x) { return apply(Primitive::acosh, x); }
[[nodiscard]] constexpr Symbol arctanh(Symbol x) { return apply(Primitive::atanh, x); }
[[nodiscard]] constexpr Symbol bitwise_not(Symbol x) { return apply(Primitive::invert, x); }
[[nodiscard]] constexpr Symbol positive(Symbol x) { return x; }
[[nodiscard]] constexpr Symbol fabs(Symbol x) { return abs(x.to(floating_type(x.type()))); }

[[nodiscard]] constexpr Symbol add(Term a, Term b) { return apply(Primitive::add, a, b); }
[[nodiscard]] constexpr Symbol subtract(Term a, Term b) { return apply(Primitive::subtract, a, b); }
[[nodiscard]] constexpr Symbol multiply(Term a, Term b) { return apply(Primitive::multiply, a, b); }
[[nodiscard]] constexpr Symbol divide(Term a, Term b) { return apply(Primitive::divide, a, b); }
[[nodiscard]] constexpr Symbol floor_divide(Term a, Term b) { return apply(Primitive::floor_divide, a, b); }
[[nodiscard]] constexpr Symbol remainder(Term a, Term b) { return apply(Primitive::remainder, a, b); }
[[nodiscard]] constexpr Symbol fmod(Term a, Term b) { return apply(Primitive::fmod, a, b); }
[[nodiscard]] constexpr Symbol power(Term a, Term b) { return apply(Primitive::power, a, b); }
[[nodiscard]] constexpr Symbol maximum(Term a, Term b) { return apply(Primitive::maximum, a, b); }
[[nodiscard]] constexpr Symbol minimum(Term a, Term b) { return apply(Primitive::minimum, a, b); }
[[nodiscard]] constexpr Symbol atan2(Term a, Term b) { return apply(Primitive::atan2, a, b); }
[[nodiscard]] constexpr Symbol hypot(Term a, Term b) { return apply(Primitive::hypot, a, b); }
[[nodiscard]] constexpr Symbol copysign(Term a, Term b) { return apply(Primitive::copysign, a, b); }
[[nodiscard]] constexpr Symbol ldexp(Term a, Term b) { return apply(Primitive::ldexp, a, b); }
[[nodiscard]] constexpr Symbol polygamma(Term a, Term b) { return apply(Primitive::polygamma, a, b); }
[[nodiscard]] constexpr Symbol nextafter(Term a, Term b) { return apply(Primitive::nextafter, a, b); }
[[nodiscard]] constexpr Symbol equal(Term a, Term b) { return apply(Primitive::equal, a, b); }
[[nodiscard]] constexpr Symbol not_equal(Term a, Term b) { return apply(Primitive::not_equal, a, b); }
[[nodiscard]] constexpr Symbol less(Term a, Term b) { return apply(Primitive::less, a, b); }
[[nodiscard]] constexpr Symbol less_equal(Term a, Term b) { return apply(Primitive::less_equal, a, b); }
[[nodiscard]] constexpr Symbol greater(Term a, Term b) { return apply(Primitive::greater, a, b); }
[[nodiscard]] constexpr Symbol greater_equal(Term a, Term b) { return apply(Primitive::greater_equal, a, b); }
[[nodiscard]] constexpr Symbol logical_and(Term a, Term b) { return apply(Primitive::logical_and, a, b); }
[[nodiscard]] constexpr Symbol logical_or(Term a, Term b) { return apply(Primitive::logical_or, a, b); }
[[nodiscard]] constexpr Symbol logical_xor(Term a, Term b) { return apply(Primitive::logical_xor, a, b); }
[[nodiscard]] constexpr Symbol bitwise_and(Term a, Term b) { return apply(Primitive::bitwise_and, a, b); }
[[nodiscard]] constexpr Symbol bitwise_or(Term a, Term b) { return apply(Primitive::bitwise_or, a, b); }
[[nodiscard]] constexpr Symbol bitwise_xor(Term a, Term b) { return apply(Primitive::bitwise_xor, a, b); }
[[nodiscard]] constexpr Symbol left_shift(Term a, Term b) { return apply(Primitive::left_shift, a, b); }
[[nodiscard]] constexpr Symbol right_shift(Term a, Term b) { return apply(Primitive::right_shift, a, b); }
[[nodiscard]] constexpr Symbol gcd(Term a, Term b) { return apply(Primitive::gcd, a, b); }
[[nodiscard]] constexpr Symbol true_divide(Term a, Term b) { return apply(Primitive::divide, a, b); }
[[nodiscard]] constexpr Symbol mod(Term a, Term b) { return apply(Primitive::remainder, a, b); }
[[nodiscard]] constexpr Symbol arctan2(Term a, Term b) { return apply(Primitive::atan2, a, b); }

[[nodiscard]] constexpr Symbol signbit(Symbol x) { return formula::Signbit{}(x); }
[[nodiscard]] constexpr Symbol isposinf(Symbol x) { return formula::Isposinf{}(x); }
[[nodiscard]] constexpr Symbol isneginf(Symbol x) { return formula::Isneginf{}(x); }
[[nodiscard]] constexpr Symbol deg2rad(Symbol x) { return formula::Deg2rad{}(x); }
[[nodiscard]] constexpr Symbol radians(Symbol x) { return formula::Deg2rad{}(x); }
[[nodiscard]] constexpr Symbol rad2deg(Symbol x) { return formula::Rad2deg{}(x); }
[[nodiscard]] constexpr Symbol degrees(Symbol x) { return formula::Rad2deg{}(x); }
[[nodiscard]] constexpr Symbol sinc(Symbol x) { return formula::Sinc{}(x); }
[[nodiscard]] constexpr Symbol spacing(Symbol x) { return formula::Spacing{}(x); }
[[nodiscard]] constexpr Symbol gelu_accurate(Symbol x) { return formula::GeluAccurate{}(x); }
[[nodiscard]] constexpr Symbol heaviside(Term a, Term b) { return formula::Heaviside{}(a.beside(b), b.beside(a)); }
[[nodiscard]] constexpr Symbol fmax(Term a, Term b) { return formula::Fmax{}(a.beside(b), b.beside(a)); }
[[nodiscard]] constexpr Symbol fmin(Term a, Term b) { return formula::Fmin{}(a.beside(b), b.beside(a)); }
[[nodiscard]] constexpr Symbol lcm(Term a, Term b) { return formula::Lcm{}(a.beside(b), b.beside(a)); }
[[nodiscard]] constexpr Symbol logaddexp(Term a, Term b) { return formula::Logaddexp{}(a.beside(b), b.beside(a)); }
[[nodiscard]] constexpr Symbol logaddexp2(Term a, Term b) { return formula::Logaddexp2{}(a.beside(b), b.beside(a)); }
[[nodiscard]] constexpr Symbol xlogy(Term a, Term b) { return formula::Xlogy{}(a.beside(b), b.beside(a)); }
[[nodiscard]] constexpr Symbol float_power(Term a, Term b) { return power(a.beside(b).to(DType::float64), b.beside(a).to(DType::float64)); }
[[nodiscard]] constexpr Symbol clamp(Symbol x, Term low, Term high) { return minimum(maximum(x, low), high); }
[[nodiscard]] constexpr Symbol clip(Symbol x, Term low, Term high) { return clamp(x, low, high); }
[[nodiscard]] constexpr Symbol clamp_min(Symbol x, Term low) { return maximum(x, low); }
[[nodiscard]] constexpr Symbol clamp_max(Symbol x, Term high) { return minimum(x, high); }
[[nodiscard]] constexpr Symbol lerp(Symbol start, Symbol end, Term weight) { return formula::Lerp{}(start, end, weight.beside(start)); }
// clang-format on

/// Converts as static_cast does; to bool: different from zero.
template <Scalar T> [[nodiscard]] constexpr Symbol cast(Symbol x) { return x.to(dtype_of<T>); }

} // namespace twill::inline v0::expr::inline TWILL_ISA
