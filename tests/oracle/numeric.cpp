// SPDX-License-Identifier: Apache-2.0
//
// The rest of NumPy's arithmetic: remainders towards zero, extremes past NaN, divisors, bits, and the parts of a number.

#include "tests/oracle/registry.hpp"

namespace oracle {

void add_numeric(Registry& to) {
  using Most = Types<std::uint8_t, std::int32_t, half, float, double>;
  using Wide = Types<float, double>;
  using Bits = Types<bool, std::uint8_t, std::int32_t, std::int64_t>;
  binary(to, "fmod", Most{}, exact, [](const auto& a, const auto& b) { return fmod(a, b); });
  binary(to, "fmax", Most{}, zeros_equal, [](const auto& a, const auto& b) { return fmax(a, b); });
  binary(to, "fmin", Most{}, zeros_equal, [](const auto& a, const auto& b) { return fmin(a, b); });
  binary(to, "gcd", Integers{}, exact, [](const auto& a, const auto& b) { return gcd(a, b); });
  binary(to, "lcm", Integers{}, exact, [](const auto& a, const auto& b) { return lcm(a, b); });
  binary(to, "left_shift", Integers{}, exact, [](const auto& a, const auto& b) { return left_shift(a, b); });
  binary(to, "right_shift", Integers{}, exact, [](const auto& a, const auto& b) { return right_shift(a, b); });
  unary(to, "invert", Bits{}, exact, [](const auto& x) { return invert(x); });
  binary(to, "heaviside", Floats{}, exact, [](const auto& a, const auto& b) { return heaviside(a, b); });
  binary(to, "float_power", Most{}, Tolerance{.wide = 2},
         [](const auto& a, const auto& b) { return float_power(a, b); });
  unary(to, "fabs", Most{}, exact, [](const auto& x) { return fabs(x); });
  unary(to, "signbit", Floats{}, exact, [](const auto& x) { return signbit(x); });
  unary(to, "isposinf", Floats{}, exact, [](const auto& x) { return isposinf(x); });
  unary(to, "isneginf", Floats{}, exact, [](const auto& x) { return isneginf(x); });
  binary(to, "copysign", Floats{}, exact, [](const auto& a, const auto& b) { return copysign(a, b); });
  binary(to, "nextafter", Wide{}, exact, [](const auto& a, const auto& b) { return nextafter(a, b); });
  unary(to, "spacing", Wide{}, exact, [](const auto& x) { return spacing(x); });
  binary_with<4, float>(to, "ldexp", Types<std::int32_t>{}, exact,
                        [](const auto& a, const auto& b) { return ldexp(a, b); });
  binary_with<4, double>(to, "ldexp", Types<std::int32_t>{}, exact,
                         [](const auto& a, const auto& b) { return ldexp(a, b); });
  unary(to, "nan_to_num", Most{}, exact, [](const auto& x) { return nan_to_num(x); });
  binary(to, "isclose", Types<std::int32_t, float, double>{}, exact,
         [](const auto& a, const auto& b) { return isclose(a, b); });
  unary(to, "round", Wide{}, exact,
        [](const auto& x, const std::vector<double>& numbers) { return round(x, static_cast<int>(numbers[0])); });
}

} // namespace oracle
