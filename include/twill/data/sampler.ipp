#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of data/sampler.hpp.

#include <twill/data/sampler.hpp>

namespace twill::inline v0::data::inline TWILL_ISA {

TWILL_BODY std::vector<std::int64_t> SequentialSampler::order(std::int64_t size, std::int64_t /*epoch*/) const {
  std::vector<std::int64_t> indices(static_cast<std::size_t>(size));
  std::iota(indices.begin(), indices.end(), std::int64_t{0});
  return indices;
}

TWILL_BODY std::vector<std::int64_t> ShuffledSampler::order(std::int64_t size, std::int64_t epoch) const {
  auto indices = SequentialSampler{}.order(size, epoch);
  for (std::int64_t i = size - 1; i > 0; --i) {
    const auto j =
        draw(static_cast<std::uint64_t>(i), static_cast<std::uint64_t>(epoch)) % (static_cast<std::uint64_t>(i) + 1);
    std::swap(indices[static_cast<std::size_t>(i)], indices[static_cast<std::size_t>(j)]);
  }
  return indices;
}

TWILL_BODY std::uint64_t ShuffledSampler::draw(std::uint64_t i, std::uint64_t epoch) const {
  const auto low = [](std::uint64_t value) { return static_cast<std::uint32_t>(value); };
  const auto high = [](std::uint64_t value) { return static_cast<std::uint32_t>(value >> 32); };
  const auto words = philox4x32({low(i), high(i), low(epoch), high(epoch)}, {low(seed), high(seed)});
  return std::uint64_t{words[1]} << 32 | words[0];
}

} // namespace twill::inline v0::data::inline TWILL_ISA
