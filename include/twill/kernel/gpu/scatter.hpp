#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Writes by index on a GPU, with the results of a loop in row-major order: the places of the indices' entries are
// sorted, stably, so writes to one place are adjacent; then the last of them is written, or all are added one after the
// other. Only axes along which the indices vary are sorted; whole slices along the others follow. On the host:
// expr/scatter.hpp. Read next: kernel/gpu/sorted_writes.hpp.

#include <twill/core/bits.hpp>
#include <twill/core/error.hpp>
#include <twill/core/text.hpp>
#include <twill/kernel/gpu/axes.hpp>
#include <twill/kernel/gpu/sort.hpp>
#include <twill/kernel/gpu/sorted_writes.hpp>
#include <twill/kernel/on_queue.hpp>
#include <twill/memory/buffer.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace twill { inline namespace v0 { namespace kernel { namespace gpu {

inline constexpr int most_index_tensors = 3;

struct TargetParameters {
  const std::int64_t* index[most_index_tensors]{};
  Axes index_axes[most_index_tensors]{};
  std::int64_t step[most_index_tensors]{};
  int indices = 0;
  Axes to{};
  std::int64_t lowest = 0;
  std::int64_t count = 0;
  Target* keys = nullptr; ///< in elements from the lowest place
  std::uint32_t* values = nullptr;
};

/// Finds the place of each entry.
struct FindTargets {
  static constexpr int most_threads = tile_threads;

  template <class Block> constexpr void operator()(const Block& block, const TargetParameters& p) const {
    each_below(block, p.count, [&](std::int64_t i) {
      std::int64_t target = p.to.offset(i) - p.lowest;
      for (int k = 0; k < p.indices; ++k) target += p.index[k][p.index_axes[k].offset(i)] * p.step[k];
      p.keys[i] = static_cast<Target>(target);
      p.values[i] = static_cast<std::uint32_t>(i);
    });
  }
};

namespace detail {

template <bool Adds, class T, class D>
void write_sorted(const D& device, TargetParameters targets, SortedWrites<T> writes, int bits) {
  const std::int64_t count = targets.count;
  const memory::Buffer<D> order(device, static_cast<std::size_t>(count) * sizeof(std::uint32_t));
  auto* const sorted = static_cast<std::uint32_t*>(order.data());
  const RadixMemory<Target, D> memory(device, count, sorted);
  const bool in_one_block = count <= radix_tile;
  const int first = in_one_block ? 1 : first_for_sort(bits);
  int at = 0; // the buffers of sorted entries
  targets.keys = memory.buffers.keys[first];
  targets.values = memory.buffers.values[first];
  launch(device, [&](const auto& queue) { enqueue(queue, FindTargets{}, one_thread_each(count), targets); });
  if (in_one_block) {
    order_rows<false>(device, SortParameters<Target>{targets.keys, sorted, 1, count, bits});
    const TakeParameters<Target> taken{targets.keys, sorted, memory.buffers.keys[0], nullptr, count, count};
    launch(device, [&](const auto& queue) { enqueue(queue, TakeOrdered<Target>{}, one_thread_each(count), taken); });
  } else {
    at = radix_sort(device, memory.buffers, count, bits, first);
  }
  writes.keys = memory.buffers.keys[at];
  writes.order = memory.buffers.values[at];
  launch(device, [&](const auto& queue) { enqueue_writes<Adds>(queue, writes); });
}

} // namespace detail

/// Writes or adds the elements of a grid at the places of its plan, with the results of a loop in row-major order. All
/// places are between `lowest` and `highest`, in elements from `to`.
/// throws: ValueError (2^32 indices or more), OutOfMemoryError    cost: a sort of the indices
template <bool Adds, class Plan, class T, class D>
void scatter_elements(const D& device, const Plan& plan, std::int64_t lowest, std::int64_t highest, T* to,
                      const T* from) {
  if (plan.extents.elements() == 0) return;
  SortedWrites<T> writes{.from = from, .to = to + lowest};
  TargetParameters targets{.indices = static_cast<int>(plan.count), .lowest = lowest};
  std::int64_t entries = 1;
  for (int axis = 0; axis < plan.extents.rank; ++axis) {
    const std::int64_t extent = plan.extents[axis];
    if (extent == 1) continue;
    bool varies = plan.to_strides[axis] == 0; // several writes to one place
    for (std::size_t k = 0; k < plan.count; ++k) varies = varies || plan.index_strides[k][axis] != 0;
    if (!varies) {
      writes.to_slice.append(extent, plan.to_strides[axis]);
      writes.from_slice.append(extent, plan.from_strides[axis]);
      writes.slice *= extent;
      continue;
    }
    entries *= extent;
    targets.to.append(extent, plan.to_strides[axis]);
    writes.from_entry.append(extent, plan.from_strides[axis]);
    for (std::size_t k = 0; k < plan.count; ++k) targets.index_axes[k].append(extent, plan.index_strides[k][axis]);
  }
  if (entries > 0xffffffff)
    throw ValueError(join_text({"index: there are ", entries, " indices; on a GPU there are at most 4294967295"}));
  targets.count = writes.entries = entries;
  targets.to = merged(targets.to);
  writes.from_entry = merged(writes.from_entry);
  writes.from_slice = merged(writes.from_slice);
  writes.to_slice = merged(writes.to_slice);
  for (std::size_t k = 0; k < plan.count; ++k) {
    targets.index[k] = plan.index[k];
    targets.index_axes[k] = merged(targets.index_axes[k]);
    targets.step[k] = plan.step[k];
  }
  detail::write_sorted<Adds>(device, targets, writes, bits_needed(static_cast<std::uint64_t>(highest - lowest)));
}

}}}} // namespace twill::v0::kernel::gpu
