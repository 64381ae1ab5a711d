#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Adding by index in compiled steps on a GPU, such as the gradient of an embedding: the places that indices name are sorted,
// stably, so that what goes to one place stands side by side, and one thread for each element of a place adds it up in the
// host's order. The bits are therefore the host's, whatever repeats; the work is linear. More indices than a stream's
// working memory sorts at once are added part after part, in order. Eager code: kernel/gpu/scatter.hpp.

#include <twill/core/bits.hpp>
#include <twill/kernel/apply.hpp>
#include <twill/kernel/blocks.hpp>
#include <twill/kernel/gpu/blocks.hpp>
#include <twill/kernel/gpu/queue_sort.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace twill::inline v0::kernel::gpu {

/// The indices as entries (outer, places, inner) along the axes on which they differ, and what follows each: `repeats` runs
/// of `run` elements. The key of an entry is its place among (outer, extent, inner).
struct IndexEntries {
  const std::int64_t* index = nullptr;
  IndexedBlocks blocks{};
  std::int64_t outer = 1;
  std::int64_t inner = 1;
  std::int64_t repeats = 1;
  std::int64_t run = 1;
  BlockIndices indices{};

  /// requires: entries
  constexpr IndexEntries(const std::int64_t* at, const IndexedBlocks& b) : index{at}, blocks{b} {
    (b.index_outer != 0 ? outer : repeats) = b.outer;
    (b.index_inner != 0 ? inner : run) = b.inner;
    indices = {outer, b.places, inner};
  }
  [[nodiscard]] constexpr std::int64_t count() const { return indices.elements(); }
  [[nodiscard]] constexpr std::int64_t targets() const { return outer * blocks.extent * inner; }
  /// Where an entry goes; behind all places where its index lies outside.
  [[nodiscard]] constexpr std::uint64_t key(std::int64_t entry) const {
    const auto [o, j, i] = indices(entry);
    const std::int64_t place =
        place_of(index[o * blocks.index_outer + j * blocks.index_place + i * blocks.index_inner], blocks.extent);
    return static_cast<std::uint64_t>(place < 0 ? targets() : (o * blocks.extent + place) * inner + i);
  }
};

struct EntryKeys {
  IndexEntries entries;
  std::int64_t first = 0; ///< of this part
  std::int64_t count = 0;
  std::uint64_t* keys = nullptr;
  std::uint32_t* values = nullptr;
};
struct FindEntries {
  static constexpr int most_threads = tile_threads;
  template <class Block> constexpr void operator()(const Block& block, const EntryKeys& p) const {
    each_below(block, p.count, [&](std::int64_t i) {
      p.keys[i] = p.entries.key(p.first + i);
      p.values[i] = static_cast<std::uint32_t>(i);
    });
  }
};

template <class T> struct EntrySums {
  const T* from = nullptr; ///< of this part's first entry
  T* to = nullptr;
  const std::uint64_t* keys = nullptr; ///< sorted
  const std::uint32_t* order = nullptr;
  std::int64_t count = 0;
  std::int64_t run = 1;
  std::int64_t from_repeat = 0; ///< elements between runs of an entry, and of a place
  std::int64_t to_repeat = 0;
  std::int64_t repeats = 1;
  std::uint64_t outside = 0; ///< the key of what goes nowhere
};
/// The first entry of a place adds them all to what is there.
template <class T> struct AddEntries {
  using C = compute_t<T>;
  static constexpr int most_threads = tile_threads;
  template <class Block> constexpr void operator()(const Block& block, const EntrySums<T>& p) const {
    each_below(block, p.repeats * p.count * p.run, [&](std::int64_t at) {
      const std::int64_t i = at % p.run;
      const std::int64_t first = at / p.run % p.count;
      const std::int64_t repeat = at / p.run / p.count;
      const std::uint64_t key = p.keys[first];
      if (key == p.outside || (first > 0 && p.keys[first - 1] == key)) return;
      const T* const from = p.from + repeat * p.from_repeat + i;
      T& to = p.to[static_cast<std::int64_t>(key) * p.run + repeat * p.to_repeat + i];
      C sum = static_cast<C>(to);
      for (std::int64_t e = first; e < p.count && p.keys[e] == key; ++e)
        sum = apply<Primitive::add>(sum, static_cast<C>(from[std::int64_t{p.order[e]} * p.run]));
      to = static_cast<T>(sum);
    });
  }
};

} // namespace twill::inline v0::kernel::gpu

namespace twill::inline v0::kernel::inline TWILL_ISA {

template <class T, twill::gpu::Runtime R>
void scatter_sums(const twill::gpu::Queue<R>& queue, const T* from, const std::int64_t* index, T* to,
                  const IndexedBlocks& blocks) {
  fill_elements(queue, to, Filling<T>{blocks.outer * blocks.extent * blocks.inner, T{}});
  if (blocks.outer * blocks.places * blocks.inner == 0 || blocks.extent == 0) return;
  const gpu::IndexEntries entries{index, blocks};
  const std::int64_t most = gpu::QueueSort<std::uint64_t>::most(queue.allowance().bytes);
  const int bits = bits_needed(static_cast<std::uint64_t>(entries.targets()));
  for (std::int64_t first = 0; first < entries.count(); first += most) {
    const std::int64_t count = std::min(most, entries.count() - first);
    gpu::QueueSort<std::uint64_t> sorted{queue, count};
    enqueue(queue, gpu::FindEntries{}, gpu::one_thread_each(count),
            gpu::EntryKeys{entries, first, count, sorted.keys(), sorted.values()});
    sorted.sort(queue, bits);
    enqueue(queue, gpu::AddEntries<T>{}, gpu::one_thread_each(entries.repeats * count * entries.run),
            gpu::EntrySums<T>{.from = from + first * entries.run,
                              .to = to,
                              .keys = sorted.keys(),
                              .order = sorted.values(),
                              .count = count,
                              .run = entries.run,
                              .from_repeat = blocks.places * blocks.inner,
                              .to_repeat = blocks.extent * blocks.inner,
                              .repeats = entries.repeats,
                              .outside = static_cast<std::uint64_t>(entries.targets())});
  }
}

} // namespace twill::inline v0::kernel::inline TWILL_ISA
