#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Regularised incomplete beta function of three numbers in double: a continued fraction on the side of the mean where
// it converges fast, by the method of Lentz, after a factor whose logarithm does not cancel for large parameters
// (Didonato and Morris, "Algorithm 708", 1992). Read next: kernel/apply.hpp.

#include <twill/core/config.hpp>
#include <twill/kernel/scalar/gamma.hpp>
#include <twill/kernel/scalar/incomplete_gamma.hpp>

#include <cmath>
#include <limits>

namespace twill { inline namespace v0 { namespace kernel { namespace detail {

/// A number in (0, 1) with its complement and the logarithms of both.
struct BetaArgument {
  double x, y, log_x, log_y;
  [[nodiscard]] constexpr BetaArgument other() const { return {y, x, log_y, log_x}; }
};

/// x^a y^b / B(a, b) for y = 1 - x.
constexpr double beta_prefactor(double a, double b, BetaArgument at) {
  constexpr double stirling_from = 10, two_pi = 6.283185307179586476925286766559006;
  const double sum = a + b;
  if (a > b) { // it is symmetric
    at = at.other();
    const double larger = a;
    a = b;
    b = larger;
  }
  if (a >= stirling_from) {
    // (x / x0)^a (y / y0)^b sqrt(a b / (2 pi (a + b))), with the mean x0 = a / (a + b)
    const double exponent = a * log_ratio_minus(at.x, a / sum) + b * log_ratio_minus(at.y, b / sum);
    const double rest = stirling_rest(sum) - stirling_rest(a) - stirling_rest(b);
    return std::exp(exponent + rest) * std::sqrt(a / sum * b / two_pi);
  }
  if (b < stirling_from) return std::exp(a * at.log_x + b * at.log_y + (log_gamma(sum) - log_gamma(a) - log_gamma(b)));
  // log(gamma(a + b) / gamma(b)) = (b - 1/2) log(1 + a / b) + a log(a + b) - a + the rests of both
  const double ratio = (b - 0.5) * std::log1p(a / b) - a + stirling_rest(sum) - stirling_rest(b);
  return std::exp(a * (at.log_x + std::log(sum)) + b * at.log_y + ratio - log_gamma(a));
}

/// I_x(a, b) by the continued fraction, which converges for all x < 1, fast below the mean. Its terms are those of two
/// steps of DLMF 8.17.22, in which a y - b x is the only difference (Didonato and Morris, 1992, BFRAC).
constexpr double beta_fraction(double a, double b, const BetaArgument& at) {
  const auto or_tiny = [](double value) { return std::fabs(value) < 1e-300 ? 1e-300 : value; };
  const double slope = a * at.y - b * at.x + 1;
  double fraction = or_tiny(a * slope / (a + 1)), c = fraction, d = 0;
  for (int m = 1; m < 1'000'000; ++m) {
    const double odd = a + 2 * m - 1;
    const double common = m * (b - m) * at.x / odd;
    const double numerator = (a + m - 1) * (a + b + m - 1) * at.x / odd * common;
    const double denominator = m + common + (a + m) * (slope + m * (1 + at.y)) / (odd + 2);
    d = 1 / or_tiny(denominator + numerator * d);
    c = or_tiny(denominator + numerator / c);
    fraction *= c * d;
    if (std::fabs(c * d - 1) < 1e-16) break;
  }
  return beta_prefactor(a, b, at) / fraction;
}

/// I_x(a, b), the distribution function of beta variables. NaN for negative a or b, and for x outside [0, 1]; at zero
/// and infinity the limits, where they exist.
constexpr double incomplete_beta(double a, double b, double x) {
  constexpr double infinite = std::numeric_limits<double>::infinity();
  if (!(a >= 0) || !(b >= 0) || !(x >= 0) || !(x <= 1) || (a == 0 && b == 0) || (a == infinite && b == infinite))
    return std::numeric_limits<double>::quiet_NaN();
  if (x == 0 || x == 1) return x;
  if (a == 0 || b == infinite) return 1;
  if (b == 0 || a == infinite) return 0;
  const BetaArgument at{x, 1 - x, std::log(x), std::log1p(-x)};
  if (x <= (a + 1) / (a + b + 2)) return beta_fraction(a, b, at);
  const double beyond = beta_fraction(b, a, at.other());
  // A small b has its mass at 1: little is left of it, and the difference would cancel.
  return beyond > 0.9 && at.y > 1e-5 ? beta_fraction(a, b, at) : 1 - beyond;
}

}}}} // namespace twill::v0::kernel::detail
