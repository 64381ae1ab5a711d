#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of expr/quantile.hpp.

#include <twill/core/text.hpp>
#include <twill/expr/quantile.hpp>

namespace twill { inline namespace v0 { namespace expr { namespace quantiles { inline namespace TWILL_ISA {

TWILL_BODY Place place_of(double q, std::int64_t length, Interpolation method) {
  const auto n = static_cast<double>(length);
  const auto within = [&](double at) { return std::max(0.0, std::min(at, n - 1)); };
  const auto at_element = [&](double at) -> Place {
    const auto element = static_cast<std::int64_t>(within(at));
    return {element, element, 0};
  };
  const auto around = [&](double wanted) -> Place {
    const double at = within(wanted);
    const auto below = static_cast<std::int64_t>(std::floor(at));
    return {below, below + (at > std::floor(at) ? 1 : 0), at - std::floor(at)};
  };
  // n q + a + q (1 - a - b) - 1: the plotting positions (k - a) / (n + 1 - a - b) of Hyndman and Fan, counted from 0
  const auto plotted = [&](double a, double b) { return around(n * q + (a + q * (1 - a - b)) - 1); };
  const double linear = q * (n - 1);
  switch (method) {
  case Interpolation::lower:
    return at_element(std::floor(linear));
  case Interpolation::higher:
    return at_element(std::ceil(linear));
  case Interpolation::nearest: // of two equally near ones the even
    return at_element(std::nearbyint(linear));
  case Interpolation::midpoint: {
    const Place place = around(linear);
    return {place.below, place.above, 0.5};
  }
  case Interpolation::inverted_cdf:
    return at_element(std::ceil(n * q - 1));
  case Interpolation::averaged_inverted_cdf: {
    const double at = n * q - 1;
    if (at != std::floor(at) || at < 0 || at >= n - 1) return at_element(std::ceil(at));
    const auto below = static_cast<std::int64_t>(at);
    return {below, below + 1, 0.5};
  }
  case Interpolation::closest_observation: // of two equally near ones the even, counted from 1
    return at_element(std::nearbyint(n * q) - 1);
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

TWILL_COLD TWILL_BODY void require_part(std::string_view operation, double part, double whole) {
  if (!(part >= 0 && part <= whole))
    throw ValueError(join_text({operation, whole == 1 ? ": q is " : ": p is ", number_text(part),
                                "; it is between 0 and ", number_text(whole)}));
}

}}}}} // namespace twill::v0::expr::quantiles::TWILL_ISA
