#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Places of quantiles among sorted numbers by NumPy's methods: one formula for counts that are numbers and for traced
// ones. Read next: expr/quantile.hpp.

#include <twill/core/config.hpp>

#include <cmath>
#include <cstdint>

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

/// The value between two neighbours when a quantile falls between them: NumPy's methods, of which the first five take
/// the place q (n - 1) of n sorted elements, and the others are types 1 to 6, 8 and 9 of Hyndman and Fan (1996).
enum class Interpolation : std::uint8_t {
  linear,
  lower,
  higher,
  nearest,
  midpoint,
  inverted_cdf,
  averaged_inverted_cdf,
  closest_observation,
  interpolated_inverted_cdf,
  hazen,
  weibull,
  median_unbiased,
  normal_unbiased
};

}}} // namespace twill::v0::TWILL_ISA

namespace twill { inline namespace v0 { namespace expr { namespace quantiles { inline namespace TWILL_ISA {

[[nodiscard]] inline double floor(double x) { return std::floor(x); }
[[nodiscard]] inline double ceil(double x) { return std::ceil(x); }
[[nodiscard]] inline double round(double x) { return std::nearbyint(x); }
[[nodiscard]] constexpr double minimum(double x, double y) { return x < y ? x : y; }
[[nodiscard]] constexpr double maximum(double x, double y) { return x < y ? y : x; }

/// Two neighbours counted from 0, and the fraction of the way from the first to the second.
template <class N> struct Neighbours {
  N below;
  N above;
  N fraction;
};

/// The place of the quantile q of n sorted numbers.
template <class N> [[nodiscard]] constexpr Neighbours<N> neighbours(const N& n, double q, Interpolation method) {
  using Result = Neighbours<N>;
  const auto within = [&](const N& at) { return maximum(minimum(at, n - 1), 0.0); };
  const auto at_element = [&](const N& at) -> Result {
    const N element = within(at);
    return {element, element, element * 0};
  };
  const auto half_way = [&](const N& below, const N& above) -> Result { return {below, above, (above - below) * 0.5}; };
  const auto around = [&](const N& wanted) -> Result {
    const N at = within(wanted), below = floor(at);
    return {below, ceil(at), at - below};
  };
  // n q + a + q (1 - a - b) - 1: the plotting positions (k - a) / (n + 1 - a - b) of Hyndman and Fan, counted from 0
  const auto plotted = [&](double a, double b) -> Result { return around(n * q + (a + q * (1 - a - b)) - 1); };
  const N linear = (n - 1) * q;
  switch (method) {
  case Interpolation::lower:
    return at_element(floor(linear));
  case Interpolation::higher:
    return at_element(ceil(linear));
  case Interpolation::nearest: // of two equally near ones the even
    return at_element(round(linear));
  case Interpolation::midpoint:
    return half_way(floor(within(linear)), ceil(within(linear)));
  case Interpolation::inverted_cdf:
    return at_element(ceil(n * q) - 1);
  case Interpolation::averaged_inverted_cdf:
    return half_way(within(ceil(n * q) - 1), within(floor(n * q)));
  case Interpolation::closest_observation: // of two equally near ones the even, counted from 1
    return at_element(round(n * q) - 1);
  case Interpolation::interpolated_inverted_cdf:
    return plotted(0, 1);
  case Interpolation::hazen:
    return plotted(0.5, 0.5);
  case Interpolation::weibull:
    return plotted(0, 0);
  case Interpolation::median_unbiased:
    return plotted(1.0 / 3, 1.0 / 3);
  case Interpolation::normal_unbiased:
    return plotted(3.0 / 8, 3.0 / 8);
  case Interpolation::linear:
    break;
  }
  return around(linear);
}

}}}}} // namespace twill::v0::expr::quantiles::TWILL_ISA
