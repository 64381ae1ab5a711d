// SPDX-License-Identifier: Apache-2.0
//
// Operands of all pairs of element types, numbers beside tensors, and conversions between all types.

#include "tests/oracle/registry.hpp"

namespace oracle {

void add_promotion(Registry& to) {
  binary_of_all(to, "add", Everything{}, exact, [](const auto& a, const auto& b) { return a + b; });
  binary(to, "divide", Everything{}, exact, [](const auto& a, const auto& b) { return a / b; });
  unary(to, "add_integer", Everything{}, exact,
        [](const auto& x, const std::vector<double>& numbers) { return x + static_cast<std::int64_t>(numbers[0]); });
  unary(to, "multiply_float", Everything{}, exact,
        [](const auto& x, const std::vector<double>& numbers) { return x * numbers[0]; });
  unary(to, "divide_integer", Everything{}, exact,
        [](const auto& x, const std::vector<double>& numbers) { return x / static_cast<std::int64_t>(numbers[0]); });
  unary(to, "to_bool", Everything{}, exact, [](const auto& x) { return twill::cast<bool>(x); });
  unary(to, "to_uint8", Everything{}, exact, [](const auto& x) { return twill::cast<std::uint8_t>(x); });
  unary(to, "to_int32", Everything{}, exact, [](const auto& x) { return twill::cast<std::int32_t>(x); });
  unary(to, "to_int64", Everything{}, exact, [](const auto& x) { return twill::cast<std::int64_t>(x); });
  unary(to, "to_float16", Everything{}, exact, [](const auto& x) { return twill::cast<half>(x); });
  unary(to, "to_bfloat16", Everything{}, exact, [](const auto& x) { return twill::cast<bfloat16>(x); });
  unary(to, "to_float32", Everything{}, exact, [](const auto& x) { return twill::cast<float>(x); });
  unary(to, "to_float64", Everything{}, exact, [](const auto& x) { return twill::cast<double>(x); });
}

} // namespace oracle
