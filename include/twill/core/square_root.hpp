#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Square root for constant evaluation, where std::sqrt is not available. Not in twill.hpp. Read next: core/config.hpp.

#include <twill/core/config.hpp>

#include <limits>

namespace twill { inline namespace v0 {

/// The square root of x >= 0 by Newton's method, within a unit in the last place.
[[nodiscard]] constexpr double square_root(double x) {
  if (!(x > 0)) return x == 0 ? x : std::numeric_limits<double>::quiet_NaN();
  double root = x > 1 ? x : 1; // not below the result: each step comes down to it
  for (;;) {
    const double next = (root + x / root) / 2;
    if (!(next < root)) return root;
    root = next;
  }
}

}} // namespace twill::v0
