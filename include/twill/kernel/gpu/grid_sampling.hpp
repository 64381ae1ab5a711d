#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Images read at any places on a GPU, with their gradients: a thread for each result, or for each place. The gradient
// by the images sorts the neighbours of all places by their pixel, so that those of a pixel are adjacent, and adds them
// in the order of the places. More neighbours than a stream's working memory sorts are added part after part. Read
// next: kernel/grid_sampling.hpp.

#include <twill/core/bits.hpp>
#include <twill/core/config.hpp>
#include <twill/kernel/gpu/blocks.hpp>
#include <twill/kernel/gpu/queue_sort.hpp>
#include <twill/kernel/gpu/tile.hpp>
#include <twill/kernel/grid_sampling.hpp>

#include <algorithm>
#include <cstdint>

namespace twill { inline namespace v0 { namespace kernel { namespace gpu { inline namespace TWILL_ISA {

/// Operands of a sampling and its gradients, and the shape of what threads compute.
template <class T> struct GridParameters {
  GridSampling sampling{};
  const T* u = nullptr; ///< cotangents of results
  const T* x = nullptr;
  const compute_t<T>* places = nullptr;
  T* y = nullptr;
  compute_t<T>* to = nullptr; ///< of gradients
  BlockIndices indices{};
};

/// Body in which a thread computes a result.
template <class T> struct SampleGrid {
  using C = compute_t<T>;
  static constexpr int most_threads = tile_threads;

  template <class Block> constexpr void operator()(const Block& block, const GridParameters<T>& p) const {
    const GridSampling& s = p.sampling;
    each_below(block, p.indices.elements(), [&](std::int64_t at) {
      const auto [image, channel, point] = p.indices(at);
      const T* const plane = p.x + (image * s.channels + channel) * s.pixels();
      const C* const place = p.places + (image * s.points + point) * s.axes;
      C sum{};
      for (int k = 0; k < s.neighbours(); ++k) {
        const GridNeighbour<C> n = grid_neighbour(s, place, k, s.differentiated);
        sum += n.share * (n.pixel < 0 ? C{} : static_cast<C>(plane[n.pixel]));
      }
      p.y[at] = static_cast<T>(sum);
    });
  }
};

/// Body in which a thread computes the slopes by one coordinate of a place.
template <class T> struct GridSlopes {
  using C = compute_t<T>;
  static constexpr int most_threads = tile_threads;

  template <class Block> constexpr void operator()(const Block& block, const GridParameters<T>& p) const {
    const GridSampling& s = p.sampling;
    each_below(block, p.indices.elements(), [&](std::int64_t at) {
      const auto [image, point, axis] = p.indices(at);
      const C* const place = p.places + (image * s.points + point) * s.axes;
      const unsigned bit = 1u << axis;
      C sum{};
      for (int k = 0; s.is_linear && (s.differentiated & bit) == 0 && k < s.neighbours(); ++k) {
        const GridNeighbour<C> n = grid_neighbour(s, place, k, s.differentiated | bit);
        C product{};
        for (std::int64_t plane = image * s.channels; plane < (image + 1) * s.channels; ++plane)
          product += static_cast<C>(p.u[plane * s.points + point]) *
                     (n.pixel < 0 ? C{} : static_cast<C>(p.x[plane * s.pixels() + n.pixel]));
        sum += n.share * product;
      }
      p.to[at] = sum;
    });
  }
};

/// Neighbours of places as entries (batch, points, neighbours), some of which are sorted at once.
template <class T> struct GridEntries {
  GridParameters<T> grid{};
  std::int64_t first = 0; ///< of this part
  std::int64_t count = 0;
  std::uint64_t* keys = nullptr;
  std::uint32_t* order = nullptr;
  BlockIndices indices{}; ///< of additions: (1, channels, entries)

  [[nodiscard]] constexpr std::uint64_t outside() const {
    return static_cast<std::uint64_t>(grid.sampling.batch * grid.sampling.pixels());
  }
  struct Entry {
    std::int64_t image = 0, point = 0;
    GridNeighbour<compute_t<T>> neighbour{};
  };
  [[nodiscard]] constexpr Entry entry(std::int64_t number) const {
    const auto [image, point, k] = grid.indices(number);
    const GridSampling& s = grid.sampling;
    return {
        image, point,
        grid_neighbour(s, grid.places + (image * s.points + point) * s.axes, static_cast<int>(k), s.differentiated)};
  }
};

/// Body that finds the pixel of each entry, numbered over all images.
template <class T> struct FindGridEntries {
  static constexpr int most_threads = tile_threads;
  template <class Block> constexpr void operator()(const Block& block, const GridEntries<T>& p) const {
    each_below(block, p.count, [&](std::int64_t i) {
      const typename GridEntries<T>::Entry entry = p.entry(p.first + i);
      const std::int64_t pixel = entry.image * p.grid.sampling.pixels() + entry.neighbour.pixel;
      p.keys[i] = entry.neighbour.pixel < 0 ? p.outside() : static_cast<std::uint64_t>(pixel);
      p.order[i] = static_cast<std::uint32_t>(i);
    });
  }
};

/// Body in which a thread adds the sorted entries of one pixel in one channel.
template <class T> struct AddGridEntries {
  using C = compute_t<T>;
  static constexpr int most_threads = tile_threads;

  template <class Block> constexpr void operator()(const Block& block, const GridEntries<T>& p) const {
    const GridSampling& s = p.grid.sampling;
    each_below(block, p.indices.elements(), [&](std::int64_t number) {
      const auto [none, channel, begin] = p.indices(number);
      const std::uint64_t key = p.keys[begin];
      if (key == p.outside() || (begin > 0 && p.keys[begin - 1] == key)) return;
      const std::int64_t image = static_cast<std::int64_t>(key) / s.pixels();
      C& to = p.grid.to[(image * s.channels + channel) * s.pixels() + static_cast<std::int64_t>(key) % s.pixels()];
      C sum = to;
      for (std::int64_t i = begin; i < p.count && p.keys[i] == key; ++i) {
        const typename GridEntries<T>::Entry entry = p.entry(p.first + p.order[i]);
        sum +=
            entry.neighbour.share * static_cast<C>(p.grid.u[(image * s.channels + channel) * s.points + entry.point]);
      }
      to = sum;
    });
  }
};

}}}}} // namespace twill::v0::kernel::gpu::TWILL_ISA

