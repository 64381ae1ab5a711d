#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Stable sort of keys with 32-bit values on a queue, in the working memory that every stream has: nothing is allocated,
// so a compiled step may sort, its peak stays as planned, and a captured graph keeps its addresses. The caller sorts
// larger inputs part after part. Read next: kernel/gpu/index_sums.hpp, kernel/gpu/row_orders.hpp.

#include <twill/device/gpu/queue.hpp>
#include <twill/kernel/gpu/radix.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace twill { inline namespace v0 { namespace kernel { namespace gpu {

/// Body in which a block sorts all elements.
template <class Key> struct SortTile {
  static constexpr int most_threads = tile_threads;
  static constexpr std::size_t shared_bytes = RadixTile<Key>::bytes;

  template <class Block> constexpr void operator()(const Block& block, const RadixParameters<Key>& p) const {
    const auto load = [&](int i, Key& key, std::uint32_t& value) {
      key = p.keys[i];
      value = p.values[i];
    };
    sort_in_block<Key>(block, static_cast<int>(p.count), p.bits, load, [&](int i, std::uint32_t value, Key key) {
      p.to_keys[i] = key;
      p.to_values[i] = value;
    });
  }
};

/// Room for keys and values in a stream's working memory, which it holds as long as it exists: they are put into the
/// first of each pair of buffers.
template <class Key> class QueueSort {
  static constexpr std::size_t tile_bytes = radix_tile * 2 * (sizeof(Key) + 4) + RadixRoom::tile_bytes;

public:
  /// The number of elements that are sorted at once.
  [[nodiscard]] static constexpr std::int64_t most(std::size_t bytes) {
    return static_cast<std::int64_t>((bytes - RadixRoom::spare_bytes) / tile_bytes) * radix_tile;
  }

  /// requires: count <= most(queue.allowance().bytes)
  template <class Queue>
  QueueSort(const Queue& queue, std::int64_t count) : working_{queue.working_memory()}, count_{count} {
    Key* const keys = static_cast<Key*>(working_.memory());
    auto* const values = reinterpret_cast<std::uint32_t*>(keys + 2 * count);
    buffers_ = {{keys, keys + count}, {values, values + count}};
    room_ = {values + 2 * count, RadixRoom::bytes_for(count)};
  }

  [[nodiscard]] Key* keys() const { return buffers_.keys[now_]; }
  [[nodiscard]] std::uint32_t* values() const { return buffers_.values[now_]; }

  /// Sorts by the lower `bits` of the keys; equal keys keep their order. Both are in other buffers afterwards.
  template <class Queue> void sort(const Queue& queue, int bits) {
    if (bits == 0) return;
    if (count_ > radix_tile) {
      now_ = enqueue_radix_sort(queue, buffers_, room_, count_, bits, now_);
      return;
    }
    const RadixParameters<Key> all{
        .keys = keys(), .to_keys = keys(), .values = values(), .to_values = values(), .count = count_, .bits = bits};
    enqueue(queue, SortTile<Key>{}, twill::gpu::LaunchShape{1, threads_to_sort(count_), SortTile<Key>::shared_bytes},
            all);
  }

private:
  twill::gpu::WorkingMemory working_;
  RadixBuffers<Key> buffers_{};
  RadixRoom room_{};
  std::int64_t count_ = 0;
  int now_ = 0;
};

}}}} // namespace twill::v0::kernel::gpu
