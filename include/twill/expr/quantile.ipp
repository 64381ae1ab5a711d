#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of expr/quantile.hpp.

#include <twill/expr/quantile.hpp>

namespace twill { inline namespace v0 { namespace expr { namespace quantiles { inline namespace TWILL_ISA {

TWILL_BODY Place place_of(double q, std::int64_t length, Interpolation method) {
  const double at = q * static_cast<double>(length - 1);
  const double floor = std::floor(at);
  const auto below = static_cast<std::int64_t>(floor);
  const std::int64_t above = std::min(below + (at > floor ? 1 : 0), length - 1);
  switch (method) {
  case Interpolation::lower:
    return {below, below, 0};
  case Interpolation::higher:
    return {above, above, 0};
  case Interpolation::nearest: { // of two equally near ones the even
    const auto nearest = static_cast<std::int64_t>(std::nearbyint(at));
    return {nearest, nearest, 0};
  }
  case Interpolation::midpoint:
    return {below, above, 0.5};
  case Interpolation::linear:
    break;
  }
  return {below, above, at - floor};
}

TWILL_BODY void require_fraction(const char* operation, double q) {
  if (!(q >= 0 && q <= 1))
    throw ValueError(std::string(operation) + ": q is " + std::to_string(q) + "; it lies between 0 and 1");
}

}}}}} // namespace twill::v0::expr::quantiles::TWILL_ISA
