#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Interpolation on a GPU, a thread for each element. In a gradient it visits all output pixels that could have read its
// element: no two threads write one element, and sums have one order. Read next: kernel/interpolation.hpp.

#include <twill/core/config.hpp>
#include <twill/device/gpu/queue.hpp>
#include <twill/kernel/gpu/divisor.hpp>
#include <twill/kernel/gpu/tile.hpp>
#include <twill/kernel/interpolation.hpp>

#include <cstddef>
#include <cstdint>

namespace twill { inline namespace v0 { namespace kernel { namespace gpu { inline namespace TWILL_ISA {

/// An interpolation, and the elements that it writes.
template <class T> struct InterpolationParameters {
  Interpolating<T> interpolating{};
  Pixels written{};

  /// requires: elements to write
  constexpr explicit InterpolationParameters(const Interpolating<T>& given)
      : interpolating{given},
        written{given.shape.batch, given.is_gradient ? given.shape.input : given.shape.output, given.shape.channels} {}
};

/// Body in which a thread computes one element of the output or, for the gradient, of the input.
template <class T> struct InterpolationBody {
  using C = compute_t<T>;
  static constexpr int most_threads = tile_threads;

  template <class Block>
  constexpr void operator()(const Block& block, const InterpolationParameters<T>& parameters) const {
    const Interpolating<T>& p = parameters.interpolating;
    each_below(block, parameters.written.elements(), [&](std::int64_t i) {
      const auto [image, row, column, channel] = parameters.written(i);
      if (p.is_gradient)
        p.in[i] = static_cast<T>(gradient(p, image, row, column, channel));
      else
        p.out[i] = static_cast<T>(output(p, image, row, column, channel));
    });
  }

private:
  static constexpr C output(const Interpolating<T>& p, std::int64_t image, std::int64_t row, std::int64_t column,
                            std::int64_t channel) {
    const InterpolationShape& s = p.shape;
    const InterpolationShape::Taps down = s.taps(0, row);
    const InterpolationShape::Taps right = s.taps(1, column);
    const auto in = [&](std::int64_t h, std::int64_t v) {
      return static_cast<C>(p.in[((image * s.input[0] + h) * s.input[1] + v) * s.channels + channel]);
    };
    if (s.mode == Interpolation::nearest) return in(down.first, right.first);
    return static_cast<C>(down.first_share * right.first_share) * in(down.first, right.first) +
           static_cast<C>(down.first_share * right.second_share) * in(down.first, right.second) +
           static_cast<C>(down.second_share * right.first_share) * in(down.second, right.first) +
           static_cast<C>(down.second_share * right.second_share) * in(down.second, right.second);
  }

  /// The first output position whose taps reach `position`; source positions grow with output positions.
  static constexpr std::int64_t first_reader(const InterpolationShape& s, std::size_t axis, std::int64_t position) {
    std::int64_t low = 0;
    std::int64_t high = s.output[axis];
    while (low < high) {
      const std::int64_t middle = (low + high) / 2;
      if (s.taps(axis, middle).second < position)
        low = middle + 1;
      else
        high = middle;
    }
    return low;
  }

  static constexpr double share_of(const InterpolationShape::Taps& taps, std::int64_t position) {
    return (taps.first == position ? taps.first_share : 0) + (taps.second == position ? taps.second_share : 0);
  }

  static constexpr C gradient(const Interpolating<T>& p, std::int64_t image, std::int64_t row, std::int64_t column,
                              std::int64_t channel) {
    const InterpolationShape& s = p.shape;
    C sum{};
    for (std::int64_t h = first_reader(s, 0, row); h < s.output[0]; ++h) {
      const InterpolationShape::Taps down = s.taps(0, h);
      if (down.first > row) break;
      for (std::int64_t v = first_reader(s, 1, column); v < s.output[1]; ++v) {
        const InterpolationShape::Taps right = s.taps(1, v);
        if (right.first > column) break;
        sum += static_cast<C>(share_of(down, row) * share_of(right, column)) *
               static_cast<C>(p.out[((image * s.output[0] + h) * s.output[1] + v) * s.channels + channel]);
      }
    }
    return sum;
  }
};

}}}}} // namespace twill::v0::kernel::gpu::TWILL_ISA

namespace twill { inline namespace v0 { namespace kernel { inline namespace TWILL_ISA {

/// Interpolates, after the queue's earlier work; returns at once. throws: GpuError
template <twill::gpu::Runtime R, class T>
void run_interpolation(const twill::gpu::Queue<R>& queue, const Interpolating<T>& interpolating) {
  const InterpolationShape& s = interpolating.shape;
  const std::int64_t elements = interpolating.is_gradient ? s.in_elements() : s.out_elements();
  if (elements == 0) return;
  enqueue(queue, gpu::InterpolationBody<T>{}, gpu::one_thread_each(elements),
          gpu::InterpolationParameters<T>{interpolating});
}

}}}} // namespace twill::v0::kernel::TWILL_ISA
