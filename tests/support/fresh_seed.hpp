#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// A seed that is another one in each run of a test program and the same everywhere in it: to be shown where a test fails.

#include <cstdint>
#include <random>

namespace twill::test {

[[nodiscard]] inline std::uint64_t fresh_seed() {
  static const std::uint64_t seed = std::random_device{}();
  return seed;
}

} // namespace twill::test
