// SPDX-License-Identifier: Apache-2.0
//
// Functions of real numbers. The bounds are those that kernel/math/ states; the 16-bit types compute in float32 and round
// once more, so they may differ by one unit.

#include "tests/oracle/registry.hpp"

namespace oracle {

void add_transcendental(Registry& to) {
  constexpr Tolerance tight{.narrow = 1, .single = 3, .wide = 3};
  constexpr Tolerance loose{.narrow = 1, .single = 6, .wide = 6};
  unary(to, "sqrt", Everything{}, exact, [](const auto& x) { return sqrt(x); });
  unary(to, "reciprocal", Floats{}, exact, [](const auto& x) { return reciprocal(x); });
  unary(to, "rsqrt", Everything{}, Tolerance{.narrow = 1, .single = 1, .wide = 1},
        [](const auto& x) { return rsqrt(x); });
  unary(to, "exp", Everything{}, tight, [](const auto& x) { return exp(x); });
  unary(to, "expm1", Everything{}, tight, [](const auto& x) { return expm1(x); });
  unary(to, "log", Everything{}, tight, [](const auto& x) { return log(x); });
  unary(to, "log1p", Everything{}, tight, [](const auto& x) { return log1p(x); });
  unary(to, "sin", Everything{}, tight, [](const auto& x) { return sin(x); });
  unary(to, "cos", Everything{}, tight, [](const auto& x) { return cos(x); });
  unary(to, "tan", Everything{}, tight, [](const auto& x) { return tan(x); });
  unary(to, "arcsin", Everything{}, tight, [](const auto& x) { return asin(x); });
  unary(to, "arccos", Everything{}, tight, [](const auto& x) { return acos(x); });
  unary(to, "arctan", Everything{}, tight, [](const auto& x) { return atan(x); });
  unary(to, "sinh", Everything{}, tight, [](const auto& x) { return sinh(x); });
  unary(to, "cosh", Everything{}, tight, [](const auto& x) { return cosh(x); });
  unary(to, "tanh", Everything{}, loose, [](const auto& x) { return tanh(x); });
  unary(to, "erf", Everything{}, loose, [](const auto& x) { return erf(x); });
  unary(to, "sigmoid", Floats{}, Tolerance{.narrow = 1, .single = 4, .wide = 4, .absolute = 1e-7},
        [](const auto& x) { return sigmoid(x); });
}

} // namespace oracle
