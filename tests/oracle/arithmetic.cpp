// SPDX-License-Identifier: Apache-2.0
//
// Arithmetic of two operands, with numbers, in place.

#include "tests/oracle/registry.hpp"

namespace oracle {

void add_arithmetic(Registry& to) {
  constexpr Tolerance tight{.narrow = 1, .single = 2, .wide = 2};
  binary(to, "subtract", Numbers{}, exact, [](const auto& a, const auto& b) { return a - b; });
  binary(to, "multiply", Everything{}, exact, [](const auto& a, const auto& b) { return a * b; });
  binary(to, "floor_divide", Numbers{}, exact, [](const auto& a, const auto& b) { return floor_divide(a, b); });
  binary(to, "remainder", Numbers{}, exact, [](const auto& a, const auto& b) { return a % b; });
  binary(to, "power", Numbers{}, tight, [](const auto& a, const auto& b) { return power(a, b); });
  binary(to, "arctan2", Numbers{}, tight, [](const auto& a, const auto& b) { return atan2(a, b); });
  binary(to, "maximum", Everything{}, zeros_equal, [](const auto& a, const auto& b) { return maximum(a, b); });
  binary(to, "minimum", Everything{}, zeros_equal, [](const auto& a, const auto& b) { return minimum(a, b); });
  ternary(to, "clip", Numbers{}, zeros_equal,
          [](const auto& x, const auto& a, const auto& b) { return clamp(x, a, b); });
}

} // namespace oracle
