#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Images read at any places, on host devices: a result is the sum of the pixels around its place by their shares, 2
// along each axis, or the nearest one. Its gradients by the images and by the places use the same shares. Blocks of
// places keep theirs for all channels. The order of each sum does not depend on the number of threads.
// Not in twill.hpp. Read next: kernel/gpu/grid_sampling.hpp, ops/grid_sample.hpp.

#include <twill/core/config.hpp>
#include <twill/core/promotion.hpp>
#include <twill/device/cpu/team.hpp>
#include <twill/kernel/blocks.hpp>
#include <twill/kernel/native.hpp>
#include <twill/kernel/pack.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace twill { inline namespace v0 { namespace kernel {

/// Images (batch, channels, ..., extents[1], extents[0]), places (batch, points, axes) in pixels, along the axis of
/// extents[0] first, and results (batch, channels, points).
struct GridSampling {
  static constexpr int most_axes = 3, most_neighbours = 8;
  std::int64_t batch = 1;
  std::int64_t channels = 1;
  std::int64_t points = 1;
  int axes = 2;
  std::int64_t extents[most_axes]{1, 1, 1};
  bool is_linear = true;
  unsigned differentiated = 0; ///< axes by which shares are differentiated, a bit for each

  [[nodiscard]] constexpr std::int64_t pixels() const { return extents[0] * extents[1] * extents[2]; }
  [[nodiscard]] constexpr int neighbours() const { return is_linear ? 1 << axes : 1; }
};

/// A pixel beside a place, -1 where it is outside of the image, and its share.
template <class C> struct GridNeighbour {
  std::int64_t pixel = -1;
  C share{};
};

/// Neighbour k of a place: bit i of k is set where it is the upper one along axis i. Shares are products over the axes
/// of 1 - t and t, where t is the distance from the lower neighbour, or of their slopes -1 and 1.
template <class C>
constexpr GridNeighbour<C> grid_neighbour(const GridSampling& s, const C* place, int k, unsigned differentiated) {
  std::int64_t pixel = 0, step = 1;
  C share{1};
  bool is_inside = true;
  for (int axis = 0; axis < s.axes; ++axis) {
    const bool is_upper = (k >> axis & 1) != 0;
    const C below = s.is_linear ? std::floor(place[axis]) : std::nearbyint(place[axis]);
    const C number = is_upper ? below + 1 : below;
    if (number >= 0 && number <= static_cast<C>(s.extents[axis] - 1))
      pixel += static_cast<std::int64_t>(number) * step;
    else
      is_inside = false;
    step *= s.extents[axis];
    if (!s.is_linear) continue;
    const C beyond = place[axis] - below;
    if ((differentiated >> axis & 1) != 0)
      share = is_upper ? share : -share;
    else
      share *= is_upper ? beyond : 1 - beyond;
  }
  return {is_inside ? pixel : -1, share};
}

}}} // namespace twill::v0::kernel

