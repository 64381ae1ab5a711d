#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Scans on a GPU: rows by blocks, tile after tile; columns by a thread each. Long lines are cut into chunks whose
// totals are scanned first, so they are read twice. The chunks depend on the shape alone, so results are equal on every
// device and in every run. Read next: kernel/scan.hpp, which has these functions for hosts.

#include <twill/device/gpu/queue.hpp>
#include <twill/kernel/apply.hpp>
#include <twill/kernel/gpu/tile.hpp>
#include <twill/kernel/on_queue.hpp>
#include <twill/kernel/scan.hpp>
#include <twill/memory/buffer.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace twill { inline namespace v0 { namespace kernel { namespace gpu {

/// The plan of a scan of one shape.
struct ScanPlan {
  bool by_columns = false; ///< a thread walks along the scanned axis; otherwise a block does
  std::int64_t chunk = 0;  ///< elements along the axis that are scanned from their own start
  std::int64_t chunks = 0; ///< of each line
  std::int64_t blocks = 0;

  friend constexpr bool operator==(const ScanPlan&, const ScanPlan&) = default;
};

/// Short rows are treated as columns: a block would be idle. Where there are many lines, none is cut.
[[nodiscard]] constexpr ScanPlan plan_scan(const ScanShape& shape) {
  constexpr std::int64_t short_row = 64, many_columns = 8192, many_rows = 512, cuts = 256;
  ScanPlan plan{.by_columns = shape.inner > 1 || shape.length <= short_row};
  if (plan.by_columns) {
    const std::int64_t columns = shape.outer * shape.inner;
    const bool whole = columns >= many_columns || shape.length <= short_row;
    plan.chunk = whole ? shape.length : std::max(short_row, groups_of(cuts, shape.length));
    plan.chunks = groups_of(plan.chunk, shape.length);
    plan.blocks = groups_of(tile_threads, columns * plan.chunks);
  } else {
    const Chunks cut = chunks_of(shape.outer, shape.length);
    const bool whole = shape.outer >= many_rows;
    plan.chunk = whole ? groups_of(tile_elements, shape.length) * tile_elements : cut.length;
    plan.chunks = whole ? 1 : cut.count;
    plan.blocks = shape.outer * plan.chunks;
  }
  return plan;
}

/// `outer` blocks of `length` by `inner` elements, cut along `length`.
template <class T> struct ScanParameters {
  using C = compute_t<T>;
  const T* from = nullptr;
  T* to = nullptr;           ///< null: only totals are wanted
  C* totals = nullptr;       ///< of each chunk; null: not wanted
  const C* before = nullptr; ///< totals of all chunks up to each one
  std::int64_t length = 0;
  std::int64_t inner = 1;
  std::int64_t chunk = 0;
  std::int64_t chunks = 1;
  std::int64_t lines = 0; ///< with columns: chunks of all columns
};

/// Body in which a block scans one chunk of a row.
template <class Op, class T> struct ScanRows {
  using C = compute_t<T>;
  static constexpr int most_threads = tile_threads;
  static constexpr std::size_t shared_bytes =
      static_cast<std::size_t>(spread(tile_elements) + tile_threads + 2) * sizeof(C);

  template <class Block> constexpr void operator()(const Block& block, const ScanParameters<T>& p) const {
    C* const items = block.template shared<C>();
    C* const room = items + spread(tile_elements);
    C* const carried = room + tile_threads;
    const std::int64_t chunk = block.block() % p.chunks;
    const std::int64_t row = block.block() / p.chunks * p.length;
    const std::int64_t begin = chunk * p.chunk;
    const std::int64_t end = std::min(begin + p.chunk, p.length);
    bool follows = chunk > 0 && p.before != nullptr;
    if (follows)
      block.each([&](int thread) {
        if (thread == 0) *carried = p.before[block.block() - 1];
      });
    typename Block::template Local<C> own{};
    for (std::int64_t first = begin; first < end; first += tile_elements) {
      const int count = static_cast<int>(std::min<std::int64_t>(tile_elements, end - first));
      const T* const from = p.from + row + first;
      block.each([&](int thread) {
        for (int i = thread; i < count; i += tile_threads) items[spread(i)] = static_cast<C>(from[i]);
      });
      block.barrier();
      block.each([&](int thread) {
        const int start = thread * tile_items;
        C running{};
        for (int i = start; i < std::min(start + tile_items, count); ++i) {
          running = i == start ? items[spread(i)] : Op::combine(running, items[spread(i)]);
          items[spread(i)] = running;
        }
        own[thread] = running;
      });
      scan_over_threads<Op>(block, own, room);
      if (p.to != nullptr) {
        block.each([&](int thread) {
          const int start = thread * tile_items;
          if (thread == 0 && !follows) return;
          const C before = thread == 0 ? *carried
                           : follows   ? Op::combine(*carried, room[thread - 1])
                                       : room[thread - 1];
          for (int i = start; i < std::min(start + tile_items, count); ++i)
            items[spread(i)] = Op::combine(before, items[spread(i)]);
        });
        block.barrier();
        T* const to = p.to + row + first;
        block.each([&](int thread) {
          for (int i = thread; i < count; i += tile_threads) to[i] = static_cast<T>(items[spread(i)]);
        });
      }
      block.each([&](int thread) {
        if (thread != 0) return;
        const C all = room[(count - 1) / tile_items];
        *carried = follows ? Op::combine(*carried, all) : all;
      });
      block.barrier();
      follows = true;
    }
    if (p.totals != nullptr)
      block.each([&](int thread) {
        if (thread == 0) p.totals[block.block()] = *carried;
      });
  }
};

