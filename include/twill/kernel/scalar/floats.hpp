#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Scalar functions of real numbers: libm's, those that libm lacks, and Python's remainder and floor division with
// NumPy's results. Read next: kernel/scalar/gamma.hpp.

#include <twill/core/config.hpp>
#include <twill/kernel/primitive.hpp>
#include <twill/kernel/scalar/bessel.hpp>
#include <twill/kernel/scalar/gamma.hpp>
#include <twill/kernel/scalar/incomplete_beta.hpp>
#include <twill/kernel/scalar/incomplete_gamma.hpp>
#include <twill/kernel/scalar/quantile.hpp>

#include <cmath>
#include <concepts>
#include <type_traits>

namespace twill { inline namespace v0 { namespace kernel { namespace detail {

/// A product that compilers do not contract with a later sum: on hosts by -ffp-contract, in device code by the call.
template <std::floating_point T> constexpr T product_of_floats(T a, T b) {
#if TWILL_DEVICE_CODE
  if (!std::is_constant_evaluated()) {
    if constexpr (sizeof(T) == sizeof(float))
      return __fmul_rn(a, b);
    else
      return __dmul_rn(a, b);
  }
#endif
  return a * b;
}

/// Python's remainder: the sign of the divisor.
template <std::floating_point T> constexpr T remainder_floats(T a, T b) {
  T rest = std::fmod(a, b);
  if (rest == 0) return std::copysign(T{0}, b);
  if ((rest < 0) != (b < 0)) rest += b;
  return rest;
}

template <std::floating_point T> constexpr T floor_divide_floats(T a, T b) {
  if (b == 0) return a / b;
  T rest = std::fmod(a, b);
  T quotient = (a - rest) / b;
  if (rest != 0 && ((rest < 0) != (b < 0))) quotient -= 1;
  if (quotient == 0) return std::copysign(T{0}, a / b);
  T result = std::floor(quotient);
  if (quotient - result > T{0.5}) result += 1;
  return result;
}

/// The exponent e of x = m 2^e with m in [0.5, 1); 0 where there is none.
template <std::floating_point T> constexpr T binary_exponent(T a) {
  if (a == 0 || !(a - a == 0)) return 0;
  return std::logb(a) + 1;
}

/// a 2^n for a whole n; intermediate overflow does not affect the result.
template <std::floating_point T> constexpr T scale_by_power(T a, T n) {
  if (n != n) return n;
  return std::ldexp(a, static_cast<int>(n > T{5000} ? T{5000} : n < T{-5000} ? T{-5000} : n));
}

template <Primitive P, std::floating_point T> constexpr T apply_floating(T a) {
  using enum Primitive;
  if constexpr (P == negate)
    return -a;
  else if constexpr (P == abs)
    return std::fabs(a);
  else if constexpr (P == sign)
    return a > 0 ? T{1} : a < 0 ? T{-1} : a == 0 ? T{0} : a;
  else if constexpr (P == square)
    return product_of_floats(a, a);
  else if constexpr (P == sqrt)
    return std::sqrt(a);
  else if constexpr (P == rsqrt)
    return T{1} / std::sqrt(a);
  else if constexpr (P == reciprocal)
    return T{1} / a;
  else if constexpr (P == floor)
    return std::floor(a);
  else if constexpr (P == ceil)
    return std::ceil(a);
  else if constexpr (P == round)
    return std::nearbyint(a);
  else if constexpr (P == trunc)
    return std::trunc(a);
  else if constexpr (P == exp)
    return std::exp(a);
  else if constexpr (P == expm1)
    return std::expm1(a);
  else if constexpr (P == log)
    return std::log(a);
  else if constexpr (P == exp2)
    return std::exp2(a);
  else if constexpr (P == log1p)
    return std::log1p(a);
  else if constexpr (P == log2)
    return std::log2(a);
  else if constexpr (P == log10)
    return std::log10(a);
  else if constexpr (P == cbrt)
    return std::cbrt(a);
  else if constexpr (P == sin)
    return std::sin(a);
  else if constexpr (P == cos)
    return std::cos(a);
  else if constexpr (P == tan)
    return std::tan(a);
  else if constexpr (P == asin)
    return std::asin(a);
  else if constexpr (P == acos)
    return std::acos(a);
  else if constexpr (P == atan)
    return std::atan(a);
  else if constexpr (P == sinh)
    return std::sinh(a);
  else if constexpr (P == cosh)
    return std::cosh(a);
  else if constexpr (P == tanh || P == tanh_accurate)
    return std::tanh(a);
  else if constexpr (P == asinh)
    return std::asinh(a);
  else if constexpr (P == acosh)
    return std::acosh(a);
  else if constexpr (P == atanh)
    return std::atanh(a);
  else if constexpr (P == erfc)
    return std::erfc(a);
  else if constexpr (P == lgamma)
    return log_gamma(a);
  else if constexpr (P == digamma)
    return static_cast<T>(polygamma_of(0, static_cast<double>(a)));
  else if constexpr (P == erfinv)
    return static_cast<T>(erfinv_of(static_cast<double>(a)));
  else if constexpr (P == ndtri)
    return static_cast<T>(ndtri_of(static_cast<double>(a)));
  else if constexpr (P == i0 || P == i1)
    return static_cast<T>(bessel_i(P == i0 ? 0 : 1, static_cast<double>(a)));
  else if constexpr (P == i0e || P == i1e)
    return static_cast<T>(scaled_bessel_i(P == i0e ? 0 : 1, static_cast<double>(a)));
  else if constexpr (P == bessel_j0 || P == bessel_j1)
    return static_cast<T>(bessel_j(P == bessel_j0 ? 0 : 1, static_cast<double>(a)));
  else if constexpr (P == frexp_exponent)
    return binary_exponent(a);
  else {
    static_assert(P == erf || P == erf_accurate, "twill: this primitive takes integers; cast first");
    return std::erf(a);
  }
}

template <Primitive P, std::floating_point T> constexpr T apply_floating(T a, T b) {
  using enum Primitive;
  if constexpr (P == add)
    return a + b;
  else if constexpr (P == subtract)
    return a - b;
  else if constexpr (P == multiply)
    return product_of_floats(a, b);
  else if constexpr (P == divide)
    return a / b;
  else if constexpr (P == floor_divide)
    return floor_divide_floats(a, b);
  else if constexpr (P == remainder)
    return remainder_floats(a, b);
  else if constexpr (P == fmod)
    return std::fmod(a, b);
  else if constexpr (P == power)
    return std::pow(a, b);
  else if constexpr (P == hypot)
    return std::hypot(a, b);
  else if constexpr (P == copysign)
    return std::copysign(a, b);
  else if constexpr (P == nextafter)
    return std::nextafter(a, b);
  else if constexpr (P == ldexp)
    return scale_by_power(a, b);
  else if constexpr (P == polygamma)
    return static_cast<T>(polygamma_of(static_cast<double>(a), static_cast<double>(b)));
  else if constexpr (P == gammainc || P == gammaincc)
    return static_cast<T>(incomplete_gamma(static_cast<double>(a), static_cast<double>(b), P == gammaincc));
  else {
    static_assert(P == atan2, "twill: this primitive takes integers");
    return std::atan2(a, b);
  }
}

template <Primitive P, std::floating_point T> constexpr T apply_floating(T a, T b, T c) {
  static_assert(P == Primitive::betainc);
  return static_cast<T>(incomplete_beta(static_cast<double>(a), static_cast<double>(b), static_cast<double>(c)));
}

}}}} // namespace twill::v0::kernel::detail