namespace twill { inline namespace v0 { namespace kernel { namespace detail { inline namespace TWILL_ISA {

/// The neighbours of successive places of an image. Those outside have pixel 0 and `is_inside` 0. There are
/// `Neighbours` of each, or fewer in a block of most.
template <class C, class Index, int Neighbours> struct GridBlock {
  static constexpr int width = 128;
  static constexpr int most_neighbours = Neighbours;
  static constexpr bool is_general = Neighbours == GridSampling::most_neighbours; ///< others are of two axes
  static constexpr int most_axes = GridSampling::most_axes;
  static constexpr int lanes = vector_bytes / static_cast<int>(sizeof(float)); ///< read by one instruction
  static constexpr bool has_packs = vector_bytes >= 32 && std::is_same_v<Index, std::int32_t>;
  alignas(64) Index pixel[Neighbours][width];
  alignas(64) C share[Neighbours][width];
  alignas(64) C is_inside[Neighbours][width];
  // Along each axis: the lower neighbour, the place's distance from it, and of both neighbours the offset, whether they
  // are within the image, and the weight.
  alignas(64) C lower[most_axes][width];
  alignas(64) C beyond[most_axes][width];
  alignas(64) Index offset[most_axes][2][width];
  alignas(64) C is_within[most_axes][2][width];
  alignas(64) C weight[most_axes][2][width];
  int neighbours_of_image = Neighbours;
  int count = 0;
  bool all_inside = false; ///< all neighbours of all places

  [[nodiscard]] int neighbours() const { return is_general ? neighbours_of_image : Neighbours; }

  /// Finds the neighbours of `number` places.
  void find(const GridSampling& s, const C* places, int number) {
    count = number;
    neighbours_of_image = s.neighbours();
    const int axes = is_general ? s.axes : 2;
    Index step = 1;
    for (int axis = 0; axis < axes; ++axis) {
      for (int p = 0; p < count; ++p) {
        const C place = places[p * axes + axis];
        const C below = s.is_linear ? std::floor(place) : std::nearbyint(place);
        lower[axis][p] = below;
        beyond[axis][p] = place - below;
      }
      const C last = static_cast<C>(s.extents[axis] - 1);
      for (int upper = 0; upper < (Neighbours > 1 && s.is_linear ? 2 : 1); ++upper)
        for (int p = 0; p < count; ++p) {
          const C number_of = lower[axis][p] + static_cast<C>(upper);
          const bool is_here = (number_of >= 0) & (number_of <= last); // both, for vectors
          is_within[axis][upper][p] = is_here ? C{1} : C{0};
          offset[axis][upper][p] = static_cast<Index>(is_here ? number_of : C{0}) * step;
        }
      step *= static_cast<Index>(s.extents[axis]);
    }
    Index outside{};
    for (int k = 0; k < neighbours(); ++k)
      for (int p = 0; p < count; ++p) {
        Index sum = offset[0][k & 1][p];
        C inside = is_within[0][k & 1][p];
        for (int axis = 1; axis < axes; ++axis) {
          sum += offset[axis][k >> axis & 1][p];
          inside *= is_within[axis][k >> axis & 1][p];
        }
        pixel[k][p] = inside != 0 ? sum : Index{};
        is_inside[k][p] = inside;
        outside += inside != 0 ? Index{} : Index{1};
      }
    all_inside = outside == 0;
    weigh(axes, s.differentiated);
  }

  /// Computes their shares.
  void weigh(int axes_of_image, unsigned differentiated) {
    const int axes = is_general ? axes_of_image : 2;
    for (int axis = 0; axis < axes; ++axis) {
      const bool is_slope = (differentiated >> axis & 1) != 0;
      for (int p = 0; p < count; ++p) {
        weight[axis][0][p] = is_slope ? C{-1} : 1 - beyond[axis][p];
        weight[axis][1][p] = is_slope ? C{1} : beyond[axis][p];
      }
    }
    for (int k = 0; k < neighbours(); ++k)
      for (int p = 0; p < count; ++p) {
        C product = neighbours() > 1 ? weight[0][k & 1][p] : C{1};
        for (int axis = 1; axis < axes && neighbours() > 1; ++axis) product *= weight[axis][k >> axis & 1][p];
        share[k][p] = product;
      }
  }

  /// Pixel of neighbour k of place p, 0 outside.
  template <bool AllInside, class T> [[nodiscard]] C read(const T* image, int k, int p) const {
    const C value = static_cast<C>(image[pixel[k][p]]);
    return AllInside || is_inside[k][p] != 0 ? value : C{};
  }

  /// Pixels of neighbour k of the places from p on, 0 outside.
  template <bool AllInside, int N>
  [[nodiscard]] TWILL_INLINE Pack<float, N> read_pack(const float* image, int k, int p) const {
    const Pack<float, N> value = load_at(image, load<std::int32_t, N>(pixel[k] + p)), none{0.0F};
    if constexpr (AllInside)
      return value;
    else
      return select(none < load<float, N>(is_inside[k] + p), value, none);
  }

  /// y[p] = the sum of neighbours by their shares.
  template <bool AllInside, class T> void sum(const T* image, T* __restrict y) const {
    int p = 0;
    if constexpr (has_packs && std::is_same_v<T, float>) { // nvcc 13.0 counts the loop's braces wrongly without these
      for (; p + lanes <= count; p += lanes) {
        Pack<float, lanes> total = load<float, lanes>(share[0] + p) * read_pack<AllInside, lanes>(image, 0, p);
        for (int k = 1; k < neighbours(); ++k)
          total = total + load<float, lanes>(share[k] + p) * read_pack<AllInside, lanes>(image, k, p);
        store(y + p, total);
      }
    }
    for (; p < count; ++p) {
      C total = share[0][p] * read<AllInside>(image, 0, p);
      for (int k = 1; k < neighbours(); ++k) total += share[k][p] * read<AllInside>(image, k, p);
      y[p] = static_cast<T>(total);
    }
  }

  /// Adds u[p] to its neighbours by their shares.
  template <class T> void add(const T* u, C* image) const {
    for (int p = 0; p < count; ++p)
      for (int k = 0; k < neighbours(); ++k)
        if (is_inside[k][p] != 0) image[pixel[k][p]] += share[k][p] * static_cast<C>(u[p]);
  }

  /// Adds u[p] times each neighbour to `products`.
  template <bool AllInside, class T> void multiply(const T* u, const T* image, C (*__restrict products)[width]) const {
    for (int k = 0; k < neighbours(); ++k) {
      int p = 0;
      if constexpr (has_packs && std::is_same_v<T, float>)
        for (; p + lanes <= count; p += lanes)
          store(products[k] + p, load<float, lanes>(products[k] + p) +
                                     load<float, lanes>(u + p) * read_pack<AllInside, lanes>(image, k, p));
      for (; p < count; ++p) products[k][p] += static_cast<C>(u[p]) * read<AllInside>(image, k, p);
    }
  }
};

/// Calls f with the type of blocks for such a sampling.
template <class C, class F> void with_grid_block(const GridSampling& s, const F& f) {
  const bool is_small = s.pixels() <= std::numeric_limits<std::int32_t>::max();
  if (is_small && s.axes == 2 && s.is_linear) return f(std::type_identity<GridBlock<C, std::int32_t, 4>>{});
  if (is_small && s.axes == 2) return f(std::type_identity<GridBlock<C, std::int32_t, 1>>{});
  return f(std::type_identity<GridBlock<C, std::int64_t, GridSampling::most_neighbours>>{});
}

/// Calls f(block, image, first point) for successive places of all images, on all threads.
template <class C, class F>
void for_each_grid_block(const Team& team, const GridSampling& s, const C* places, std::int64_t bytes, const F& f) {
  with_grid_block<C>(s, [&]<class Block>(std::type_identity<Block>) {
    const std::int64_t blocks = (s.points + Block::width - 1) / Block::width;
    share_out(team, s.batch * blocks, bytes, [&](std::int64_t begin, std::int64_t end) {
      Block block;
      for (std::int64_t i = begin; i < end; ++i) {
        const std::int64_t image = i / blocks, first = i % blocks * Block::width;
        block.find(s, places + (image * s.points + first) * s.axes,
                   static_cast<int>(std::min<std::int64_t>(Block::width, s.points - first)));
        f(block, image, first);
      }
    });
  });
}

}}}}} // namespace twill::v0::kernel::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace kernel { inline namespace TWILL_ISA {

