#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Random draws for a pack of positions. Consecutive positions share blocks of Philox 4x32-10, four draws each, so a
// pack computes only the blocks that it touches, side by side in 64-bit lanes; positions that jump are drawn one by
// one. The draws are those of core/philox.hpp, bit for bit. Read next: kernel/stage.hpp.

#include <twill/core/philox.hpp>
#include <twill/kernel/pack.hpp>

#include <cstdint>

namespace twill { inline namespace v0 { namespace kernel { inline namespace TWILL_ISA {

namespace vector_detail {

/// B consecutive blocks as their words in order: block 0's four, then block 1's.
template <int B>
TWILL_INLINE void consecutive_blocks(std::uint64_t seed, std::uint32_t step, std::uint32_t node, std::uint64_t block,
                                     std::uint32_t* words) {
  using V = typename Pack<std::uint64_t, B>::Vector;
  constexpr std::uint64_t low = 0xFFFFFFFFU;
  V c0 = (block + lane_numbers<std::uint64_t, B>().v), c1 = c0 >> 32;
  c0 &= low;
  V c2 = std::uint64_t{node} + V{}, c3 = std::uint64_t{step} + V{};
  std::uint64_t k0 = seed & low, k1 = seed >> 32;
  for (int round = 0; round < 10; ++round) {
    const V first = c0 * std::uint64_t{0xD2511F53U}, second = c2 * std::uint64_t{0xCD9E8D57U};
    c0 = (second >> 32) ^ c1 ^ k0;
    c1 = second & low;
    c2 = (first >> 32) ^ c3 ^ k1;
    c3 = first & low;
    k0 = (k0 + 0x9E3779B9U) & low;
    k1 = (k1 + 0xBB67AE85U) & low;
  }
  const V front = c0 | (c1 << 32), back = c2 | (c3 << 32);
  std::uint64_t pairs[2 * B];
  for (int b = 0; b < B; ++b) {
    pairs[2 * b] = front[b];
    pairs[2 * b + 1] = back[b];
  }
  __builtin_memcpy(words, pairs, sizeof(pairs));
}

} // namespace vector_detail

/// A draw in [0, 1) for each position.
template <int N>
[[nodiscard, gnu::noinline]] Pack<float, N> draw(const std::int64_t& seed, const std::int64_t& step,
                                                 const std::int64_t& node, const Pack<std::int64_t, N>& index) {
  const auto bits = static_cast<std::uint64_t>(seed);
  const auto lower_step = static_cast<std::uint32_t>(step), lower_node = static_cast<std::uint32_t>(node);
  const auto first = static_cast<std::uint64_t>(index.v[0]);
  Pack<float, N> result;
  if (any(index != Pack<std::int64_t, N>{index.v[0]} + lane_numbers<std::int64_t, N>())) [[unlikely]] {
    for (int i = 0; i < N; ++i)
      result.v[i] = random_uniform(bits, lower_step, lower_node, static_cast<std::uint64_t>(index.v[i]));
    return result;
  }
  // N positions touch at most N / 4 + 1 blocks
  constexpr int blocks = N >= 16 ? 8 : N >= 8 ? 4 : 2;
  std::uint32_t words[4 * blocks];
  vector_detail::consecutive_blocks<blocks>(bits, lower_step, lower_node, first / 4, words);
  const auto drawn = load<std::uint32_t, N>(words + first % 4);
  return convert_lanes<float>(Pack<std::int32_t, N>{(typename Pack<std::int32_t, N>::Vector)(drawn.v >> 8)}) *
         Pack<float, N>{0x1p-24F};
}

}}}} // namespace twill::v0::kernel::TWILL_ISA
