#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Logarithm of the gamma function and its derivatives, the polygamma functions: digamma by recurrence and its
// asymptotic series (Abramowitz and Stegun 6.3), the higher ones by the Hurwitz zeta function (Euler and Maclaurin's
// formula), left of zero by reflection. Scalars only, in double. Read next: kernel/apply.hpp.

#include <twill/core/config.hpp>

#include <cmath>
#include <concepts>
#include <limits>

namespace twill { inline namespace v0 { namespace kernel { namespace detail {

/// libm's lgamma writes a global variable, which threads would share.
template <std::floating_point T> constexpr T log_gamma(T x) {
#if defined(__GLIBC__) && !TWILL_DEVICE_CODE
  int sign = 0;
  if constexpr (sizeof(T) == sizeof(float))
    return ::lgammaf_r(x, &sign);
  else
    return ::lgamma_r(x, &sign);
#else
  return std::lgamma(x);
#endif
}

/// Bernoulli numbers B(2k), k = 1, 2, ...
inline constexpr double bernoulli[] = {1.0 / 6,  -1.0 / 30,       1.0 / 42, -1.0 / 30,
                                       5.0 / 66, -691.0 / 2730.0, 7.0 / 6,  -3617.0 / 510};

constexpr double digamma_of(double x) {
  constexpr double pi = 3.141592653589793238462643383279503;
  if (x == 0) return std::copysign(std::numeric_limits<double>::infinity(), -x);
  double result = 0;
  if (x < 0) {
    const double beside = x - std::nearbyint(x);
    if (!(beside != 0)) return std::numeric_limits<double>::quiet_NaN();
    result = -pi / std::tan(pi * beside);
    x = 1 - x;
  }
  while (x < 10) {
    result -= 1 / x;
    x += 1;
  }
  // log x - 1 / 2x - sum of B(2k) / (2k x^2k)
  const double t = 1 / (x * x);
  double series = 0;
  for (int k = 8; k > 0; --k) series = (series + bernoulli[k - 1] / (2 * k)) * t;
  return result + std::log(x) - 0.5 / x - series;
}

/// The sum of (x + k)^-s over k >= 0. requires: x > 0, whole s >= 2
constexpr double hurwitz_zeta(double s, double x) {
  double sum = 0;
  while (x < 12) {
    sum += std::pow(x, -s);
    x += 1;
  }
  // the integral, half the first term, and the corrections B(2k) / (2k)! s (s + 1) ... (s + 2k - 2) x^-(s + 2k - 1)
  const double first = std::pow(x, -s);
  sum += first * x / (s - 1) + first / 2;
  double factor = first * s / x;
  double factorial = 2;
  for (int k = 1; k <= 8; ++k) {
    sum += bernoulli[k - 1] / factorial * factor;
    factor *= (s + 2 * k - 1) * (s + 2 * k) / (x * x);
    factorial *= (2 * k + 1) * (2 * k + 2);
  }
  return sum;
}

/// The derivative of order n + 1 of the logarithm of the gamma function, for a whole n >= 0.
constexpr double polygamma_of(double n, double x) {
  if (!(x - x == 0) || !(n >= 0) || n != std::floor(n)) {
    if (x != x || !(n >= 0) || n != std::floor(n) || x < 0) return std::numeric_limits<double>::quiet_NaN();
    return n == 0 ? x : 0;
  }
  if (n == 0) return digamma_of(x);
  const double s = n + 1;
  const double parity = std::fmod(n, 2) == 0 ? -1 : 1; // (-1)^(n + 1)
  double zeta = 0;
  if (x > 0) {
    zeta = hurwitz_zeta(s, x);
  } else if (x == std::floor(x)) {
    return std::numeric_limits<double>::infinity();
  } else {
    // the sum over all whole numbers, minus the part left of x
    const double fraction = x - std::floor(x);
    zeta = hurwitz_zeta(s, fraction) + parity * (hurwitz_zeta(s, 1 - fraction) - hurwitz_zeta(s, 1 - x));
  }
  return parity * std::tgamma(s) * zeta;
}

}}}} // namespace twill::v0::kernel::detail