/// y[n, c, p] = the sum over neighbours k of share[n, p, k] x[n, c, pixel[n, p, k]]. Call it unqualified.
template <class T>
void sample_grid(const Team& team, const GridSampling& s, const T* x, const compute_t<T>* places, T* y) {
  if (s.batch * s.channels * s.points == 0) return;
  const std::int64_t bytes = s.batch * s.channels * s.points * 16;
  detail::for_each_grid_block(team, s, places, bytes, [&](const auto& block, std::int64_t image, std::int64_t first) {
    for (std::int64_t plane = image * s.channels; plane < (image + 1) * s.channels; ++plane)
      if (block.all_inside)
        block.template sum<true>(x + plane * s.pixels(), y + plane * s.points + first);
      else
        block.template sum<false>(x + plane * s.pixels(), y + plane * s.points + first);
  });
}

/// x[n, c, i] = the sum of share[n, p, k] u[n, c, p] over all p and k whose pixel is i.
template <class T>
void add_to_grid(const Team& team, const GridSampling& s, const T* u, const compute_t<T>* places, compute_t<T>* x) {
  using C = compute_t<T>;
  const std::int64_t planes = s.batch * s.channels;
  if (planes == 0) return;
  detail::with_grid_block<C>(s, [&]<class Block>(std::type_identity<Block>) {
    share_out(team, planes, planes * (s.points + s.pixels()) * 16, [&](std::int64_t begin, std::int64_t end) {
      Block block;
      std::fill(x + begin * s.pixels(), x + end * s.pixels(), C{});
      for (std::int64_t plane = begin; plane < end;) { // those of an image together
        const std::int64_t image = plane / s.channels, last = std::min(end, (image + 1) * s.channels);
        for (std::int64_t first = 0; first < s.points; first += Block::width) {
          block.find(s, places + (image * s.points + first) * s.axes,
                     static_cast<int>(std::min<std::int64_t>(Block::width, s.points - first)));
          for (std::int64_t i = plane; i < last; ++i) block.add(u + i * s.points + first, x + i * s.pixels());
        }
        plane = last;
      }
    });
  });
}

/// slopes[n, p, a] = the sum over c and k of u[n, c, p] x[n, c, pixel[n, p, k]] times the share's slope along axis a; 0
/// for axes by which shares are differentiated already.
template <class T>
void grid_slopes(const Team& team, const GridSampling& s, const T* u, const T* x, const compute_t<T>* places,
                 compute_t<T>* slopes) {
  using C = compute_t<T>;
  if (s.batch * s.points == 0) return;
  const std::int64_t bytes = s.batch * (s.channels + 1) * s.points * 16;
  detail::for_each_grid_block(team, s, places, bytes, [&](auto& block, std::int64_t image, std::int64_t first) {
    using Block = std::remove_cvref_t<decltype(block)>;
    alignas(64) C products[Block::most_neighbours][Block::width]{};
    for (std::int64_t plane = image * s.channels; plane < (image + 1) * s.channels; ++plane)
      if (block.all_inside)
        block.template multiply<true>(u + plane * s.points + first, x + plane * s.pixels(), products);
      else
        block.template multiply<false>(u + plane * s.points + first, x + plane * s.pixels(), products);
    C* const here = slopes + (image * s.points + first) * s.axes;
    for (int axis = 0; axis < s.axes; ++axis) {
      const bool is_constant = !s.is_linear || (s.differentiated >> axis & 1) != 0;
      if (!is_constant) block.weigh(s.axes, s.differentiated | 1u << axis);
      for (int p = 0; p < block.count; ++p) {
        C total{};
        for (int k = 0; k < block.neighbours() && !is_constant; ++k) total += block.share[k][p] * products[k][p];
        here[p * s.axes + axis] = total;
      }
    }
  });
}

}}}} // namespace twill::v0::kernel::TWILL_ISA
