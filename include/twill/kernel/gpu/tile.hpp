#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Tile of elements, the unit of a block when their order matters (scans, selections, sorts): all threads have an equal
// number of neighbouring elements, and the results of earlier threads are combined in a fixed order. So results depend
// on the length alone, never on timing or the device. Read next: kernel/gpu/scan.hpp, kernel/gpu/select.hpp.

#include <twill/device/gpu/queue.hpp>
#include <twill/kernel/gpu/axes.hpp>
#include <twill/kernel/gpu/block.hpp>

#include <cstddef>
#include <cstdint>

namespace twill { inline namespace v0 { namespace kernel { namespace gpu {

inline constexpr int tile_threads = 256;
inline constexpr int tile_items = 16; ///< of a thread
inline constexpr int tile_elements = tile_threads * tile_items;

/// A grid with one thread for each of `count` items.
[[nodiscard]] constexpr twill::gpu::LaunchShape one_thread_each(std::int64_t count) {
  return {static_cast<unsigned>(groups_of(tile_threads, count)), tile_threads, 0};
}

/// Calls f(i) for each i below a count, on a thread of its own.
template <class Block, class F> constexpr void each_below(const Block& block, std::int64_t count, const F& f) {
  block.each([&](int thread) {
    const std::int64_t i = std::int64_t{block.block()} * tile_threads + thread;
    if (i < count) f(i);
  });
}

/// The position of element i of a tile in shared memory: a gap after each thread's elements prevents bank conflicts.
[[nodiscard]] constexpr int spread(int i) { return i + i / tile_items; }

/// Replaces every thread's value by the combination of those of all threads up to it. `room` is one value for each
/// thread in shared memory, and holds the results afterwards, too.
template <class Op, class T, class Block, class Values>
constexpr void scan_over_threads(const Block& block, Values& values, T* room) {
  for (int step = 1; step < block.threads(); step *= 2) {
    block.each([&](int thread) { room[thread] = values[thread]; });
    block.barrier();
    block.each([&](int thread) {
      if (thread >= step) values[thread] = Op::combine(room[thread - step], values[thread]);
    });
    block.barrier();
  }
  block.each([&](int thread) { room[thread] = values[thread]; });
  block.barrier();
}

/// Cuts a row into chunks of whole tiles, with few partial results.
struct Chunks {
  std::int64_t length = 0; ///< elements of a chunk; the last may be shorter
  std::int64_t count = 0;

  friend constexpr bool operator==(const Chunks&, const Chunks&) = default;
};
inline constexpr std::int64_t most_chunks = std::int64_t{1} << 20;

[[nodiscard]] constexpr Chunks chunks_of(std::int64_t rows, std::int64_t length) {
  std::int64_t tiles = 1;
  while (tiles * tile_elements < length && rows * groups_of(tiles * tile_elements, length) > most_chunks) tiles *= 2;
  return {tiles * tile_elements, groups_of(tiles * tile_elements, length)};
}

}}}} // namespace twill::v0::kernel::gpu
