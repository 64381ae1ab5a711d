// SPDX-License-Identifier: Apache-2.0
//
// More functions of real numbers, of one operand and of two.

#include "tests/oracle/registry.hpp"

namespace oracle {

void add_special(Registry& to) {
  using Most = Types<std::int32_t, half, float, double>;
  constexpr Tolerance tight{.narrow = 1, .single = 4, .wide = 4};
  constexpr Tolerance absolute{.narrow = 1, .single = 6, .wide = 6, .absolute = 2e-6};
  unary(to, "exp2", Most{}, tight, [](const auto& x) { return exp2(x); });
  unary(to, "log2", Most{}, tight, [](const auto& x) { return log2(x); });
  unary(to, "log10", Most{}, tight, [](const auto& x) { return log10(x); });
  unary(to, "cbrt", Most{}, tight, [](const auto& x) { return cbrt(x); });
  unary(to, "arcsinh", Most{}, tight, [](const auto& x) { return arcsinh(x); });
  unary(to, "arccosh", Most{}, tight, [](const auto& x) { return arccosh(x); });
  unary(to, "arctanh", Most{}, tight, [](const auto& x) { return arctanh(x); });
  unary(to, "deg2rad", Most{}, tight, [](const auto& x) { return deg2rad(x); });
  unary(to, "rad2deg", Most{}, tight, [](const auto& x) { return rad2deg(x); });
  // a formula's constants take the type of its operand, so pi is 3.1406 beside float16
  unary(to, "sinc", Types<half>{}, Tolerance{.narrow = 2, .absolute = 5e-4}, [](const auto& x) { return sinc(x); });
  unary(to, "sinc", Types<std::int32_t, float, double>{}, absolute, [](const auto& x) { return sinc(x); });
  unary(to, "erfc", Most{}, tight, [](const auto& x) { return erfc(x); });
  unary(to, "lgamma", Most{}, absolute, [](const auto& x) { return lgamma(x); });
  unary(to, "tanh_accurate", Floats{}, tight, [](const auto& x) { return tanh_accurate(x); });
  unary(to, "erf_accurate", Floats{}, tight, [](const auto& x) { return erf_accurate(x); });
  binary(to, "hypot", Most{}, tight, [](const auto& a, const auto& b) { return hypot(a, b); });
  const auto logaddexp = [](const auto& a, const auto& b) { return twill::logaddexp(a, b); };
  const auto logaddexp2 = [](const auto& a, const auto& b) { return twill::logaddexp2(a, b); };
  binary(to, "logaddexp", Types<half>{}, Tolerance{.narrow = 2, .absolute = 2e-3}, logaddexp);
  binary(to, "logaddexp", Types<std::int32_t, float, double>{}, absolute, logaddexp);
  binary(to, "logaddexp2", Types<half>{}, Tolerance{.narrow = 2, .absolute = 2e-3}, logaddexp2);
  binary(to, "logaddexp2", Types<std::int32_t, float, double>{}, absolute, logaddexp2);
}

} // namespace oracle
