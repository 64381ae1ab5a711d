#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// GPU bodies of the kernels of kernel/blocks.hpp and of running sums, for compiled steps: they need no memory of their
// own, so a step's peak stays as planned, and their results do not depend on the order of threads. Read next:
// kernel/gpu/index_sums.hpp, kernel/gpu/row_orders.hpp.

#include <twill/device/gpu/queue.hpp>
#include <twill/kernel/blocks.hpp>
#include <twill/kernel/gpu/block.hpp>
#include <twill/kernel/gpu/divisor.hpp>
#include <twill/kernel/gpu/scan.hpp>
#include <twill/kernel/gpu/tile.hpp>

#include <cstddef>
#include <cstdint>

namespace twill { inline namespace v0 { namespace kernel { namespace gpu {

/// Splits the number of one of (outer, count, inner) row-major elements.
class BlockIndices {
public:
  struct Index {
    std::int64_t outer = 0;
    std::int64_t middle = 0;
    std::int64_t inner = 0;
  };
  constexpr BlockIndices() = default;
  /// requires: elements
  constexpr BlockIndices(std::int64_t outer, std::int64_t count, std::int64_t inner)
      : elements_{outer * count * inner}, count_(count, elements_), inner_(inner, elements_) {}

  [[nodiscard]] constexpr std::int64_t elements() const { return elements_; }
  [[nodiscard]] constexpr Index operator()(std::int64_t number) const {
    const IndexDivisor::Parts row = inner_.parts(number);
    const IndexDivisor::Parts block = count_.parts(row.quotient);
    return {block.quotient, block.rest, row.rest};
  }

private:
  std::int64_t elements_ = 0;
  IndexDivisor count_{};
  IndexDivisor inner_{};
};

template <class T> struct MoveParameters {
  const T* from = nullptr;
  T* to = nullptr;
  Blocks blocks{};
  BlockIndices indices{};
};
template <class T> struct MoveBlocks {
  static constexpr int most_threads = tile_threads;
  template <class Block> constexpr void operator()(const Block& block, const MoveParameters<T>& p) const {
    const Blocks& b = p.blocks;
    each_below(block, p.indices.elements(), [&](std::int64_t number) {
      const auto [o, r, i] = p.indices(number);
      p.to[o * b.to_outer + r * b.to_count + i] = p.from[o * b.from_outer + r * b.from_count + i];
    });
  }
};

template <class T> struct FillParameters {
  T* to = nullptr;
  Filling<T> filling{};
};
template <class T> struct FillElements {
  static constexpr int most_threads = tile_threads;
  template <class Block> constexpr void operator()(const Block& block, const FillParameters<T>& p) const {
    each_below(block, p.filling.count, [&](std::int64_t i) { p.to[i] = p.filling.value; });
  }
};

template <class T> struct IndexedParameters {
  const T* from = nullptr;
  const std::int64_t* index = nullptr;
  T* to = nullptr;
  IndexedBlocks blocks{};
  BlockIndices indices{};

  /// The place for element i of place j of row o, -1 for none.
  [[nodiscard]] constexpr std::int64_t place(std::int64_t o, std::int64_t j, std::int64_t i) const {
    return place_of(index[o * blocks.index_outer + j * blocks.index_place + i * blocks.index_inner], blocks.extent);
  }
};
template <class T> struct GatherBlocks {
  static constexpr int most_threads = tile_threads;
  template <class Block> constexpr void operator()(const Block& block, const IndexedParameters<T>& p) const {
    const IndexedBlocks& b = p.blocks;
    each_below(block, p.indices.elements(), [&](std::int64_t at) {
      const auto [o, j, i] = p.indices(at);
      const std::int64_t place = p.place(o, j, i);
      p.to[at] = place < 0 ? T{} : p.from[(o * b.extent + place) * b.inner + i];
    });
  }
};

}}}} // namespace twill::v0::kernel::gpu

namespace twill { inline namespace v0 { namespace kernel { inline namespace TWILL_ISA {

template <class T, twill::gpu::Runtime R>
void move_blocks(const twill::gpu::Queue<R>& queue, const T* from, T* to, const Blocks& blocks) {
  const std::int64_t count = blocks.outer * blocks.count * blocks.run;
  if (count > 0)
    enqueue(queue, gpu::MoveBlocks<T>{}, gpu::one_thread_each(count),
            gpu::MoveParameters<T>{from, to, blocks, {blocks.outer, blocks.count, blocks.run}});
}

template <class T, twill::gpu::Runtime R>
void fill_elements(const twill::gpu::Queue<R>& queue, T* to, const Filling<T>& filling) {
  if (filling.count > 0)
    enqueue(queue, gpu::FillElements<T>{}, gpu::one_thread_each(filling.count), gpu::FillParameters<T>{to, filling});
}

template <class T, twill::gpu::Runtime R>
void gather_blocks(const twill::gpu::Queue<R>& queue, const T* from, const std::int64_t* index, T* to,
                   const IndexedBlocks& blocks) {
  const std::int64_t count = blocks.outer * blocks.places * blocks.inner;
  if (count > 0)
    enqueue(queue, gpu::GatherBlocks<T>{}, gpu::one_thread_each(count),
            gpu::IndexedParameters<T>{from, index, to, blocks, {blocks.outer, blocks.places, blocks.inner}});
}

/// Running sums, products or extremes in the order of eager code, with the totals of chunks in the stream's working
/// memory where they fit; otherwise rows are scanned whole, one block or thread each.
template <class Op, class T, twill::gpu::Runtime R>
void running(const twill::gpu::Queue<R>& queue, const T* from, T* to, const ScanShape& shape) {
  using C = compute_t<T>;
  if (shape.outer * shape.length * shape.inner == 0) return;
  gpu::ScanPlan plan = gpu::plan_scan(shape);
  if (static_cast<std::size_t>(gpu::scan_totals(shape, plan)) * sizeof(C) > queue.allowance().bytes) {
    plan.chunk = gpu::groups_of(gpu::tile_elements, shape.length) * gpu::tile_elements;
    plan.chunks = 1;
    plan.blocks = plan.by_columns ? gpu::groups_of(gpu::tile_threads, shape.outer * shape.inner) : shape.outer;
  }
  const twill::gpu::WorkingMemory working = queue.working_memory();
  gpu::enqueue_scan<Op>(queue, from, to, shape, plan, static_cast<C*>(working.memory()));
}

}}}} // namespace twill::v0::kernel::TWILL_ISA
