#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Bessel functions of the first kind and modified ones, orders 0 and 1, of one number in double: power series, whose
// terms have one sign, and asymptotic series (Abramowitz and Stegun 9.6.10, 9.7.1); J0 and J1 are those of libm.
// Read next: kernel/apply.hpp.

#include <twill/core/config.hpp>

#include <cmath>
#include <concepts>
#include <limits>

namespace twill { inline namespace v0 { namespace kernel { namespace detail {

/// exp(-|x|) I_order(x), for the orders 0 and 1.
constexpr double scaled_bessel_i(int order, double x) {
  constexpr double asymptotic_from = 30, precision = 1e-17;
  const double size = std::fabs(x);
  if (!(size <= std::numeric_limits<double>::max())) return size > 0 ? 0 : x;
  double result = 0;
  if (size < asymptotic_from) { // (x / 2)^order times the sum of (x^2 / 4)^k / (k! (k + order)!)
    double term = order == 0 ? 1 : size / 2;
    for (int k = 1; term > precision * result; ++k) {
      result += term;
      term *= size * size / 4 / (static_cast<double>(k) * (k + order));
    }
    result *= std::exp(-size);
  } else { // 1 / sqrt(2 pi x) times the sum of (1 - m)(9 - m)(25 - m) ... / (k! (8 x)^k), m = 4 order^2
    constexpr double two_pi = 6.283185307179586476925286766559006;
    double term = 1;
    for (int k = 1; std::fabs(term) > precision; ++k) {
      result += term;
      term *= (static_cast<double>(2 * k - 1) * (2 * k - 1) - 4 * order) / (k * 8 * size);
    }
    result /= std::sqrt(two_pi * size);
  }
  return order == 1 && x < 0 ? -result : result;
}

/// I_order(x); infinite where it exceeds a float64.
constexpr double bessel_i(int order, double x) {
  const double size = std::fabs(x);
  if (size == std::numeric_limits<double>::infinity()) return order == 0 ? size : x;
  const double half = std::exp(size / 2); // twice, for the whole may be infinite where the product is not
  return scaled_bessel_i(order, x) * half * half;
}

/// J_order(x), for the orders 0 and 1.
template <std::same_as<double> T> constexpr T bessel_j(int order, T x) { return order == 0 ? ::j0(x) : ::j1(x); }

}}}} // namespace twill::v0::kernel::detail
