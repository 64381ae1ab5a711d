// SPDX-License-Identifier: Apache-2.0
//
// Comparison, logic, bits, and choosing.

#include "tests/oracle/registry.hpp"

namespace oracle {

void add_comparison(Registry& to) {
  using Bits = Types<bool, std::uint8_t, std::int32_t, std::int64_t>;
  binary(to, "equal", Everything{}, exact, [](const auto& a, const auto& b) { return a == b; });
  binary(to, "not_equal", Everything{}, exact, [](const auto& a, const auto& b) { return a != b; });
  binary(to, "less", Everything{}, exact, [](const auto& a, const auto& b) { return a < b; });
  binary(to, "less_equal", Everything{}, exact, [](const auto& a, const auto& b) { return a <= b; });
  binary(to, "greater", Everything{}, exact, [](const auto& a, const auto& b) { return a > b; });
  binary(to, "greater_equal", Everything{}, exact, [](const auto& a, const auto& b) { return a >= b; });
  binary(to, "logical_and", Everything{}, exact, [](const auto& a, const auto& b) { return logical_and(a, b); });
  binary(to, "logical_or", Everything{}, exact, [](const auto& a, const auto& b) { return logical_or(a, b); });
  binary(to, "logical_xor", Everything{}, exact, [](const auto& a, const auto& b) { return logical_xor(a, b); });
  binary(to, "bitwise_and", Bits{}, exact, [](const auto& a, const auto& b) { return a & b; });
  binary(to, "bitwise_or", Bits{}, exact, [](const auto& a, const auto& b) { return a | b; });
  binary(to, "bitwise_xor", Bits{}, exact, [](const auto& a, const auto& b) { return a ^ b; });
  ternary_with<4, bool>(to, "where", Everything{}, exact,
                        [](const auto& c, const auto& a, const auto& b) { return where(c, a, b); });
}

} // namespace oracle
