// SPDX-License-Identifier: Apache-2.0
//
// Functions of one operand whose results are exact: signs, magnitudes, rounding, and questions about special values.

#include "tests/oracle/registry.hpp"

namespace oracle {

void add_rounding(Registry& to) {
  unary(to, "negative", Numbers{}, exact, [](const auto& x) { return -x; });
  unary(to, "positive", Everything{}, exact, [](const auto& x) { return +x; });
  unary(to, "absolute", Numbers{}, exact, [](const auto& x) { return abs(x); });
  unary(to, "sign", Numbers{}, exact, [](const auto& x) { return sign(x); });
  unary(to, "square", Numbers{}, exact, [](const auto& x) { return square(x); });
  unary(to, "floor", Numbers{}, exact, [](const auto& x) { return floor(x); });
  unary(to, "ceil", Numbers{}, exact, [](const auto& x) { return ceil(x); });
  unary(to, "rint", Numbers{}, exact, [](const auto& x) { return round(x); });
  unary(to, "trunc", Numbers{}, exact, [](const auto& x) { return trunc(x); });
  unary(to, "isnan", Everything{}, exact, [](const auto& x) { return isnan(x); });
  unary(to, "isinf", Everything{}, exact, [](const auto& x) { return isinf(x); });
  unary(to, "isfinite", Everything{}, exact, [](const auto& x) { return isfinite(x); });
  unary(to, "logical_not", Everything{}, exact, [](const auto& x) { return !x; });
}

} // namespace oracle
