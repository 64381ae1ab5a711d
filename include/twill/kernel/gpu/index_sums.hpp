#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Sums by index in compiled steps on a GPU, such as the gradient of an embedding: the places that indices name are
// sorted, stably, so that elements for one place are adjacent and are added in the host's order
// (kernel/gpu/sorted_writes.hpp). The bits are therefore the host's, whatever repeats; the work is linear. More indices
// than a stream's working memory sorts are added part after part, in order. Read next: kernel/gpu/scatter.hpp.

#include <twill/core/bits.hpp>
#include <twill/kernel/blocks.hpp>
#include <twill/kernel/gpu/blocks.hpp>
#include <twill/kernel/gpu/queue_sort.hpp>
#include <twill/kernel/gpu/sorted_writes.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace twill { inline namespace v0 { namespace kernel { namespace gpu {

/// The indices as entries (outer, places, inner) along the axes on which they differ, and the elements of each:
/// `repeats` runs of `run` elements. The key of an entry is its place among (outer, extent, inner).
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
  /// The place of an entry; after all places where its index is outside.
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

}}}} // namespace twill::v0::kernel::gpu

namespace twill { inline namespace v0 { namespace kernel { inline namespace TWILL_ISA {

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
    gpu::SortedWrites<T> writes{.from = from + first * entries.run,
                                .to = to,
                                .keys = sorted.keys(),
                                .order = sorted.values(),
                                .entries = count,
                                .slice = entries.run,
                                .repeats = entries.repeats,
                                .key_step = entries.run,
                                .from_repeat = blocks.places * blocks.inner,
                                .to_repeat = blocks.extent * blocks.inner,
                                .outside = static_cast<gpu::Target>(entries.targets())};
    writes.from_entry.append(count, entries.run);
    writes.from_slice.append(entries.run, 1);
    writes.to_slice.append(entries.run, 1);
    gpu::enqueue_writes<true>(queue, writes);
  }
}

}}}} // namespace twill::v0::kernel::TWILL_ISA
