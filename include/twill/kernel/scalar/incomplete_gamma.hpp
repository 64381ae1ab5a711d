#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Regularised incomplete gamma functions of two numbers in double: the power series left of the transition at x = a,
// the continued fraction right of it, as a sum (Gautschi, "A computational procedure for incomplete gamma functions",
// 1979), and for small a and x a series of the upper function, which is no difference from 1. Read next:
// kernel/apply.hpp.

#include <twill/core/config.hpp>
#include <twill/kernel/scalar/gamma.hpp>

#include <cmath>
#include <limits>

namespace twill { inline namespace v0 { namespace kernel { namespace detail {

/// log(x / a) - (x - a) / a, without cancellation near x = a.
constexpr double log_ratio_minus(double x, double a) {
  const double t = (x - a) / a;
  if (std::fabs(t) > 0.3) return std::log(x / a) - t;
  double power = -t * t, sum = 0;
  for (int k = 2; std::fabs(power) > 1e-17 * std::fabs(sum) * k && k < 60; ++k) {
    sum += power / k;
    power *= -t;
  }
  return sum;
}

/// log gamma(1 + a), with a small relative error for small a. requires: a >= 0
constexpr double log_gamma_beside_one(double a) {
  if (a > 0.5) return log_gamma(a + 1);
  // -log(1 + a) + a (1 - Euler's constant) + sum over n >= 2 of (-a)^n (zeta(n) - 1) / n (Abramowitz and Stegun 6.1.33)
  constexpr double coefficients[] = {
      3.224670334241132182e-1,  6.735230105319809513e-2, 2.058080842778454788e-2, 7.385551028673985266e-3,
      2.890510330741523286e-3,  1.192753911703260977e-3, 5.096695247430424223e-4, 2.231547584535793798e-4,
      9.945751278180853371e-5,  4.49262367381331417e-5,  2.050721277567069155e-5, 9.439488275268395904e-6,
      4.374866789907487804e-6,  2.039215753801366237e-6, 9.551412130407419833e-7, 4.492469198764566043e-7,
      2.120718480555466587e-7,  1.004322482396809961e-7, 4.769810169363980566e-8, 2.271109460894316491e-8,
      1.083865921489695409e-8,  5.183475041970046655e-9, 2.483674543802478317e-9, 1.192140140586091207e-9,
      5.731367241678862013e-10, 2.759522885124233145e-10};
  double series = 0;
  for (int i = 25; i >= 0; --i) series = coefficients[i] - a * series;
  return a * a * series + (a * 0.4227843350984671393934879099175976 - std::log1p(a));
}

/// x^a exp(-x) / gamma(a + 1). Powers and exponential functions stay apart where they can be represented, since the sum
/// of their logarithms would have an error as large as they are.
constexpr double gamma_prefactor(double a, double x) {
  constexpr double stirling_from = 10, two_pi = 6.283185307179586476925286766559006, largest_exponent = 600;
  if (a < stirling_from)
    return x < largest_exponent ? std::pow(x, a) * std::exp(-x) / std::tgamma(a + 1)
                                : std::exp(a * std::log(x) - x - log_gamma(a + 1));
  // (x / a)^a exp(a - x) / sqrt(2 pi a), and what the rounding of x / a and of a - x left
  const double rest = stirling_rest(a), root = std::sqrt(two_pi * a);
  const double distance = a - x;
  const double quotient = x / a, power = std::pow(quotient, a);
  if (std::fabs(distance) < largest_exponent && power > 1e-290) {
    const double of_distance = distance >= 0 ? (a - distance) - x : a - (distance + x);
    const double of_quotient = std::fma(-quotient, a, x) / quotient;
    return power * std::exp(distance) * std::exp(of_quotient + of_distance - rest) / root;
  }
  const double t = -distance / a;
  if (std::fabs(t) > 0.3) return std::exp(a * log_ratio_minus(x, a) - rest) / root;
  // a log(x / a) - (x - a) = -(x - a)^2 / 2a + a (t^3 / 3 - t^4 / 4 + ...)
  const double square = distance * distance, first = square / (2 * a);
  const double of_first = (std::fma(distance, distance, -square) - std::fma(first, 2 * a, -square)) / (2 * a);
  double term = t * t * t, sum = 0;
  for (int k = 3; std::fabs(term) > 1e-18 * std::fabs(sum) * k && k < 60; ++k) {
    sum += term / k;
    term *= -t;
  }
  return std::exp(-first) * std::exp(a * sum - of_first - rest) / root;
}

/// Q(a, x) = 1 - x^a / gamma(a + 1) - x^a / gamma(a) sum over k >= 1 of (-x)^k / (k! (a + k)) (DLMF 8.7.3), for x < 1.
constexpr double small_upper_gamma(double a, double x) {
  if (x == 0) return 1;
  double sum = 0, term = 1;
  for (int k = 1; k < 30 && std::fabs(term) > 1e-18 * std::fabs(sum); ++k) {
    term *= -x / k;
    sum += term / (a + k);
  }
  const double above_one = std::expm1(a * std::log(x) - log_gamma_beside_one(a));
  return -above_one - a * (1 + above_one) * sum;
}

/// The lower function P(a, x), or the upper one, Q(a, x) = 1 - P(a, x). NaN for negative a or x, and for a = x = 0.
constexpr double incomplete_gamma(double a, double x, bool upper) {
  if (!(a >= 0) || !(x >= 0) || (a == 0 && x == 0)) return std::numeric_limits<double>::quiet_NaN();
  const double infinite = std::numeric_limits<double>::infinity();
  if (x == 0 || a == infinite)
    return (a == infinite && x == infinite) ? std::numeric_limits<double>::quiet_NaN() : upper ? 1 : 0;
  if (a == 0 || x == infinite) return upper ? 0 : 1;
  constexpr double precision = 1e-17, small = 1;
  const double prefactor = gamma_prefactor(a, x);
  if (x < a || x < small) { // P = prefactor (1 + x / (a + 1) + x^2 / ((a + 1)(a + 2)) + ...)
    double sum = 1, term = 1;
    for (double k = a + 1; term > precision * sum; ++k) sum += term *= x / k;
    const double lower = prefactor * sum;
    if (!upper) return lower;
    return x < small && lower > 0.5 ? small_upper_gamma(a, x) : 1 - lower;
  }
  // Q = prefactor a / (x + 1 - a - 1 (1 - a) / (x + 3 - a - ...)): d is the reciprocal of a denominator without what
  // comes after it, and the terms are the differences of two convergents
  double b = x + 1 - a, d = 1 / b, term = d, sum = d;
  for (int k = 1; k < 10'000'000 && std::fabs(term) > precision * sum; ++k) {
    const double numerator = k * (k - a);
    b += 2;
    const double next = 1 / (b - numerator * d);
    term *= numerator * d * next;
    d = next;
    sum += term;
  }
  const double beyond = prefactor * a * sum;
  return upper ? beyond : 1 - beyond;
}

}}}} // namespace twill::v0::kernel::detail
