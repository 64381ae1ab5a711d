#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Random orders and choices on a GPU, sorted and searched in parallel. Read next: kernel/sampling.hpp.

#include <twill/device/generator.hpp>
#include <twill/kernel/gpu/scan.hpp>
#include <twill/kernel/gpu/sort.hpp>
#include <twill/kernel/on_queue.hpp>
#include <twill/kernel/sampling.hpp>
#include <twill/memory/buffer.hpp>

#include <cstddef>
#include <cstdint>

namespace twill { inline namespace v0 { namespace kernel { namespace gpu {

/// The data that the kernels of this file read and write; each uses a part of it.
struct SamplingParameters {
  const double* weights = nullptr;
  const double* greatest = nullptr; ///< of each row
  std::uint64_t* keys = nullptr;
  std::int64_t* sums = nullptr;
  double* clocks = nullptr;
  std::int64_t* to = nullptr;
  const std::uint32_t* order = nullptr;
  std::int64_t length = 0; ///< of a row of weights
  std::int64_t chosen = 0; ///< from a row
  std::int64_t count = 0;  ///< items to write
  RandomDraw draw{};
};

struct DrawKeys {
  static constexpr int most_threads = tile_threads;
  template <class Block> constexpr void operator()(const Block& block, const SamplingParameters& p) const {
    each_below(block, p.count, [&](std::int64_t i) {
      p.keys[i] = permutation_key(p.draw.seed, p.draw.step, static_cast<std::uint64_t>(i));
    });
  }
};
struct ScaleWeights {
  static constexpr int most_threads = tile_threads;
  template <class Block> constexpr void operator()(const Block& block, const SamplingParameters& p) const {
    each_below(block, p.count,
               [&](std::int64_t i) { p.sums[i] = scaled_weight(p.weights[i], p.greatest[i / p.length], p.length); });
  }
};
struct DrawPlaces {
  static constexpr int most_threads = tile_threads;
  template <class Block> constexpr void operator()(const Block& block, const SamplingParameters& p) const {
    each_below(block, p.count, [&](std::int64_t i) {
      p.to[i] = place_of_share(p.sums + i / p.chosen * p.length, p.length, p.draw.seed, p.draw.step,
                               static_cast<std::uint64_t>(i));
    });
  }
};
struct DrawClocks {
  static constexpr int most_threads = tile_threads;
  template <class Block> constexpr void operator()(const Block& block, const SamplingParameters& p) const {
    each_below(block, p.count, [&](std::int64_t i) {
      p.clocks[i] = random_clock(p.weights[i], p.draw.seed, p.draw.step, static_cast<std::uint64_t>(i));
    });
  }
};
/// The first places of each row's order.
struct TakeFirst {
  static constexpr int most_threads = tile_threads;
  template <class Block> constexpr void operator()(const Block& block, const SamplingParameters& p) const {
    each_below(block, p.count, [&](std::int64_t i) { p.to[i] = p.order[i / p.chosen * p.length + i % p.chosen]; });
  }
};

namespace detail {
template <class Body, class D> void sample(const D& device, Body body, SamplingParameters p, std::int64_t count) {
  p.count = count;
  launch(device, [&](const auto& queue) { enqueue(queue, body, one_thread_each(count), p); });
}
} // namespace detail

/// 0 to n - 1 in random order. throws: ValueError (n of 2^32 or more), OutOfMemoryError
template <class D> void shuffle_places(const D& device, std::int64_t* to, std::int64_t n, RandomDraw draw) {
  if (n == 0) return;
  const memory::Buffer<D> memory(device, static_cast<std::size_t>(n) * sizeof(std::uint64_t));
  auto* const keys = static_cast<std::uint64_t*>(memory.data());
  detail::sample(device, DrawKeys{}, {.keys = keys, .draw = draw}, n);
  sort_rows<false>(device, keys, 1, n, static_cast<std::uint64_t*>(nullptr), to);
}

/// Draws a number of places of each row, with replacement.
template <class D>
void draw_with_replacement(const D& device, const double* weights, const double* greatest, std::int64_t rows,
                           std::int64_t n, std::int64_t* to, std::int64_t chosen, RandomDraw draw) {
  if (rows * chosen == 0) return;
  const memory::Buffer<D> memory(device, static_cast<std::size_t>(rows * n) * sizeof(std::int64_t));
  auto* const sums = static_cast<std::int64_t*>(memory.data());
  const SamplingParameters p{
      .weights = weights, .greatest = greatest, .sums = sums, .to = to, .length = n, .chosen = chosen, .draw = draw};
  detail::sample(device, ScaleWeights{}, p, rows * n);
  gpu::scan<Running<Reduction::sum>>(device, sums, sums, ScanShape{.outer = rows, .length = n});
  detail::sample(device, DrawPlaces{}, p, rows * chosen);
}

/// Draws a number of places of each row, without replacement.
template <class D>
void draw_without_replacement(const D& device, const double* weights, std::int64_t rows, std::int64_t n,
                              std::int64_t* to, std::int64_t chosen, RandomDraw draw) {
  if (rows * chosen == 0) return;
  const memory::Buffer<D> memory(device, static_cast<std::size_t>(rows * n) * (sizeof(double) + sizeof(std::uint32_t)));
  auto* const clocks = static_cast<double*>(memory.data());
  auto* const order = reinterpret_cast<std::uint32_t*>(clocks + rows * n);
  const SamplingParameters p{
      .weights = weights, .clocks = clocks, .to = to, .order = order, .length = n, .chosen = chosen, .draw = draw};
  detail::sample(device, DrawClocks{}, p, rows * n);
  order_rows<false>(device, SortParameters<double>{clocks, order, rows, n});
  detail::sample(device, TakeFirst{}, p, rows * chosen);
}

}}}} // namespace twill::v0::kernel::gpu
