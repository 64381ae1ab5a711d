#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Convolutions on a GPU by twill's own kernels, and their gradients: a block computes a tile of an output or of an
// input's gradient, a thread one element where groups have few channels, a warp one of a weight's gradient. Products
// are added in a fixed order, so results do not depend on the device. A more special overload, for the queues of one
// driver, may pass supported cases to a library. Read next: kernel/convolution.hpp for hosts,
// kernel/gpu/convolution_tiles.hpp.

#include <twill/core/config.hpp>
#include <twill/device/convolution.hpp>
#include <twill/device/gpu/queue.hpp>
#include <twill/kernel/apply.hpp>
#include <twill/kernel/convolution.hpp>
#include <twill/kernel/gpu/convolution_tiles.hpp>
#include <twill/kernel/gpu/product_plan.hpp>
#include <twill/kernel/gpu/tile.hpp>

#include <cstdint>

namespace twill { inline namespace v0 { namespace kernel { namespace gpu { inline namespace TWILL_ISA {

/// Body in which a thread computes one element of the written tensor.
template <class T> struct ConvolutionBody {
  using C = compute_t<T>;
  static constexpr int most_threads = tile_threads;

  template <class Block> constexpr void operator()(const Block& block, const Convolution<T>& p) const {
    block.each([&](int thread) {
      const std::int64_t i = std::int64_t{block.block()} * tile_threads + thread;
      if (p.part == ConvolutionPart::output && i < p.shape.y_elements()) p.y[i] = static_cast<T>(output(p, i));
      if (p.part == ConvolutionPart::input_gradient && i < p.shape.x_elements())
        p.x[i] = static_cast<T>(input_gradient(p, i));
    });
  }

private:
  static constexpr void add(C& sum, T left, T right) {
    sum = combine<Reduction::sum>(sum, apply<Primitive::multiply>(static_cast<C>(left), static_cast<C>(right)));
  }

  // y[n, p, q, k] = sum over c, r, s of x[n, p * stride + r, q * stride + s, c] * w[k, c, r, s]
  static constexpr C output(const Convolution<T>& p, std::int64_t i) {
    const ConvolutionShape& s = p.shape;
    const std::int64_t channels = s.in_channels / s.groups;
    const std::int64_t k = i % s.out_channels;
    std::int64_t rest = i / s.out_channels;
    const std::int64_t left = rest % s.output[1] * s.stride[1] - s.padding[1];
    rest /= s.output[1];
    const std::int64_t top = rest % s.output[0] * s.stride[0] - s.padding[0];
    const T* const image = p.x + rest / s.output[0] * s.in_pixels() * s.in_channels;
    const std::int64_t first_channel = k / (s.out_channels / s.groups) * channels;
    C sum{};
    for (std::int64_t tap = 0; tap < s.kernel[0] * s.kernel[1]; ++tap) {
      const std::int64_t h = top + tap / s.kernel[1] * s.dilation[0];
      const std::int64_t v = left + tap % s.kernel[1] * s.dilation[1];
      if (h < 0 || h >= s.input[0] || v < 0 || v >= s.input[1]) continue;
      const T* const pixel = image + (h * s.input[1] + v) * s.in_channels + first_channel;
      const T* const weights = p.w + k * s.taps() + tap;
      for (std::int64_t c = 0; c < channels; ++c) add(sum, pixel[c], weights[c * s.kernel[0] * s.kernel[1]]);
    }
    return sum;
  }

  /// The output position that reads input position `at` through tap `tap`, or -1.
  static constexpr std::int64_t reader(const ConvolutionShape& s, std::size_t axis, std::int64_t at, std::int64_t tap) {
    const std::int64_t distance = at + s.padding[axis] - tap * s.dilation[axis];
    if (distance < 0 || distance % s.stride[axis] != 0) return -1;
    const std::int64_t position = distance / s.stride[axis];
    return position < s.output[axis] ? position : -1;
  }

  static constexpr C input_gradient(const Convolution<T>& p, std::int64_t i) {
    const ConvolutionShape& s = p.shape;
    const std::int64_t channels = s.in_channels / s.groups;
    const std::int64_t filters = s.out_channels / s.groups;
    const std::int64_t channel = i % s.in_channels;
    std::int64_t rest = i / s.in_channels;
    const std::int64_t v = rest % s.input[1];
    rest /= s.input[1];
    const std::int64_t h = rest % s.input[0];
    const T* const image = p.y + rest / s.input[0] * s.out_pixels() * s.out_channels;
    const std::int64_t first_filter = channel / channels * filters;
    const std::int64_t area = s.kernel[0] * s.kernel[1];
    C sum{};
    for (std::int64_t tap = 0; tap < area; ++tap) {
      const std::int64_t row = reader(s, 0, h, tap / s.kernel[1]);
      const std::int64_t column = reader(s, 1, v, tap % s.kernel[1]);
      if (row < 0 || column < 0) continue;
      const T* const pixel = image + (row * s.output[1] + column) * s.out_channels;
      const T* const weights = p.w + channel % channels * area + tap;
      for (std::int64_t k = first_filter; k < first_filter + filters; ++k) add(sum, pixel[k], weights[k * s.taps()]);
    }
    return sum;
  }
};

/// Body in which a warp computes the gradient of one weight: there are few weights, and each sums over all pixels of
/// the batch, which the warp's lanes share.
template <class T> struct WeightGradientBody {
  using C = compute_t<T>;
  static constexpr int most_threads = tile_threads;

  template <class Block> constexpr void operator()(const Block& block, const Convolution<T>& p) const {
    typename Block::template Local<C> sums;
    const auto weight_of = [&](int thread) {
      return std::int64_t{block.block()} * (tile_threads / warp_threads) + thread / warp_threads;
    };
    block.each([&](int thread) {
      const std::int64_t i = weight_of(thread);
      sums[thread] = i < p.shape.w_elements() ? sum_of_lane(p, i, thread % warp_threads) : C{};
    });
    block.template all_reduce<Reduction::sum>(sums, warp_threads);
    block.each([&](int thread) {
      const std::int64_t i = weight_of(thread);
      if (thread % warp_threads == 0 && i < p.shape.w_elements()) p.w[i] = static_cast<T>(sums[thread]);
    });
  }

private:
  // w[k, c, r, s] = sum over n, p, q of x[n, p * stride + r, q * stride + s, c] * y[n, p, q, k]
  static constexpr C sum_of_lane(const Convolution<T>& p, std::int64_t i, int lane) {
    const ConvolutionShape& s = p.shape;
    const std::int64_t channels = s.in_channels / s.groups;
    const std::int64_t k = i / s.taps();
    const std::int64_t area = s.kernel[0] * s.kernel[1];
    const std::int64_t channel = k / (s.out_channels / s.groups) * channels + i % s.taps() / area;
    const std::int64_t down = i % area / s.kernel[1] * s.dilation[0] - s.padding[0];
    const std::int64_t right = i % s.kernel[1] * s.dilation[1] - s.padding[1];
    const std::int64_t rows = s.output[1] > 0 ? s.batch * s.output[0] : 0;
    std::int64_t row = 0; // of all images
    std::int64_t image = 0;
    std::int64_t row_in_image = 0;
    std::int64_t column = lane;
    C sum{};
    while (row < rows) {
      if (column >= s.output[1]) { // goes on in the next row, without a division
        column -= s.output[1];
        ++row;
        if (++row_in_image == s.output[0]) {
          row_in_image = 0;
          ++image;
        }
        continue;
      }
      const std::int64_t h = row_in_image * s.stride[0] + down;
      const std::int64_t v = column * s.stride[1] + right;
      if (h >= 0 && h < s.input[0] && v >= 0 && v < s.input[1]) {
        const T x = p.x[((image * s.input[0] + h) * s.input[1] + v) * s.in_channels + channel];
        const T y = p.y[(row * s.output[1] + column) * s.out_channels + k];
        sum = combine<Reduction::sum>(sum, apply<Primitive::multiply>(static_cast<C>(x), static_cast<C>(y)));
      }
      column += warp_threads;
    }
    return sum;
  }
};

/// Computes one part of a convolution by twill's own kernels.
template <class Queue, class T> void convolve_directly(const Queue& queue, const Convolution<T>& convolution) {
  const ConvolutionShape& s = convolution.shape;
  if (convolution.part == ConvolutionPart::weight_gradient) {
    if (s.w_elements() > 0)
      enqueue(queue, WeightGradientBody<T>{}, one_thread_each(s.w_elements() * warp_threads), convolution);
    return;
  }
  const bool is_gradient = convolution.part == ConvolutionPart::input_gradient;
  const std::int64_t elements = is_gradient ? s.x_elements() : s.y_elements();
  if (elements == 0) return;
  if (!is_tiled(s, is_gradient)) return enqueue(queue, ConvolutionBody<T>{}, one_thread_each(elements), convolution);
  const ConvolutionProduct product{s, is_gradient};
  const ConvolutionTileParameters<T> tiles{product, is_gradient ? convolution.y : convolution.x, convolution.w,
                                           is_gradient ? convolution.x : convolution.y};
  constexpr int processors = 128; // of a large device: both tiles add in one order, so the bits are equal
  if (choose_tile(product.rows, product.columns, s.groups, processors) == ProductTile::wide)
    enqueue_convolution_tiles<ProductTile::wide>(queue, tiles);
  else
    enqueue_convolution_tiles<ProductTile::narrow>(queue, tiles);
}

}}}}} // namespace twill::v0::kernel::gpu::TWILL_ISA

namespace twill { inline namespace v0 { namespace kernel { inline namespace TWILL_ISA {

/// Computes one part of a convolution, after the queue's earlier work; returns at once. throws: GpuError
template <twill::gpu::Runtime R, class T>
void run_convolution(const twill::gpu::Queue<R>& queue, const Convolution<T>& convolution) {
  gpu::convolve_directly(queue, convolution);
}

}}}} // namespace twill::v0::kernel::TWILL_ISA
