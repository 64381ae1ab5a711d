// SPDX-License-Identifier: Apache-2.0
//
// Counts of bits, around every power of two, beside the standard's.

#include <twill/core/bits.hpp>

#include <catch2/catch.hpp>

#include <bit>
#include <cstdint>

using namespace twill;

static_assert(bits_needed(0) == 0 && bits_needed(1) == 1 && bits_needed(~std::uint64_t{0}) == 64);
static_assert(power_of_two_within(1) == 1 && power_of_two_around(1) == 1 && power_of_two_around(5) == 8);

TEST_CASE("bits are counted as the standard counts them", "[core]") {
  for (int power = 0; power < 63; ++power)
    for (const int off : {-1, 0, 1}) {
      const std::uint64_t x = (std::uint64_t{1} << power) + static_cast<std::uint64_t>(off);
      CHECK(bits_needed(x) == static_cast<int>(std::bit_width(x)));
      CHECK(power_of_two_around(x) == std::bit_ceil(x));
      if (x > 0) CHECK(power_of_two_within(x) == std::bit_floor(x));
    }
}