/// Body in which a thread scans one chunk of a column.
template <class Op, class T> struct ScanColumns {
  using C = compute_t<T>;
  static constexpr int most_threads = tile_threads;

  template <class Block> constexpr void operator()(const Block& block, const ScanParameters<T>& p) const {
    each_below(block, p.lines, [&](std::int64_t line) {
      const std::int64_t rest = line / p.inner; // line = (outer * chunks + chunk) * inner + column
      const std::int64_t chunk = rest % p.chunks;
      const std::int64_t start = rest / p.chunks * p.length * p.inner + line % p.inner;
      const bool follows = chunk > 0 && p.before != nullptr;
      const C before = follows ? p.before[line - p.inner] : C{};
      C running{};
      C all{};
      const std::int64_t begin = chunk * p.chunk;
      for (std::int64_t k = begin; k < std::min(begin + p.chunk, p.length); ++k) {
        const C item = static_cast<C>(p.from[start + k * p.inner]);
        running = k == begin ? item : Op::combine(running, item);
        all = follows ? Op::combine(before, running) : running;
        if (p.to != nullptr) p.to[start + k * p.inner] = static_cast<T>(all);
      }
      if (p.totals != nullptr) p.totals[line] = all;
    });
  }
};

/// One launch of a scan.
template <class Op, class T, class Queue>
void enqueue_scan(const Queue& queue, const ScanParameters<T>& parameters, const ScanPlan& plan) {
  twill::gpu::LaunchShape shape{static_cast<unsigned>(plan.blocks), tile_threads, 0};
  if (plan.by_columns) return enqueue(queue, ScanColumns<Op, T>{}, shape, parameters);
  shape.shared_bytes = ScanRows<Op, T>::shared_bytes;
  enqueue(queue, ScanRows<Op, T>{}, shape, parameters);
}

/// The number of chunk totals that a scan keeps while it runs.
[[nodiscard]] constexpr std::int64_t scan_totals(const ScanShape& shape, const ScanPlan& plan) {
  return plan.chunks == 1 ? 0 : shape.outer * plan.chunks * shape.inner;
}

/// All launches of a scan; source and result may be one. `totals` has room for `scan_totals`.
/// requires: elements    cost: what is cut into chunks is read twice
template <class Op, class T, class Queue>
void enqueue_scan(const Queue& queue, const T* from, T* to, const ScanShape& shape, const ScanPlan& plan,
                  compute_t<T>* totals) {
  using C = compute_t<T>;
  ScanParameters<T> own{.from = from,
                        .to = to,
                        .length = shape.length,
                        .inner = shape.inner,
                        .chunk = plan.chunk,
                        .chunks = plan.chunks,
                        .lines = shape.outer * plan.chunks * shape.inner};
  if (plan.chunks == 1) return enqueue_scan<Op>(queue, own, plan);
  const std::int64_t whole = groups_of(tile_elements, plan.chunks) * tile_elements;
  ScanPlan over{.by_columns = plan.by_columns, .chunk = whole, .chunks = 1, .blocks = shape.outer};
  if (over.by_columns) over.blocks = groups_of(tile_threads, shape.outer * shape.inner);
  const ScanParameters<C> of_totals{.from = totals,
                                    .to = totals,
                                    .length = plan.chunks,
                                    .inner = shape.inner,
                                    .chunk = whole,
                                    .lines = shape.outer * shape.inner};
  own.to = nullptr;
  own.totals = totals;
  enqueue_scan<Op>(queue, own, plan);
  enqueue_scan<Op>(queue, of_totals, over);
  own.to = to;
  own.totals = nullptr;
  own.before = totals;
  enqueue_scan<Op>(queue, own, plan);
}

/// Scans row-major elements into others. Source and result may be one.
/// throws: OutOfMemoryError    cost: long lines are read twice
template <class Op, class T, class D> void scan(const D& device, const T* from, T* to, const ScanShape& shape) {
  using C = compute_t<T>;
  if (shape.outer * shape.length * shape.inner == 0) return;
  const ScanPlan plan = plan_scan(shape);
  const auto start = [&](C* totals) {
    launch(device, [&](const auto& queue) { enqueue_scan<Op>(queue, from, to, shape, plan, totals); });
  };
  if (plan.chunks == 1) return start(nullptr);
  const memory::Buffer<D> memory(device, static_cast<std::size_t>(scan_totals(shape, plan)) * sizeof(C));
  start(static_cast<C*>(memory.data()));
}

}}}} // namespace twill::v0::kernel::gpu
