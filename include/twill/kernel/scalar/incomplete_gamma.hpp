#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Regularised incomplete gamma functions of two numbers in double: the power series left of the transition at x = a,
// the continued fraction right of it (Gautschi, "A computational procedure for incomplete gamma functions", 1979).
// Read next: kernel/apply.hpp.

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

/// x^a exp(-x) / gamma(a + 1), without the cancellation of its logarithm where a is large.
constexpr double gamma_prefactor(double a, double x) {
  constexpr double stirling_from = 10, two_pi = 6.283185307179586476925286766559006;
  if (a < stirling_from) return std::exp(a * std::log(x) - x - log_gamma(a + 1));
  const double square = 1 / (a * a);
  const double rest =
      (1.0 / 12 - square * (1.0 / 360 - square * (1.0 / 1260 - square * (1.0 / 1680 - square / 1188)))) / a;
  return std::exp(a * log_ratio_minus(x, a) - rest) / std::sqrt(two_pi * a);
}

/// The lower function P(a, x), or the upper one, Q(a, x) = 1 - P(a, x). NaN for negative a or x, and for a = x = 0.
constexpr double incomplete_gamma(double a, double x, bool upper) {
  if (!(a >= 0) || !(x >= 0) || (a == 0 && x == 0)) return std::numeric_limits<double>::quiet_NaN();
  const double infinite = std::numeric_limits<double>::infinity();
  if (x == 0 || a == infinite)
    return (a == infinite && x == infinite) ? std::numeric_limits<double>::quiet_NaN() : upper ? 1 : 0;
  if (a == 0 || x == infinite) return upper ? 0 : 1;
  constexpr double precision = 1e-17;
  const double prefactor = gamma_prefactor(a, x);
  if (x < a + 1 || x < 1.5) { // P = prefactor (1 + x / (a + 1) + x^2 / ((a + 1)(a + 2)) + ...)
    double sum = 1, term = 1;
    for (double k = a + 1; term > precision * sum; ++k) sum += term *= x / k;
    const double lower = prefactor * sum;
    return upper ? 1 - lower : lower;
  }
  // Q = prefactor a / (x + 1 - a - 1 (1 - a) / (x + 3 - a - ...)), by the method of Lentz
  constexpr double tiny = 1e-300;
  double b = x + 1 - a, c = 1 / tiny, d = 1 / b, fraction = d;
  for (int k = 1; k < 10'000'000; ++k) {
    const double numerator = -k * (k - a);
    b += 2;
    d = numerator * d + b;
    if (std::fabs(d) < tiny) d = tiny;
    c = b + numerator / c;
    if (std::fabs(c) < tiny) c = tiny;
    d = 1 / d;
    fraction *= c * d;
    if (std::fabs(c * d - 1) < 1e-16) break;
  }
  const double beyond = prefactor * a * fraction;
  return upper ? beyond : 1 - beyond;
}

}}}} // namespace twill::v0::kernel::detail
