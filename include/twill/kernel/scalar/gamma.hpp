#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Logarithm of the gamma function and its derivatives, the polygamma functions: digamma by recurrence, a polynomial
// around its positive zero and its asymptotic series (Abramowitz and Stegun 6.3), the higher ones by the Hurwitz zeta
// function (Euler and Maclaurin's formula), left of zero by reflection, with derivatives of the cotangent. Scalars
// only, in double. Read next: kernel/apply.hpp.

#include <twill/core/config.hpp>
#include <twill/kernel/scalar/twofold.hpp>

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

/// digamma(x) for x > 0: its one zero there is a factor, and no term of the rest cancels much.
constexpr double positive_digamma(double x) {
  constexpr double asymptotic_from = 10;
  if (x >= asymptotic_from) { // log x - 1 / 2x - sum of B(2k) / (2k x^2k)
    const double t = 1 / (x * x);
    double series = 0;
    for (int k = 8; k > 0; --k) series = (series + bernoulli[k - 1] / (2 * k)) * t;
    return std::log(x) - 0.5 / x - series;
  }
  // The zero less 1, in two parts, and digamma(x) / (x - zero) from 1 to 2 in powers of x - 3/2, interpolated at
  // Chebyshev's nodes with an error of 5e-17.
  constexpr double zero = 0.46163214496836236, zero_low = -1.5522348162858677e-17;
  constexpr double coefficients[] = {
      0.95105587603183284,    -0.42362742128146058,    0.24054248424078697,    -0.14840492305388092,
      0.094988724452890388,   -0.06192213327548831,    0.040760833940846085,   -0.026975796659787055,
      0.017907248317313294,   -0.011908220105959716,   0.0079270217968681542,  -0.005279937255532708,
      0.0035181065638024722,  -0.0023454947397380833,  0.0015633696313653504,  -0.0010364584817312839,
      0.00069092557612829861, -0.00048595039220036254, 0.00032395945401345196, -0.00014480643368061614,
      9.6536462614100617e-05, -0.00017821885488559231, 0.00011881232908510335};
  double sum = 0;
  if (x < 1) {
    sum = -1 / x;
  } else {
    x -= 1; // x is the argument less 1, from here to the end
    while (x >= 1) {
      sum += 1 / x;
      x -= 1;
    }
  }
  double series = 0;
  for (int k = 22; k >= 0; --k) series = series * (x - 0.5) + coefficients[k];
  return sum + ((x - zero) - zero_low) * series;
}

/// digamma(x) for x < 0 beside one of its zeros, in twice the precision. beside: x less the nearest whole number
constexpr double digamma_beside_negative_zero(double x, double beside) {
  constexpr double asymptotic_from = 40;
  constexpr int terms = 12, accurate = 4; // the first ones need both parts
  constexpr double denominators[accurate] = {12, -120, 252, -240};
  Twofold z = exact_sum(1, -x), sum{};
  for (; z.high < asymptotic_from; z = z + Twofold{1}) sum = sum - Twofold{1} / z;
  const Twofold square = z * z;
  double tail = 0;
  for (int k = terms; k > accurate; --k) tail = (tail + bernoulli[k - 1] / (2 * k)) / square.high;
  Twofold series{tail};
  for (int k = accurate; k > 0; --k) series = (series + Twofold{1} / Twofold{denominators[k - 1]}) / square;
  sum = sum + twofold_log(z) - Twofold{0.5} / z - series;
  const Twofold turn = twofold_pi() * cotangent_of_half_turns(Twofold{std::fabs(beside)});
  const Twofold result = beside > 0 ? sum - turn : sum + turn;
  return result.high;
}

/// digamma(x) = digamma(1 - x) - pi cot(pi x) for x < 0.
constexpr double digamma_of(double x) {
  if (x == 0) return std::copysign(std::numeric_limits<double>::infinity(), -x);
  if (!(x < 0)) return positive_digamma(x);
  constexpr double cancelled = 0.25; // of parts that leave less, the rounded 1 - x is felt
  const double beside = x - std::nearbyint(x);
  if (!(beside != 0)) return std::numeric_limits<double>::quiet_NaN();
  const double mirrored = positive_digamma(1 - x);
  const double result = mirrored - pi_of_gamma * cotangent_of_half_turns(beside);
  return std::fabs(result) > cancelled * (mirrored > 1 ? mirrored : 1) ? result
                                                                       : digamma_beside_negative_zero(x, beside);
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
