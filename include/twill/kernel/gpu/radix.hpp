#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Stable radix sort of keys with 32-bit values: in one block where all of it fits into shared memory, four bits at a
// time (Satish, Harris and Garland, "Designing efficient sorting algorithms for manycore GPUs", 2009), otherwise by the
// library of the device, CUB on CUDA (kernel/cuda/radix.cuh): any stable sort gives one order.
// Read next: kernel/gpu/sort.hpp.

#include <twill/core/bits.hpp>
#include <twill/device/gpu/queue.hpp>
#include <twill/kernel/gpu/axes.hpp>
#include <twill/kernel/gpu/tile.hpp>
#include <twill/memory/buffer.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace twill { inline namespace v0 { namespace kernel { namespace gpu {

inline constexpr int digit_bits = 4;
inline constexpr int digits = 1 << digit_bits;
inline constexpr int radix_items = 8; ///< of a thread
inline constexpr int radix_tile = tile_threads * radix_items;

/// The threads of a block that sorts `count` elements.
[[nodiscard]] constexpr unsigned threads_to_sort(std::int64_t count) {
  return std::max(
      32U, static_cast<unsigned>(power_of_two_around(static_cast<std::uint64_t>(groups_of(radix_items, count)))));
}

/// How many elements have each digit, in 16 bits each: a tile has fewer.
struct DigitCounts {
  std::uint64_t words[digits / 4]{};

  constexpr void add_one(int digit) {
    for (int word = 0; word < digits / 4; ++word) // no index that depends on data: the words stay in registers
      words[word] += digit / 4 == word ? std::uint64_t{1} << (16 * (digit % 4)) : 0;
  }
  [[nodiscard]] constexpr int operator[](int digit) const {
    std::uint64_t word = 0;
    for (int w = 0; w < digits / 4; ++w) word |= digit / 4 == w ? words[w] : 0;
    return static_cast<int>(word >> (16 * (digit % 4)) & 0xffffU);
  }
  /// The count of all smaller digits.
  [[nodiscard]] constexpr DigitCounts before() const {
    DigitCounts sums{};
    std::uint64_t sum = 0;
    for (int digit = 0; digit < digits; ++digit) {
      sums.words[digit / 4] |= sum << (16 * (digit % 4));
      sum += words[digit / 4] >> (16 * (digit % 4)) & 0xffffU;
    }
    return sums;
  }
  friend constexpr DigitCounts operator+(const DigitCounts& a, const DigitCounts& b) {
    DigitCounts sum{};
    for (int word = 0; word < digits / 4; ++word) sum.words[word] = a.words[word] + b.words[word];
    return sum;
  }
};
struct AddCounts {
  static constexpr DigitCounts combine(const DigitCounts& a, const DigitCounts& b) { return a + b; }
};

template <class Key> [[nodiscard]] constexpr int digit_of(Key key, int shift) {
  return static_cast<int>(key >> shift & (digits - 1));
}

/// A tile in shared memory.
template <class Key> struct RadixTile {
  Key* keys;
  std::uint32_t* values;
  DigitCounts* room; ///< one for each thread

  static constexpr int places = radix_tile + radix_tile / radix_items;
  static constexpr std::size_t bytes =
      places * (sizeof(Key) + sizeof(std::uint32_t)) + tile_threads * sizeof(DigitCounts);
  [[nodiscard]] static constexpr int place(int i) { return i + i / radix_items; }

  template <class Block> static constexpr RadixTile in(const Block& block) {
    DigitCounts* const room = block.template shared<DigitCounts>();
    return {block.template shared<Key>(tile_threads * sizeof(DigitCounts)),
            block.template shared<std::uint32_t>(tile_threads * sizeof(DigitCounts) + places * sizeof(Key)), room};
  }
};

/// The values that a thread holds while its elements move.
template <class Key> struct Moved {
  Key keys[radix_items];
  std::uint32_t values[radix_items];
  int to[radix_items];
};

