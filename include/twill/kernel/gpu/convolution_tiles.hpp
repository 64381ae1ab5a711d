#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Implicit GEMM for convolutions and their gradients by the input, matrix products whose left factor is never stored: a
// block computes a tile of pixels by channels, and reads each step of the images and of the weights into shared memory
// once for all of them. Steps go over the taps of the kernel and, within each, over channels: a fixed order, so results
// do not depend on the device. Read next: kernel/gpu/product.hpp, kernel/gpu/convolution.hpp.

#include <twill/core/config.hpp>
#include <twill/device/convolution.hpp>
#include <twill/device/gpu/queue.hpp>
#include <twill/kernel/convolution.hpp>
#include <twill/kernel/gpu/axes.hpp>
#include <twill/kernel/gpu/divisor.hpp>
#include <twill/kernel/gpu/product.hpp>
#include <twill/kernel/gpu/product_plan.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace twill { inline namespace v0 { namespace kernel { namespace gpu {

/// A convolution's output, or its gradient by the input, as one product for each group: written pixels by their
/// channels, summed over taps and channels of the tensor that is read.
struct ConvolutionProduct {
  bool is_gradient = false;
  ConvolutionShape shape{};
  std::int64_t rows = 0;    ///< pixels of all images
  std::int64_t columns = 0; ///< channels of a group that are written
  std::int64_t depth = 0;   ///< channels of a group that are read
  std::int64_t steps = 0;   ///< taps times depth
  std::int64_t row_tiles = 0;
  std::int64_t column_tiles = 0;
  Pixels written{};
  IndexDivisor by_depth{};
  IndexDivisor by_width{}; ///< of the kernel
  std::array<IndexDivisor, 2> by_stride{};

  constexpr ConvolutionProduct(const ConvolutionShape& s, bool gradient)
      : is_gradient{gradient}, shape{s}, written{s.batch, gradient ? s.input : s.output, 1} {
    const std::int64_t channels = s.in_channels / s.groups;
    const std::int64_t filters = s.out_channels / s.groups;
    rows = written.elements();
    columns = is_gradient ? channels : filters;
    depth = is_gradient ? filters : channels;
    steps = s.kernel[0] * s.kernel[1] * depth;
    by_depth = IndexDivisor(depth, steps + 16); // the last step of a tile passes the end
    by_width = IndexDivisor(s.kernel[1], s.kernel[0] * s.kernel[1] + 16);
    for (std::size_t axis = 0; axis < 2; ++axis)
      by_stride[axis] = IndexDivisor(s.stride[axis], s.input[axis] + s.padding[axis]);
  }

  /// The position that a written pixel reads through a tap, or -1.
  [[nodiscard]] constexpr std::int64_t source(std::size_t axis, std::int64_t at, std::int64_t tap) const {
    const std::int64_t moved = tap * shape.dilation[axis] - shape.padding[axis];
    if (!is_gradient) {
      const std::int64_t position = at * shape.stride[axis] + moved;
      return position < shape.input[axis] ? position : -1;
    }
    if (at < moved) return -1;
    const IndexDivisor::Parts parts = by_stride[axis].parts(at - moved);
    return parts.rest == 0 && parts.quotient < shape.output[axis] ? parts.quotient : -1;
  }
};

/// Whether tiles are worth it: groups of few channels, as in depthwise convolutions, leave most of a tile empty.
[[nodiscard]] constexpr bool is_tiled(const ConvolutionShape& shape, bool is_gradient) {
  return (is_gradient ? shape.in_channels : shape.out_channels) / shape.groups >= 8;
}

}}}} // namespace twill::v0::kernel::gpu

