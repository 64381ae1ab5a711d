#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Regularised incomplete beta function of three numbers in double: a continued fraction on the side of the mean where
// it converges fast, by the method of Lentz, after a factor whose logarithm has twice the precision, and beside 1 a
// power series (Didonato and Morris, "Algorithm 708", 1992). Read next: kernel/apply.hpp.

#include <twill/core/config.hpp>
#include <twill/kernel/scalar/gamma.hpp>
#include <twill/kernel/scalar/incomplete_gamma.hpp>
#include <twill/kernel/scalar/twofold.hpp>

#include <cmath>
#include <limits>

namespace twill { inline namespace v0 { namespace kernel { namespace detail {

/// A number in (0, 1) and its complement, of which one is exact.
struct BetaArgument {
  Twofold x, y;
  [[nodiscard]] constexpr BetaArgument other() const { return {y, x}; }
};

/// x^a y^b / B(a, b) for y = 1 - x. Exponents are twofold, so that their size adds no error.
constexpr double beta_prefactor(double a, double b, BetaArgument at) {
  constexpr double stirling_from = 10, two_pi = 6.283185307179586476925286766559006;
  if (a > b) { // it is symmetric
    at = at.other();
    const double larger = a;
    a = b;
    b = larger;
  }
  const Twofold sum = exact_sum(a, b);
  if (b < stirling_from) {
    const bool is_small = sum.high < 1; // gamma(a) = gamma(1 + a) / a does not overflow
    const double gammas =
        is_small ? std::tgamma(1 + sum.high) / (std::tgamma(1 + a) * std::tgamma(1 + b)) * (a / sum.high) * b
                 : std::tgamma(sum.high) / std::tgamma(a) / std::tgamma(b);
    // and what the rounding of x, y and a + b left
    const double left =
        a * (at.x.low / at.x.high) + b * (at.y.low / at.y.high) + (is_small ? 0 : sum.low * digamma_of(sum.high));
    return std::pow(at.x.high, a) * std::pow(at.y.high, b) * gammas * (1 + left);
  }
  // gamma(s) / gamma(b) = s^a (s / b)^b exp(-a) sqrt(b / s) and the rests of both, with s = a + b
  const Twofold of_b = Twofold{b} * twofold_log(at.y * sum / Twofold{b});
  const double rest = stirling_rest(sum.high) - stirling_rest(b);
  if (a < stirling_from) {
    const Twofold exponent = Twofold{a} * twofold_log(at.x * sum) + of_b - Twofold{a};
    const double root = std::sqrt(b / sum.high) / std::tgamma(a);
    return std::exp(exponent.high) * (std::exp(exponent.low + rest) * root);
  }
  const Twofold exponent = Twofold{a} * twofold_log(at.x * sum / Twofold{a}) + of_b;
  const double root = std::sqrt(a / sum.high * b / two_pi);
  return std::exp(exponent.high) * (std::exp(exponent.low + rest - stirling_rest(a)) * root);
}

/// I_x(a, b) by the continued fraction, which converges for all x < 1, fast below the mean. Its terms are those of two
/// steps of DLMF 8.17.22, in which a y - b x is the only difference (Didonato and Morris, 1992, BFRAC).
constexpr double beta_fraction(double a, double b, const BetaArgument& at) {
  const auto or_tiny = [](double value) { return std::fabs(value) < 1e-300 ? 1e-300 : value; };
  const double x = at.x.high, y = at.y.high;
  const double slope = (exact_product(a, y) - exact_product(b, x)).high + (a * at.y.low - b * at.x.low) + 1;
  double fraction = or_tiny(a * slope / (a + 1)), c = fraction, d = 0;
  for (int m = 1; m < 1'000'000; ++m) {
    const double odd = a + 2 * m - 1;
    const double common = m * (b - m) * x / odd;
    const double numerator = (a + m - 1) * (a + b + m - 1) * x / odd * common;
    const double denominator = m + common + (a + m) * (slope + m * (1 + y)) / (odd + 2);
    d = 1 / or_tiny(denominator + numerator * d);
    c = or_tiny(denominator + numerator / c);
    fraction *= c * d;
    if (std::fabs(c * d - 1) < 1e-16) break;
  }
  return beta_prefactor(a, b, at) / fraction;
}

/// log(y^b gamma(a + b) / gamma(a)), with an error that is small beside b for small b too. requires: 0 < b <= 1
constexpr double log_power_of_gammas(double y, double a, double b) {
  double steps = 0;
  while (a < 10) {
    steps -= std::log1p(b / a);
    a += 1;
  }
  // b log(y (a + b)) + (a - 1/2) log(1 + b / a) - b, and the difference of the rests: of their powers v^n - u^n
  const double u = 1 / a, v = 1 / (a + b);
  double power = v, difference = -b * u * v, rest = 0;
  for (int k = 1; k <= 8; ++k) {
    rest += bernoulli[k - 1] / (2 * k * (2 * k - 1)) * difference;
    difference = difference * u * u - power * b * u * v * (u + v);
    power *= v * v;
  }
  return steps + b * std::log(y * (a + b)) + ((a - 0.5) * std::log1p(b / a) - b + rest);
}

/// I_x(a, b) = 1 - I_y(b, a) for b <= 1, by the series y^b gamma(a + b) / (gamma(a) gamma(b + 1)) (1 + b times the sum
/// over k >= 1 of (1 - a)(2 - a) ... (k - a) y^k / (k! (b + k))) of the latter (DLMF 8.17.7), without a difference from
/// 1.
constexpr double beta_beside_one(double a, double b, const BetaArgument& at) {
  const double y = at.y.high;
  double sum = 0, term = 1;
  for (int k = 1; k < 1000 && std::fabs(term) > 1e-18 * std::fabs(sum); ++k) {
    term *= (k - a) / k * y;
    sum += term / (b + k);
  }
  const double above_one = std::expm1(log_power_of_gammas(y, a, b) - log_gamma_beside_one(b));
  return -above_one - b * (1 + above_one) * sum;
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
  const BetaArgument at{{x}, exact_sum(1, -x)};
  if (x <= (a + 1) / (a + b + 2)) return beta_fraction(a, b, at);
  const double beyond = beta_fraction(b, a, at.other());
  // A small b has its mass at 1: little is left of it, and the difference would cancel.
  return beyond > 0.5 && b <= 1 ? beta_beside_one(a, b, at) : 1 - beyond;
}

}}}} // namespace twill::v0::kernel::detail
