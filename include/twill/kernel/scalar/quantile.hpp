#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Inverse error function and quantile of the normal distribution, of one number in double: a start by Giles
// ("Approximating the erfinv function", 2011) or the tail's asymptotic form, then Halley's steps on erf or on erfc.
// Read next: kernel/apply.hpp.

#include <twill/core/config.hpp>

#include <cmath>
#include <limits>

namespace twill { inline namespace v0 { namespace kernel { namespace detail {

inline constexpr double two_over_root_pi = 1.1283791670955125738961589031215452;

/// The y with erf(y) = x, to seven digits, for |x| below 1 - 1e-7.
constexpr double erfinv_start(double x) {
  constexpr double middle[] = {2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087,
                               -0.00125372503, -0.00417768164, 0.246640727,    1.50140941};
  constexpr double tail[] = {-0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773,
                             -0.0076224613,   0.00943887047,  1.00167406,    2.83297682};
  const double w = -std::log((1 - x) * (1 + x));
  const bool is_middle = w < 5;
  const double t = is_middle ? w - 2.5 : std::sqrt(w) - 3;
  double p = 0;
  for (int k = 0; k < 9; ++k) p = p * t + (is_middle ? middle[k] : tail[k]);
  return p * x;
}

/// The y with erfc(y) = z, for z in (0, 1]: digits of z near 0 are digits of y.
constexpr double erfc_inverse(double z) {
  double y = 0;
  if (z > 1e-6) {
    y = erfinv_start(1 - z);
  } else { // erfc(y) is about exp(-y^2) / (y sqrt(pi))
    constexpr double log_root_pi = 0.572364942924700087071713675676529;
    const double log_z = -std::log(z);
    y = std::sqrt(log_z);
    for (int k = 0; k < 3; ++k) y = std::sqrt(log_z - log_root_pi - std::log(y));
  }
  for (int k = 0; k < 2; ++k) { // of log erfc, which is nearly a parabola in the tail
    const double value = std::erfc(y);
    const double slope = -two_over_root_pi * std::exp(-y * y) / value; // of the logarithm
    const double error = std::log(value / z);
    const double newton = error / slope;
    y -= newton / (1 + newton * (y + slope / 2));
  }
  return y;
}

/// The y with erf(y) = x: infinite at -1 and 1, NaN outside.
constexpr double erfinv_of(double x) {
  const double size = std::fabs(x);
  if (!(size < 1))
    return size == 1 ? std::copysign(std::numeric_limits<double>::infinity(), x)
                     : std::numeric_limits<double>::quiet_NaN();
  if (size > 0.5) return std::copysign(erfc_inverse(1 - size), x);
  double y = erfinv_start(x);
  const double newton = (std::erf(y) - x) / (two_over_root_pi * std::exp(-y * y));
  return size < 1e-8 ? x / two_over_root_pi : y - newton / (1 + newton * y);
}

/// The y below which a standard normal number is with probability p: infinite at 0 and 1, NaN outside.
constexpr double ndtri_of(double p) {
  constexpr double root_two = 1.414213562373095048801688724209698;
  if (!(p > 0 && p < 1))
    return p == 0   ? -std::numeric_limits<double>::infinity()
           : p == 1 ? std::numeric_limits<double>::infinity()
                    : std::numeric_limits<double>::quiet_NaN();
  if (p > 0.25 && p < 0.75) return root_two * erfinv_of(2 * p - 1);
  return p <= 0.25 ? -root_two * erfc_inverse(2 * p) : root_two * erfc_inverse(2 * (1 - p));
}

}}}} // namespace twill::v0::kernel::detail
