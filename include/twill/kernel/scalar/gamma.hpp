#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Logarithm of the gamma function and its derivatives, the polygamma functions: digamma by recurrence and its
// asymptotic series (Abramowitz and Stegun 6.3), the higher ones by the Hurwitz zeta function (Euler and Maclaurin's
// formula), left of zero by reflection, with derivatives of the cotangent. Scalars only, in double. Read next:
// kernel/apply.hpp.

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
inline constexpr double bernoulli[] = {1.0 / 6,       -1.0 / 30,       1.0 / 42,       -1.0 / 30,
                                       5.0 / 66,      -691.0 / 2730.0, 7.0 / 6,        -3617.0 / 510,
                                       43867.0 / 798, -174611.0 / 330, 854513.0 / 138, -236364091.0 / 2730};

inline constexpr double pi_of_gamma = 3.141592653589793238462643383279503;

/// log gamma(z) - (z - 1/2) log z + z - log(2 pi) / 2, by Stirling's series. requires: z >= 10
constexpr double stirling_rest(double z) {
  const double square = 1 / (z * z);
  double series = 0;
  for (int k = 8; k > 0; --k) series = series * square + bernoulli[k - 1] / (2 * k * (2 * k - 1));
  return series / z;
}

/// cot(pi x), with a small relative error beside its zeros as well. requires: |x| <= 1/2
constexpr double cotangent_of_half_turns(double x) {
  const double size = std::fabs(x);
  const double result =
      size <= 0.25 ? 1 / std::tan(pi_of_gamma * size) : std::tan(pi_of_gamma * (0.5 - size)); // 0.5 - size is exact
  return std::copysign(result, x);
}

/// The highest order of which `cotangent_derivative` is asked.
inline constexpr int cotangent_orders = 30;

/// R_n(cot y) = (-1)^n (d/dy)^n cot y, by R_0 = c, R_(n+1) = (1 + c^2) R_n'. No coefficient is negative, so that the
/// sum does not cancel.
constexpr double cotangent_derivative(int n, double c) {
  double r[cotangent_orders + 3]{}; // of odd powers for even n, and the other way round, so both polynomials fit
  r[1] = 1;
  for (int order = 0; order < n; ++order)
    for (int i = order % 2; i <= order + 2; i += 2) r[i] = (i + 1) * r[i + 1] + (i > 0 ? (i - 1) * r[i - 1] : 0);
  double sum = 0;
  for (int i = n + 1; i >= 0; i -= 2) sum = sum * c * c + r[i];
  return n % 2 == 0 ? sum * c : sum;
}

constexpr double digamma_of(double x) {
  if (x == 0) return std::copysign(std::numeric_limits<double>::infinity(), -x);
  double result = 0;
  if (x < 0) {
    const double beside = x - std::nearbyint(x);
    if (!(beside != 0)) return std::numeric_limits<double>::quiet_NaN();
    result = -pi_of_gamma * cotangent_of_half_turns(beside);
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
  // From here on 12 corrections are enough, for s up to 240.
  const double far_from = s < 240 ? 0.8 * s + 6.5 : 200;
  const int before = x < far_from ? static_cast<int>(std::ceil(far_from - x)) : 0;
  const double far = x + before;
  // the integral, half the first term, and the corrections B(2k) / (2k)! s (s + 1) ... (s + 2k - 2) x^-(s + 2k - 1)
  const double first = std::pow(far, -s);
  double sum = first * far / (s - 1) + first / 2;
  double factor = first * s / far;
  double factorial = 2;
  for (int k = 1; k <= 12; ++k) {
    sum += bernoulli[k - 1] / factorial * factor;
    factor *= (s + 2 * k - 1) * (s + 2 * k) / (far * far);
    factorial *= (2 * k + 1) * (2 * k + 2);
  }
  for (int k = before; k > 0; --k) sum += std::pow(x + (k - 1), -s); // small terms first
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
  const double factorial = std::tgamma(s);
  if (x > 0) return parity * factorial * hurwitz_zeta(s, x);
  if (x == std::floor(x)) return std::numeric_limits<double>::infinity();
  // The sum of (x + k)^-s over all whole k, minus those left of x. Both are small where they cancel, beside the zeros.
  const double beside = x - std::nearbyint(x);
  const double left = hurwitz_zeta(s, 1 - x);
  if (std::fabs(beside) > 0.25 && n <= cotangent_orders) {
    const double all = cotangent_derivative(static_cast<int>(n), cotangent_of_half_turns(beside)); // n! / pi^s of it
    return parity * (std::pow(pi_of_gamma, s) * all - parity * factorial * left);
  }
  // Beside a pole: its own term, those right of it, and those between it and x.
  const double others = hurwitz_zeta(s, 1 + beside) + parity * (hurwitz_zeta(s, 1 - beside) - left);
  return parity * factorial * (std::pow(beside, -s) + others);
}

}}}} // namespace twill::v0::kernel::detail
