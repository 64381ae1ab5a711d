// SPDX-License-Identifier: Apache-2.0
#include <twill/core/philox.hpp>

#include <catch2/catch.hpp>

#include <array>
#include <cstdint>
#include <set>

using Words = std::array<std::uint32_t, 4>;

TEST_CASE("Philox 4x32-10 gives the known answers of Random123", "[core][DEV-7]") {
  // kat_vectors of Random123: all zero, all ones, digits of pi
  STATIC_REQUIRE(twill::philox4x32({0, 0, 0, 0}, {0, 0}) == Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  STATIC_REQUIRE(twill::philox4x32({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}) ==
                 Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  STATIC_REQUIRE(twill::philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
                 Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("a draw depends on its seed, step, node and index, and on nothing else", "[core][DEV-7]") {
  const auto key = [](std::uint64_t seed) {
    return std::array<std::uint32_t, 2>{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)};
  };
  const std::uint64_t seed = 0x0123456789abcdef;
  for (const std::uint64_t index : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{6}, std::uint64_t{1} << 40}) {
    const std::uint64_t block = index / 4;
    const Words words = twill::philox4x32(
        {static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(block >> 32), 17, 5}, key(seed));
    REQUIRE(twill::random_bits(seed, 5, 17, index) == words[index % 4]);
    REQUIRE(twill::random_uniform(seed, 5, 17, index) == static_cast<float>(words[index % 4] >> 8) / 16777216.0F);
  }
  std::set<std::uint32_t> different;
  for (std::uint32_t i = 0; i < 100; ++i) {
    different.insert(twill::random_bits(seed + i + 1, 0, 0, 0));
    different.insert(twill::random_bits(seed, i + 1, 0, 0));
    different.insert(twill::random_bits(seed, 0, i + 1, 0));
    different.insert(twill::random_bits(seed, 0, 0, i + 1));
    different.insert(twill::random_bits(seed + (std::uint64_t{i + 1} << 32), 0, 0, 0));
  }
  REQUIRE(different.size() == 500);
}

TEST_CASE("uniform draws lie in [0, 1) and spread evenly", "[core][DEV-7]") {
  STATIC_REQUIRE(twill::uniform_from_bits(0) == 0.0F);
  STATIC_REQUIRE(twill::uniform_from_bits(0xffffffff) == 1.0F - 0x1p-24F);
  constexpr int draws = 100000;
  constexpr int cells = 20;
  std::array<int, cells> counts{};
  double sum = 0;
  for (int i = 0; i < draws; ++i) {
    const float draw = twill::random_uniform(42, 1, 2, static_cast<std::uint64_t>(i));
    REQUIRE(draw >= 0.0F);
    REQUIRE(draw < 1.0F);
    sum += static_cast<double>(draw);
    ++counts[static_cast<std::size_t>(draw * cells)];
  }
  REQUIRE(sum / draws == Approx(0.5).margin(0.005));
  double chi_squared = 0;
  for (const int count : counts) chi_squared += (count - 5000.0) * (count - 5000.0) / 5000.0;
  REQUIRE(chi_squared < 43.8); // 19 degrees of freedom, 0.1%
}
