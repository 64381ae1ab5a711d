#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Position and value of a quantile in a sorted row: the arithmetic that host devices and GPUs share.
// Read next: expr/quantile.hpp.

#include <cstdint>

namespace twill { inline namespace v0 { namespace kernel {

/// The neighbours of a quantile in a sorted row, and its fraction of the way from the first to the second.
struct QuantilePlace {
  std::int64_t below = 0;
  std::int64_t above = 0;
  double fraction = 0;
};

/// The value at a fraction of the way from one neighbour to the other.
[[nodiscard]] constexpr double between(double first, double second, double fraction) {
  if (first == second) return first;                // infinite ones, too
  if (fraction == 0.5) return (first + second) / 2; // NumPy's median, so that 1 and infinity give infinity
  return fraction < 0.5 ? first + (second - first) * fraction : second - (second - first) * (1 - fraction);
}

}}} // namespace twill::v0::kernel
