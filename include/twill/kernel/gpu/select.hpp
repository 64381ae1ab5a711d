#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Selection of the elements for which a flag holds, numbered in their order: one kernel counts them chunk by chunk, the
// counts are scanned, and a second kernel gives every such element its number. Between the two the caller can read how
// many there are. `Flag` is a small struct with `bool operator()(i)`, `Writer` one with `operator()(number, i)`.
// Read next: kernel/gpu/sort.hpp.

#include <twill/device/device.hpp>
#include <twill/device/gpu/queue.hpp>
#include <twill/kernel/gpu/scan.hpp>
#include <twill/kernel/gpu/tile.hpp>
#include <twill/kernel/on_queue.hpp>
#include <twill/memory/buffer.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace twill { inline namespace v0 { namespace kernel { namespace gpu {

template <class Flag, class Writer> struct SelectParameters {
  Flag flag{};
  Writer writer{};
  std::int64_t* totals = nullptr; ///< of the chunks; scanned when elements are written
  std::int64_t count = 0;
  std::int64_t chunk = 0;
};

/// A writer that is never called.
struct CountOnly {
  constexpr void operator()(std::int64_t, std::int64_t) const {}
};

/// Body in which a block numbers the flags of a chunk, or counts them.
template <class Flag, class Writer> struct Select {
  using Sum = Running<Reduction::sum>;
  static constexpr bool counts = std::is_same_v<Writer, CountOnly>;
  static constexpr int most_threads = tile_threads;
  static constexpr std::size_t shared_bytes = tile_threads * sizeof(std::int64_t);

  template <class Block> constexpr void operator()(const Block& block, const SelectParameters<Flag, Writer>& p) const {
    std::int64_t* const room = block.template shared<std::int64_t>();
    const std::int64_t begin = block.block() * p.chunk;
    const std::int64_t end = std::min(begin + p.chunk, p.count);
    std::int64_t before = !counts && block.block() > 0 ? p.totals[block.block() - 1] : 0;
    typename Block::template Local<std::int64_t> own{};
    for (std::int64_t first = begin; first < end; first += tile_elements) {
      block.each([&](int thread) {
        const std::int64_t start = first + thread * tile_items;
        std::int64_t found = 0;
        for (std::int64_t i = start; i < std::min(start + tile_items, end); ++i) found += p.flag(i) ? 1 : 0;
        own[thread] = found;
      });
      scan_over_threads<Sum>(block, own, room);
      if constexpr (!counts)
        block.each([&](int thread) {
          std::int64_t number = before + (thread > 0 ? room[thread - 1] : 0);
          const std::int64_t start = first + thread * tile_items;
          for (std::int64_t i = start; i < std::min(start + tile_items, end); ++i)
            if (p.flag(i)) p.writer(number++, i);
        });
      before += room[tile_threads - 1];
      block.barrier();
    }
    if constexpr (counts)
      block.each([&](int thread) {
        if (thread == 0) p.totals[block.block()] = before;
      });
  }
};

/// Counted flags.
template <class D, class Flag> class Counted {
public:
  /// throws: OutOfMemoryError
  Counted(const D& device, std::int64_t count, const Flag& flag)
      : device_{device},
        flag_{flag},
        count_{count},
        chunks_{chunks_of(1, count)},
        totals_(device, static_cast<std::size_t>(chunks_.count) * sizeof(std::int64_t)) {
    if (count == 0) return;
    run(CountOnly{});
    gpu::scan<Running<Reduction::sum>>(device, totals(), totals(), ScanShape{.length = chunks_.count});
  }

  /// The number of flags that hold. Waits for the device.
  [[nodiscard]] std::int64_t found() const {
    if (count_ == 0) return 0;
    std::int64_t result = 0;
    copy_bytes(Cpu{}, &result, device_, totals() + chunks_.count - 1, sizeof(result));
    return result;
  }

  /// Calls writer(number, i) for each element i whose flag holds.
  template <class Writer> void write(const Writer& writer) const {
    if (count_ > 0) run(writer);
  }

private:
  [[nodiscard]] std::int64_t* totals() const { return static_cast<std::int64_t*>(totals_.data()); }

  template <class Writer> void run(const Writer& writer) const {
    const SelectParameters<Flag, Writer> parameters{flag_, writer, totals(), count_, chunks_.length};
    using Body = Select<Flag, Writer>;
    const twill::gpu::LaunchShape shape{static_cast<unsigned>(chunks_.count), tile_threads, Body::shared_bytes};
    launch(device_, [&](const auto& queue) { enqueue(queue, Body{}, shape, parameters); });
  }

  D device_;
  Flag flag_;
  std::int64_t count_;
  Chunks chunks_;
  memory::Buffer<D> totals_;
};

// Masks ---------------------------------------------------------------------------------------------------------------

/// The truth values of a view.
struct MaskFlag {
  const bool* from = nullptr;
  Axes axes{};
  constexpr bool operator()(std::int64_t i) const { return from[axes.offset(i)]; }
};

/// The sum of an element's indices times strides.
struct OffsetWriter {
  std::int64_t* to = nullptr;
  Axes axes{};
  constexpr void operator()(std::int64_t number, std::int64_t i) const { to[number] = axes.offset(i); }
};

/// The indices of an element: one row for each axis.
struct IndicesWriter {
  std::int64_t* to = nullptr;
  std::int64_t row = 0;
  Axes axes{};
  constexpr void operator()(std::int64_t number, std::int64_t i) const {
    for (int axis = axes.rank - 1; axis >= 0; --axis) {
      const IndexDivisor::Parts parts = axes.divisors[axis].parts(i);
      to[axis * row + number] = parts.rest;
      i = parts.quotient;
    }
  }
};

/// Counts the true elements of a mask, which one of the following functions then writes.
template <class D>
[[nodiscard]] Counted<D, MaskFlag> counted_true(const D& device, const bool* mask, const Dims& extents,
                                                const Dims& strides) {
  const std::int64_t count = extents.elements();
  return {device, count, MaskFlag{mask, count > 0 ? merged({extents, strides}) : Axes{}}};
}

/// Writes for each true element, in row-major order, the sum of its indices times these weights.
template <class D>
void write_offsets(const Counted<D, MaskFlag>& counted, const Dims& extents, const Dims& weights, std::int64_t* to) {
  if (extents.elements() > 0) counted.write(OffsetWriter{to, merged({extents, weights})});
}

/// Writes the indices of the `found` true elements: one row for each axis.
template <class D>
void write_indices(const Counted<D, MaskFlag>& counted, const Dims& extents, std::int64_t found, std::int64_t* to) {
  if (extents.elements() > 0) counted.write(IndicesWriter{to, found, Axes(extents, extents)});
}

}}}} // namespace twill::v0::kernel::gpu
