#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Pooling on a GPU, a thread for each element. Gradients visit all windows that hold the element, and for maxima find
// the largest again: no two threads write one element, and sums have one order. Read next: kernel/pooling.hpp.

#include <twill/core/config.hpp>
#include <twill/device/gpu/queue.hpp>
#include <twill/kernel/gpu/divisor.hpp>
#include <twill/kernel/gpu/tile.hpp>
#include <twill/kernel/pooling.hpp>

#include <cstdint>
#include <limits>

namespace twill { inline namespace v0 { namespace kernel { namespace gpu { inline namespace TWILL_ISA {

/// A part of pooling, and the elements that it writes.
template <class T> struct PoolingParameters {
  Pooling<T> pooling{};
  Pixels written{};

  /// requires: elements to write
  constexpr explicit PoolingParameters(const Pooling<T>& given)
      : pooling{given}, written{given.shape.batch, written_extents(given), given.shape.channels} {}

private:
  [[nodiscard]] static constexpr const auto& written_extents(const Pooling<T>& given) {
    const bool writes_out = given.part == PoolingPart::average || given.part == PoolingPart::pick;
    return writes_out ? given.shape.output : given.shape.input;
  }
};

/// Body in which a thread computes one element of the written tensor.
template <class T> struct PoolingBody {
  using C = compute_t<T>;
  static constexpr int most_threads = tile_threads;
  static constexpr int least_blocks = 1;

  template <class Block> constexpr void operator()(const Block& block, const PoolingParameters<T>& parameters) const {
    const Pooling<T>& p = parameters.pooling;
    each_below(block, parameters.written.elements(), [&](std::int64_t i) {
      const Pixels::Index index = parameters.written(i);
      if (p.part == PoolingPart::average || p.part == PoolingPart::pick)
        p.out[i] = of_window(p, index);
      else
        p.in[i] = of_windows(p, index, i);
    });
  }

private:
  /// Element (image, h, v, channel) of `in`.
  static constexpr std::int64_t at(const PoolingShape& s, std::int64_t image, std::int64_t h, std::int64_t v,
                                   std::int64_t channel) {
    return ((image * s.input[0] + h) * s.input[1] + v) * s.channels + channel;
  }

  static constexpr std::int64_t place(const Pooling<T>& p, std::int64_t image, const PoolingShape::Range& rows,
                                      const PoolingShape::Range& columns, std::int64_t channel) {
    std::int64_t found = -1;
    C largest{};
    for (std::int64_t h = rows.begin; h < rows.end; h += rows.step)
      for (std::int64_t v = columns.begin; v < columns.end; v += columns.step) {
        const std::int64_t from = at(p.shape, image, h, v, channel);
        const C x = static_cast<C>(p.key[from]);
        if (found >= 0 && !is_larger(x, largest)) continue;
        found = from;
        largest = x;
      }
    return found;
  }

  static constexpr T of_window(const Pooling<T>& p, const Pixels::Index& index) {
    const PoolingShape& s = p.shape;
    const PoolingShape::Range columns = s.range(1, index.column);
    const PoolingShape::Range rows = s.range(0, index.row);
    if (p.part == PoolingPart::pick) {
      const std::int64_t found = place(p, index.image, rows, columns, index.channel);
      if (found >= 0) return p.in[found];
      return static_cast<T>(p.key == p.in ? -std::numeric_limits<C>::infinity() : C{}); // no element in the window
    }
    C sum{};
    for (std::int64_t h = rows.begin; h < rows.end; h += rows.step)
      for (std::int64_t v = columns.begin; v < columns.end; v += columns.step)
        sum += static_cast<C>(p.in[at(s, index.image, h, v, index.channel)]);
    return static_cast<T>(sum / static_cast<C>(s.divisor_of(rows, columns)));
  }

  static constexpr bool holds(const PoolingShape::Range& range, std::int64_t position) {
    return position >= range.begin && position < range.end &&
           (range.step == 1 || (position - range.begin) % range.step == 0);
  }

  static constexpr T of_windows(const Pooling<T>& p, const Pixels::Index& index, std::int64_t i) {
    const PoolingShape& s = p.shape;
    const auto [image, h, v, channel] = index;
    const PoolingShape::Readers down = s.readers(0, h);
    const PoolingShape::Readers right = s.readers(1, v);
    C sum{};
    for (std::int64_t row = down.first; row <= down.last; ++row) {
      const PoolingShape::Range rows = s.range(0, row);
      if (!holds(rows, h)) continue;
      for (std::int64_t column = right.first; column <= right.last; ++column) {
        const PoolingShape::Range columns = s.range(1, column);
        if (!holds(columns, v)) continue;
        const C g = static_cast<C>(p.out[((image * s.output[0] + row) * s.output[1] + column) * s.channels + channel]);
        if (p.part == PoolingPart::average_gradient)
          sum += g / static_cast<C>(s.divisor_of(rows, columns));
        else if (place(p, image, rows, columns, channel) == i)
          sum += g;
      }
    }
    return static_cast<T>(sum);
  }
};

}}}}} // namespace twill::v0::kernel::gpu::TWILL_ISA

namespace twill { inline namespace v0 { namespace kernel { inline namespace TWILL_ISA {

/// Computes one part of pooling, after the queue's earlier work; returns at once. throws: GpuError
template <twill::gpu::Runtime R, class T>
void run_pooling(const twill::gpu::Queue<R>& queue, const Pooling<T>& pooling) {
  const PoolingShape& s = pooling.shape;
  const bool writes_out = pooling.part == PoolingPart::average || pooling.part == PoolingPart::pick;
  const std::int64_t elements = writes_out ? s.out_elements() : s.in_elements();
  if (elements == 0) return;
  enqueue(queue, gpu::PoolingBody<T>{}, gpu::one_thread_each(elements), gpu::PoolingParameters<T>{pooling});
}

}}}} // namespace twill::v0::kernel::TWILL_ISA
