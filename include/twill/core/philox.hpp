#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Counter-based random numbers: a draw is a pure function of (seed, step, node, index), so it can be recomputed instead
// of stored, and any split of the work over devices draws the numbers of one device. Philox 4x32-10 from Salmon et al.,
// "Parallel random numbers: as easy as 1, 2, 3" (2011), bit for bit as Random123 and cuRAND compute it.

#include <array>
#include <cstddef>
#include <cstdint>

namespace twill { inline namespace v0 {

/// Ten rounds over a counter of 128 bits with a key of 64.
[[nodiscard]] constexpr std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter,
                                                                std::array<std::uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t first = std::uint64_t{0xD2511F53U} * counter[0];
    const std::uint64_t second = std::uint64_t{0xCD9E8D57U} * counter[2];
    counter = {static_cast<std::uint32_t>(second >> 32) ^ counter[1] ^ key[0], static_cast<std::uint32_t>(second),
               static_cast<std::uint32_t>(first >> 32) ^ counter[3] ^ key[1], static_cast<std::uint32_t>(first)};
    key = {key[0] + 0x9E3779B9U, key[1] + 0xBB67AE85U}; // golden ratio and sqrt(3) - 1: the Weyl sequence of the paper
  }
  return counter;
}

/// Thirty-two random bits: word index % 4 of the block index / 4.
[[nodiscard]] constexpr std::uint32_t random_bits(std::uint64_t seed, std::uint32_t step, std::uint32_t node,
                                                  std::uint64_t index) {
  const std::uint64_t block = index / 4;
  const auto words =
      philox4x32({static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(block >> 32), node, step},
                 {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)});
  return words[static_cast<std::size_t>(index % 4)];
}

/// The upper half of a product of 128 bits.
[[nodiscard]] constexpr std::uint64_t multiply_high(std::uint64_t a, std::uint64_t b) {
  constexpr std::uint64_t low = 0xFFFFFFFFU;
  const std::uint64_t a0 = a & low, a1 = a >> 32, b0 = b & low, b1 = b >> 32;
  const std::uint64_t middle = a1 * b0 + (a0 * b0 >> 32);
  const std::uint64_t other = a0 * b1 + (middle & low);
  return a1 * b1 + (middle >> 32) + (other >> 32);
}

/// The integer part of range times a fraction whose 128 bits are the words of a block.
[[nodiscard]] constexpr std::uint64_t integer_from_words(const std::uint32_t* words, std::uint64_t range) {
  const std::uint64_t upper = (std::uint64_t{words[0]} << 32) | words[1];
  const std::uint64_t lower = (std::uint64_t{words[2]} << 32) | words[3];
  const std::uint64_t carried = upper * range + multiply_high(lower, range);
  return multiply_high(upper, range) + (carried < upper * range ? 1 : 0);
}

/// A draw in [0, range): the integer part of range times a fraction of 128 random bits, a whole block, so that no value
/// is favoured by more than 2^-64 of its probability (the multiplication of Lemire, "Fast random integer generation in
/// an interval", 2019, with more bits in place of his rejection). The upper 53 bits of a double in [0, 1) are range
/// 2^53.
[[nodiscard]] constexpr std::uint64_t random_integer(std::uint64_t seed, std::uint32_t step, std::uint32_t node,
                                                     std::uint64_t range, std::uint64_t index) {
  const auto words =
      philox4x32({static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(index >> 32), node, step},
                 {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)});
  return integer_from_words(words.data(), range);
}

/// The upper 24 bits as a float in [0, 1): every value is exact, and 1 never occurs.
[[nodiscard]] constexpr float uniform_from_bits(std::uint32_t bits) { return static_cast<float>(bits >> 8) * 0x1p-24F; }

/// The uniform draw that all of twill uses, in [0, 1).
[[nodiscard]] constexpr float random_uniform(std::uint64_t seed, std::uint32_t step, std::uint32_t node,
                                             std::uint64_t index) {
  return uniform_from_bits(random_bits(seed, step, node, index));
}

}} // namespace twill::v0