/// Sorts the first `count` elements of a tile by one digit. The counts of all digits are in the last thread's room
/// afterwards.
template <class Key, class Block>
constexpr void order_tile(const Block& block, const RadixTile<Key>& tile, int count, int shift) {
  typename Block::template Local<DigitCounts> own{};
  block.each([&](int thread) {
    DigitCounts counts{};
    const int start = thread * radix_items;
    for (int i = 0; i < radix_items; ++i)
      if (start + i < count) counts.add_one(digit_of(tile.keys[tile.place(start + i)], shift));
    own[thread] = counts;
  });
  scan_over_threads<AddCounts>(block, own, tile.room);
  typename Block::template Local<Moved<Key>> moved{};
  block.each([&](int thread) {
    DigitCounts next = tile.room[block.threads() - 1].before();
    if (thread > 0) next = next + tile.room[thread - 1];
    const int start = thread * radix_items;
    for (int i = 0; i < radix_items; ++i) {
      if (start + i >= count) continue;
      const Key key = tile.keys[tile.place(start + i)];
      const int digit = digit_of(key, shift);
      moved[thread].keys[i] = key;
      moved[thread].values[i] = tile.values[tile.place(start + i)];
      moved[thread].to[i] = next[digit];
      next.add_one(digit);
    }
  });
  block.barrier();
  block.each([&](int thread) {
    const int start = thread * radix_items;
    for (int i = 0; i < radix_items; ++i) {
      if (start + i >= count) continue;
      tile.keys[tile.place(moved[thread].to[i])] = moved[thread].keys[i];
      tile.values[tile.place(moved[thread].to[i])] = moved[thread].values[i];
    }
  });
  block.barrier();
}

/// Sorts up to `radix_tile` elements in a block by the lower `bits` of their keys. `load(i, key, value)` sets one,
/// and `store(i, value, key)` takes what is there afterwards.
template <class Key, class Block, class Load, class Store>
constexpr void sort_in_block(const Block& block, int count, int bits, const Load& load, const Store& store) {
  const auto tile = RadixTile<Key>::in(block);
  block.each([&](int thread) {
    for (int i = thread; i < count; i += block.threads()) load(i, tile.keys[tile.place(i)], tile.values[tile.place(i)]);
  });
  block.barrier();
  for (int shift = 0; shift < bits; shift += digit_bits) order_tile(block, tile, count, shift);
  block.each([&](int thread) {
    for (int i = thread; i < count; i += block.threads())
      store(i, tile.values[tile.place(i)], tile.keys[tile.place(i)]);
  });
}

template <class Key> struct RadixParameters {
  const Key* keys = nullptr;
  Key* to_keys = nullptr;
  const std::uint32_t* values = nullptr;
  std::uint32_t* to_values = nullptr;
  std::int64_t count = 0;
  int bits = 0; ///< lower ones of the keys, by which elements are sorted
};

/// Keys and values to be sorted, and room for as many.
template <class Key> struct RadixBuffers {
  Key* keys[2]{};
  std::uint32_t* values[2]{};
};

/// The buffer of each pair from which a sort most likely ends in the first: libraries sort eight bits at a time.
[[nodiscard]] constexpr int first_for_sort(int bits) { return (bits + 7) / 8 % 2; }

/// Memory beside the buffers of a library's sort.
struct RadixRoom {
  void* memory = nullptr;
  std::size_t bytes = 0;

  static constexpr std::size_t spare_bytes = 64U << 10; ///< a library's counts of digits, and alignment
  static constexpr std::size_t tile_bytes = 1024;       ///< for `radix_tile` elements

  [[nodiscard]] static constexpr std::size_t bytes_for(std::int64_t count) {
    return spare_bytes + static_cast<std::size_t>(groups_of(radix_tile, count)) * tile_bytes;
  }
};

/// Enqueues a sort by the lower `bits` of the keys, from the given one of each pair of buffers; equal keys keep their
/// order. Returns which buffers hold the result. The queues of a driver have an overload that is more special; that of
/// CUDA is kernel/cuda/radix.cuh.
/// requires: at least one element and fewer than 2^32, and `room.bytes_for(count)`
template <class Key, class Queue>
int enqueue_radix_sort(const Queue&, const RadixBuffers<Key>&, const RadixRoom&, std::int64_t, int, int) {
  static_assert(sizeof(Key) == 0, "twill: sort: CUDA devices sort by CUB; include <twill/kernel/cuda/radix.cuh>");
  return 0;
}

/// Sorts by the lower `bits` of the keys, from the given one of each pair of buffers; equal keys keep their order.
/// Returns which buffers hold the result.
/// requires: fewer than 2^32 elements    throws: OutOfMemoryError
template <class Key, class D>
[[nodiscard]] int radix_sort(const D& device, const RadixBuffers<Key>& buffers, std::int64_t count, int bits,
                             int from) {
  if (count == 0) return from;
  const std::size_t bytes = RadixRoom::bytes_for(count);
  const memory::Buffer<D> memory(device, bytes);
  launch(device, [&](const auto& queue) {
    from = enqueue_radix_sort(queue, buffers, RadixRoom{memory.data(), bytes}, count, bits, from);
  });
  return from;
}

}}}} // namespace twill::v0::kernel::gpu
