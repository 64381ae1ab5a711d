#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// The kernels of kernel/blocks.hpp, kernel/places.hpp and running sums as bodies for a GPU, for compiled steps: they need no
// memory of their own, so a step's peak stays what its plan says, and their results do not depend on the order of threads.
// Simple rather than fast where indices repeat or rows are long: adding by index looks at all indices of a row, ordering at
// all its elements. Eager code uses kernel/gpu/scatter.hpp and kernel/gpu/sort.hpp.

#include <twill/device/gpu/queue.hpp>
#include <twill/kernel/apply.hpp>
#include <twill/kernel/blocks.hpp>
#include <twill/kernel/gpu/block.hpp>
#include <twill/kernel/gpu/scan.hpp>
#include <twill/kernel/gpu/sort.hpp>
#include <twill/kernel/places.hpp>

#include <cstddef>
#include <cstdint>

namespace twill::inline v0::kernel::gpu {

/// Calls f(i) for each i below a count, on a thread of its own.
template <class Block, class F> constexpr void each_below(const Block& block, std::int64_t count, const F& f) {
  block.each([&](int thread) {
    const std::int64_t i = std::int64_t{block.block()} * tile_threads + thread;
    if (i < count) f(i);
  });
}

template <class T> struct MoveParameters {
  const T* from = nullptr;
  T* to = nullptr;
  Blocks blocks{};
};
template <class T> struct MoveBlocks {
  static constexpr int most_threads = tile_threads;
  template <class Block> constexpr void operator()(const Block& block, const MoveParameters<T>& p) const {
    const Blocks& b = p.blocks;
    each_below(block, b.outer * b.count * b.run, [&](std::int64_t i) {
      const std::int64_t r = i / b.run;
      const std::int64_t o = r / b.count;
      p.to[o * b.to_outer + (r - o * b.count) * b.to_count + i - r * b.run] =
          p.from[o * b.from_outer + (r - o * b.count) * b.from_count + i - r * b.run];
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

  /// Where element i of place j of row o belongs, -1 for nowhere.
  [[nodiscard]] constexpr std::int64_t place(std::int64_t o, std::int64_t j, std::int64_t i) const {
    return place_of(index[o * blocks.index_outer + j * blocks.index_place + i * blocks.index_inner], blocks.extent);
  }
};
template <class T> struct GatherBlocks {
  static constexpr int most_threads = tile_threads;
  template <class Block> constexpr void operator()(const Block& block, const IndexedParameters<T>& p) const {
    const IndexedBlocks& b = p.blocks;
    each_below(block, b.outer * b.places * b.inner, [&](std::int64_t at) {
      const std::int64_t i = at % b.inner;
      const std::int64_t o = at / b.inner / b.places;
      const std::int64_t place = p.place(o, at / b.inner % b.places, i);
      p.to[at] = place < 0 ? T{} : p.from[(o * b.extent + place) * b.inner + i];
    });
  }
};

/// The first of the indices that name a place adds for all of them, in order; the memory was cleared before.
template <class T> struct ScatterSums {
  using C = compute_t<T>;
  static constexpr int most_threads = tile_threads;
  template <class Block> constexpr void operator()(const Block& block, const IndexedParameters<T>& p) const {
    const IndexedBlocks& b = p.blocks;
    each_below(block, b.outer * b.places * b.inner, [&](std::int64_t at) {
      const std::int64_t i = at % b.inner;
      const std::int64_t j = at / b.inner % b.places;
      const std::int64_t o = at / b.inner / b.places;
      const std::int64_t place = p.place(o, j, i);
      if (place < 0) return;
      for (std::int64_t before = 0; before < j; ++before)
        if (p.place(o, before, i) == place) return;
      C sum{};
      for (std::int64_t k = j; k < b.places; ++k)
        if (p.place(o, k, i) == place)
          sum = apply<Primitive::add>(sum, static_cast<C>(p.from[(o * b.places + k) * b.inner + i]));
      p.to[(o * b.extent + place) * b.inner + i] = static_cast<T>(sum);
    });
  }
};

template <class T> struct PlaceParameters {
  const T* from = nullptr;
  std::int64_t* to = nullptr;
  PlaceRows rows{};
};
/// An element's position in order is how many come before it.
template <class T> struct OrderPlaces {
  static constexpr int most_threads = tile_threads;
  template <class Block> constexpr void operator()(const Block& block, const PlaceParameters<T>& p) const {
    const PlaceRows& r = p.rows;
    each_below(block, r.outer * r.length * r.inner, [&](std::int64_t at) {
      const std::int64_t i = at % r.inner;
      const std::int64_t j = at / r.inner % r.length;
      const std::int64_t o = at / r.inner / r.length;
      const T* const row = p.from + o * r.length * r.inner + i;
      const PlacedKey own{sort_key(row[j * r.inner], r.is_descending), j};
      std::int64_t position = 0;
      for (std::int64_t k = 0; k < r.length; ++k)
        position += PlacedKey{sort_key(row[k * r.inner], r.is_descending), k} < own ? 1 : 0;
      if (position < r.count) p.to[(o * r.count + position) * r.inner + i] = j;
    });
  }
};

} // namespace twill::inline v0::kernel::gpu

namespace twill::inline v0::kernel::inline TWILL_ISA {

template <class T, twill::gpu::Runtime R>
void move_blocks(const twill::gpu::Queue<R>& queue, const T* from, T* to, const Blocks& blocks) {
  const std::int64_t count = blocks.outer * blocks.count * blocks.run;
  if (count > 0)
    enqueue(queue, gpu::MoveBlocks<T>{}, gpu::one_thread_each(count), gpu::MoveParameters<T>{from, to, blocks});
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
            gpu::IndexedParameters<T>{from, index, to, blocks});
}

template <class T, twill::gpu::Runtime R>
void scatter_sums(const twill::gpu::Queue<R>& queue, const T* from, const std::int64_t* index, T* to,
                  const IndexedBlocks& blocks) {
  fill_elements(queue, to, Filling<T>{blocks.outer * blocks.extent * blocks.inner, T{}});
  const std::int64_t count = blocks.outer * blocks.places * blocks.inner;
  if (count > 0)
    enqueue(queue, gpu::ScatterSums<T>{}, gpu::one_thread_each(count),
            gpu::IndexedParameters<T>{from, index, to, blocks});
}

/// Rows are scanned whole, one block or thread each.
template <class T, twill::gpu::Runtime R>
void running_sums(const twill::gpu::Queue<R>& queue, const T* from, T* to, const ScanShape& shape) {
  if (shape.outer * shape.length * shape.inner == 0) return;
  gpu::ScanPlan plan = gpu::plan_scan(shape);
  plan.chunk = gpu::groups_of(gpu::tile_elements, shape.length) * gpu::tile_elements;
  plan.chunks = 1;
  plan.blocks = plan.by_columns ? gpu::groups_of(gpu::tile_threads, shape.outer * shape.inner) : shape.outer;
  gpu::ScanParameters<T> parameters{};
  parameters.from = from;
  parameters.to = to;
  parameters.length = shape.length;
  parameters.inner = shape.inner;
  parameters.chunk = plan.chunk;
  parameters.lines = shape.outer * shape.inner;
  gpu::enqueue_scan<Running<Reduction::sum>>(queue, parameters, plan);
}

template <class T, twill::gpu::Runtime R>
void order_places(const twill::gpu::Queue<R>& queue, const T* from, std::int64_t* to, const PlaceRows& rows) {
  const std::int64_t count = rows.outer * rows.length * rows.inner;
  if (count > 0 && rows.count > 0)
    enqueue(queue, gpu::OrderPlaces<T>{}, gpu::one_thread_each(count), gpu::PlaceParameters<T>{from, to, rows});
}

} // namespace twill::inline v0::kernel::inline TWILL_ISA