namespace twill { inline namespace v0 { namespace kernel { namespace gpu { inline namespace TWILL_ISA {

/// The parameters of a launch of tiles.
template <class T> struct ConvolutionTileParameters {
  ConvolutionProduct product;
  const T* from = nullptr;
  const T* weights = nullptr;
  T* to = nullptr;
};

/// Body in which a block computes a tile of one group.
template <class T, ProductTile Tile> struct ConvolutionTiles {
  using C = compute_t<T>;
  using Sizes = TileSizes<Tile>;
  static constexpr int most_threads = Sizes::threads;
  static constexpr int least_blocks = 1;
  static constexpr std::size_t shared_bytes = Sizes::template shared_bytes<C>;

  template <class Block> constexpr void operator()(const Block& block, const ConvolutionTileParameters<T>& p) const {
    const ConvolutionProduct& product = p.product;
    const std::int64_t tile = block.block();
    const std::int64_t first_column = tile % product.column_tiles * Sizes::columns;
    const std::int64_t first_row = tile / product.column_tiles % product.row_tiles * Sizes::rows;
    const std::int64_t group = tile / product.column_tiles / product.row_tiles;
    C* const left = block.template shared<C>();
    C* const right = block.template shared<C>(sizeof(C) * Sizes::depth * Sizes::row_pitch);
    typename Block::template Local<TileSums<C, Tile>> sums;
    typename Block::template Local<OwnRows> own;
    block.each([&](int thread) {
      sums[thread].clear();
      TWILL_UNROLL
      for (int i = 0; i < loads; ++i)
        own[thread].at[i] = product.written(std::min(first_row + row_of(thread, i), product.rows - 1));
    });
    for (std::int64_t first = 0; first < product.steps; first += Sizes::depth) {
      block.each([&](int thread) {
        load_pixels(left, p, own[thread], group, first, product.rows - first_row, thread);
        load_weights(right, p, group, first, first_column, thread);
      });
      block.barrier();
      block.each([&](int thread) { sums[thread].accumulate(left, right, thread); });
      block.barrier();
    }
    const std::int64_t pitch = product.columns * product.shape.groups;
    T* const to = p.to + first_row * pitch + group * product.columns + first_column;
    block.each([&](int thread) {
      sums[thread].each(thread, [&](C sum, int row, int column) {
        if (first_row + row < product.rows && first_column + column < product.columns)
          to[row * pitch + column] = static_cast<T>(sum);
      });
    });
  }

private:
  static constexpr int loads = Sizes::rows * Sizes::depth / Sizes::threads; ///< of a thread for each step
  static_assert(Sizes::threads % Sizes::depth == 0 && Sizes::rows == Sizes::columns);

  /// The pixels that a thread loads.
  struct OwnRows {
    Pixels::Index at[loads];
  };
  static constexpr int row_of(int thread, int load) {
    return thread / Sizes::depth + load * (Sizes::threads / Sizes::depth);
  }

  /// Loads pixels; neighbouring threads read neighbouring channels of a pixel.
  static constexpr void load_pixels(C* to, const ConvolutionTileParameters<T>& p, const OwnRows& own,
                                    std::int64_t group, std::int64_t first, std::int64_t rows, int thread) {
    const ConvolutionProduct& product = p.product;
    const ConvolutionShape& s = product.shape;
    const int step = thread % Sizes::depth;
    const bool is_inside = first + step < product.steps;
    const IndexDivisor::Parts tap = product.by_depth.parts(first + step);
    const IndexDivisor::Parts kernel = product.by_width.parts(tap.quotient);
    const ConvolutionShape::Space& extents = product.is_gradient ? s.output : s.input;
    const std::int64_t pitch = product.depth * s.groups;
    TWILL_UNROLL
    for (int i = 0; i < loads; ++i) {
      const int row = row_of(thread, i);
      C value{};
      if (is_inside && row < rows) {
        const std::int64_t h = product.source(0, own.at[i].row, kernel.quotient);
        const std::int64_t v = product.source(1, own.at[i].column, kernel.rest);
        if (h >= 0 && v >= 0)
          value = static_cast<C>(
              p.from[((own.at[i].image * extents[0] + h) * extents[1] + v) * pitch + group * product.depth + tap.rest]);
      }
      to[step * Sizes::row_pitch + row] = value;
    }
  }

  /// Loads weights, which are (filters, channels, taps): neighbouring threads read along the channels of either factor.
  static constexpr void load_weights(C* to, const ConvolutionTileParameters<T>& p, std::int64_t group,
                                     std::int64_t first, std::int64_t first_column, int thread) {
    const ConvolutionProduct& product = p.product;
    const ConvolutionShape& s = product.shape;
    const std::int64_t area = s.kernel[0] * s.kernel[1];
    const std::int64_t filters = s.out_channels / s.groups;
    for (int place = thread; place < Sizes::columns * Sizes::depth; place += Sizes::threads) {
      const int column = product.is_gradient ? place % Sizes::columns : place / Sizes::depth;
      const int step = product.is_gradient ? place / Sizes::columns : place % Sizes::depth;
      C value{};
      if (first + step < product.steps && first_column + column < product.columns) {
        const IndexDivisor::Parts tap = product.by_depth.parts(first + step);
        const std::int64_t filter = product.is_gradient ? tap.rest : first_column + column;
        const std::int64_t channel = product.is_gradient ? first_column + column : tap.rest;
        value = static_cast<C>(p.weights[(group * filters + filter) * s.taps() + channel * area + tap.quotient]);
      }
      to[step * Sizes::column_pitch + column] = value;
    }
  }
};

/// Launches the tiles of one size. requires: a part other than the gradient of weights, that has elements
template <ProductTile Tile, class Queue, class T>
void enqueue_convolution_tiles(const Queue& queue, ConvolutionTileParameters<T> parameters) {
  using Sizes = TileSizes<Tile>;
  ConvolutionProduct& product = parameters.product;
  product.row_tiles = groups_of(Sizes::rows, product.rows);
  product.column_tiles = groups_of(Sizes::columns, product.columns);
  const std::int64_t blocks = product.row_tiles * product.column_tiles * product.shape.groups;
  enqueue(
      queue, ConvolutionTiles<T, Tile>{},
      twill::gpu::LaunchShape{static_cast<unsigned>(blocks), Sizes::threads, ConvolutionTiles<T, Tile>::shared_bytes},
      parameters);
}

}}}}} // namespace twill::v0::kernel::gpu::TWILL_ISA
