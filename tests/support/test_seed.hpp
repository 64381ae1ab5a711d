#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// The seed of all draws of a test program: TWILL_TEST_SEED of the environment, a number or `fresh` for another one in each
// run; without it always the same, so that a test that passed passes again. To be shown where a test fails.

#include <cstdint>
#include <cstdlib>
#include <random>
#include <string_view>

namespace twill::test {

[[nodiscard]] inline std::uint64_t test_seed() {
  static const std::uint64_t seed = []() -> std::uint64_t {
    const char* const given = std::getenv("TWILL_TEST_SEED");
    if (given == nullptr) return 20'261;
    if (std::string_view{given} == "fresh") return std::random_device{}();
    return std::strtoull(given, nullptr, 10);
  }();
  return seed;
}

} // namespace twill::test
