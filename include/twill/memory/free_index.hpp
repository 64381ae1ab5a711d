#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Free lists with best fit in constant time. Sizes are counted in units of the granularity: up to 4096 units every size
// has its own list, above that every power of two has 64 lists, sorted by size. Two levels of bit masks tell which
// lists are not empty. Best fit is exact: no free block of the index is smaller and large enough. Source of the idea:
// Masmano et al., "TLSF: a new dynamic memory allocator" (2004). Read next: memory/pool.hpp.

#include <twill/memory/block.hpp>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace twill { inline namespace v0 { namespace memory {

template <std::size_t Granularity> class FreeIndex {
public:
  void insert(Block& block) noexcept {
    const std::size_t bin = bin_of(block.bytes);
    Block* before = nullptr;
    Block* after = heads_[bin];
    if (bin >= exact_bins) {
      while (after != nullptr && after->bytes < block.bytes) {
        before = after;
        after = after->next_free;
      }
    }
    block.previous_free = before;
    block.next_free = after;
    if (after != nullptr) after->previous_free = &block;
    if (before != nullptr) {
      before->next_free = &block;
    } else {
      heads_[bin] = &block;
      words_[bin / 64] |= std::uint64_t{1} << (bin % 64);
      summary_[bin / 4096] |= std::uint64_t{1} << (bin / 64 % 64);
    }
  }

  void erase(Block& block) noexcept {
    if (block.next_free != nullptr) block.next_free->previous_free = block.previous_free;
    if (block.previous_free != nullptr) {
      block.previous_free->next_free = block.next_free;
      return;
    }
    const std::size_t bin = bin_of(block.bytes);
    heads_[bin] = block.next_free;
    if (block.next_free != nullptr) return;
    words_[bin / 64] &= ~(std::uint64_t{1} << (bin % 64));
    if (words_[bin / 64] == 0) summary_[bin / 4096] &= ~(std::uint64_t{1} << (bin / 64 % 64));
  }

  /// The smallest free block of at least that many bytes, or null.
  [[nodiscard]] Block* best_fit(std::size_t bytes) const noexcept {
    const std::size_t bin = bin_of(bytes);
    if (bin >= exact_bins) { // the first list may hold smaller blocks too
      for (Block* block = heads_[bin]; block != nullptr; block = block->next_free)
        if (block->bytes >= bytes) return block;
      return first_from(bin + 1);
    }
    return first_from(bin);
  }

  /// Any free block, or null.
  [[nodiscard]] Block* any() const noexcept { return first_from(0); }

private:
  static constexpr std::size_t exact_bins = 4096;
  static constexpr std::size_t bins = exact_bins + 64 * 64;

  [[nodiscard]] static constexpr std::size_t bin_of(std::size_t bytes) noexcept {
    const std::size_t units = bytes / Granularity;
    if (units <= exact_bins) return units - 1;
    const auto exponent = static_cast<std::size_t>(std::bit_width(units)) - 1; // at least 12
    return exact_bins + (exponent - 12) * 64 + ((units >> (exponent - 6)) & 63);
  }

  [[nodiscard]] Block* first_from(std::size_t bin) const noexcept {
    std::size_t word = bin / 64;
    std::uint64_t bits = words_[word] & (~std::uint64_t{0} << (bin % 64));
    if (bits == 0) {
      ++word;
      std::size_t group = word / 64;
      if (group >= summary_.size()) return nullptr;
      std::uint64_t groups = summary_[group] & (~std::uint64_t{0} << (word % 64));
      while (groups == 0) {
        if (++group == summary_.size()) return nullptr;
        groups = summary_[group];
      }
      word = group * 64 + static_cast<std::size_t>(std::countr_zero(groups));
      bits = words_[word];
    }
    return heads_[word * 64 + static_cast<std::size_t>(std::countr_zero(bits))];
  }

  std::array<std::uint64_t, 2> summary_{};
  std::array<std::uint64_t, bins / 64> words_{};
  std::array<Block*, bins> heads_{};
};

}}} // namespace twill::v0::memory