namespace twill { inline namespace v0 { namespace kernel { inline namespace TWILL_ISA {

template <class T, twill::gpu::Runtime R>
void sample_grid(const twill::gpu::Queue<R>& queue, const GridSampling& s, const T* x, const compute_t<T>* places,
                 T* y) {
  const std::int64_t count = s.batch * s.channels * s.points;
  if (count > 0)
    enqueue(queue, gpu::SampleGrid<T>{}, gpu::one_thread_each(count),
            gpu::GridParameters<T>{
                .sampling = s, .x = x, .places = places, .y = y, .indices = {s.batch, s.channels, s.points}});
}

template <class T, twill::gpu::Runtime R>
void grid_slopes(const twill::gpu::Queue<R>& queue, const GridSampling& s, const T* u, const T* x,
                 const compute_t<T>* places, compute_t<T>* slopes) {
  const std::int64_t count = s.batch * s.points * s.axes;
  if (count > 0)
    enqueue(queue, gpu::GridSlopes<T>{}, gpu::one_thread_each(count),
            gpu::GridParameters<T>{
                .sampling = s, .u = u, .x = x, .places = places, .to = slopes, .indices = {s.batch, s.points, s.axes}});
}

template <class T, twill::gpu::Runtime R>
void add_to_grid(const twill::gpu::Queue<R>& queue, const GridSampling& s, const T* u, const compute_t<T>* places,
                 compute_t<T>* x) {
  fill_elements(queue, x, Filling<compute_t<T>>{s.batch * s.channels * s.pixels(), compute_t<T>{}});
  const std::int64_t entries = s.batch * s.points * s.neighbours();
  if (entries * s.channels == 0) return;
  const std::int64_t most = gpu::QueueSort<std::uint64_t>::most(queue.allowance().bytes);
  gpu::GridEntries<T> part{};
  part.grid.sampling = s; // member by member, for nvcc
  part.grid.u = u;
  part.grid.places = places;
  part.grid.to = x;
  part.grid.indices = {s.batch, s.points, std::int64_t{s.neighbours()}};
  const int bits = bits_needed(part.outside());
  for (part.first = 0; part.first < entries; part.first += most) {
    part.count = std::min(most, entries - part.first);
    gpu::QueueSort<std::uint64_t> sorted{queue, part.count};
    part.keys = sorted.keys();
    part.order = sorted.values();
    part.indices = {1, s.channels, part.count};
    enqueue(queue, gpu::FindGridEntries<T>{}, gpu::one_thread_each(part.count), part);
    sorted.sort(queue, bits);
    part.keys = sorted.keys();
    part.order = sorted.values();
    enqueue(queue, gpu::AddGridEntries<T>{}, gpu::one_thread_each(s.channels * part.count), part);
  }
}

}}}} // namespace twill::v0::kernel::TWILL_ISA
