#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Pooling over windows of channels-last images on host devices: averages and their gradient; for maxima, picks at the
// largest element of a window and their transpose, which find that element again instead of storing its place. Every
// thread has images of its own, so sums have one order. Read next: kernel/gpu/pooling.hpp, ops/pooling.hpp.

#include <twill/core/config.hpp>
#include <twill/core/dtype.hpp>
#include <twill/device/cpu/team.hpp>
#include <twill/kernel/apply.hpp>
#include <twill/kernel/blocks.hpp>
#include <twill/kernel/scratch.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace twill { inline namespace v0 { namespace kernel {

enum class PoolingPart : std::uint8_t {
  average,          ///< out from in: the sum of a window over a divisor
  average_gradient, ///< in from out: each element's share of all windows that hold it
  pick,             ///< out from in: the value of `in` where `key` is largest in a window
  scatter,          ///< in from out: the sum over the windows in which `key` is largest here
};

/// How a window divides its sum, and where windows begin.
enum class PoolingMode : std::uint8_t {
  padded,   ///< by the elements of the window within the padded image, as with `count_include_pad`
  inside,   ///< by its elements within the image
  fixed,    ///< by a number
  adaptive, ///< windows follow from the extents alone: output i covers [floor(i n / m), ceil((i + 1) n / m))
};

struct PoolingShape {
  using Space = std::array<std::int64_t, 2>;
  std::int64_t batch = 1;
  std::int64_t channels = 1;
  Space input{1, 1};
  Space output{1, 1};
  Space window{1, 1};
  Space stride{1, 1};
  Space padding{0, 0};
  Space dilation{1, 1};
  PoolingMode mode = PoolingMode::padded;
  std::int64_t divisor = 1;

  /// Positions of a window along an axis that are inside the image, `step` apart, and how many there are with padding.
  struct Range {
    std::int64_t begin = 0;
    std::int64_t end = 0;
    std::int64_t step = 1;
    std::int64_t with_padding = 0;
  };
  [[nodiscard]] constexpr Range range(std::size_t axis, std::int64_t position) const {
    const std::int64_t n = input[axis];
    if (mode == PoolingMode::adaptive) {
      const std::int64_t m = output[axis];
      const std::int64_t begin = position * n / m;
      const std::int64_t end = ((position + 1) * n + m - 1) / m;
      return {begin, end, 1, end - begin};
    }
    const std::int64_t step = dilation[axis];
    const std::int64_t start = position * stride[axis] - padding[axis];
    const std::int64_t stop = std::min(start + step * (window[axis] - 1) + 1, n + padding[axis]);
    const std::int64_t skipped = start < 0 ? (-start + step - 1) / step : 0;
    return {start + skipped * step, std::min(stop, n), step, stop - start};
  }
  [[nodiscard]] constexpr std::int64_t divisor_of(const Range& rows, const Range& columns) const {
    if (mode == PoolingMode::fixed) return divisor;
    if (mode == PoolingMode::padded) return rows.with_padding * columns.with_padding;
    return (rows.end - rows.begin) * (columns.end - columns.begin);
  }
  /// The range of outputs whose windows hold a position of the image.
  struct Readers {
    std::int64_t first = 0;
    std::int64_t last = 0;
  };
  [[nodiscard]] constexpr Readers readers(std::size_t axis, std::int64_t position) const {
    const std::int64_t n = input[axis];
    const std::int64_t m = output[axis];
    if (mode == PoolingMode::adaptive) return {position * m / n, ((position + 1) * m + n - 1) / n - 1};
    const std::int64_t at = position + padding[axis];
    const std::int64_t behind = at - dilation[axis] * (window[axis] - 1);
    return {behind <= 0 ? 0 : (behind + stride[axis] - 1) / stride[axis], std::min(m - 1, at / stride[axis])};
  }
  [[nodiscard]] constexpr std::int64_t in_elements() const { return batch * input[0] * input[1] * channels; }
  [[nodiscard]] constexpr std::int64_t out_elements() const { return batch * output[0] * output[1] * channels; }
};

/// A part of pooling and its tensors; the part says which of `in` and `out` is written.
template <class T> struct Pooling {
  PoolingPart part = PoolingPart::average;
  PoolingShape shape{};
  const T* key = nullptr; ///< of picks and scatters: as large as `in`
  T* in = nullptr;
  T* out = nullptr;
};

/// Whether x replaces the largest value so far, in PyTorch's order: the first of equals, the last NaN.
template <class T> [[nodiscard]] constexpr bool is_larger(T x, T largest) { return x > largest || x != x; }

}}} // namespace twill::v0::kernel

namespace twill { inline namespace v0 { namespace kernel { namespace detail { inline namespace TWILL_ISA {

inline constexpr std::int64_t channel_run = 64;

/// The window of one pixel of `out`, for a run of channels.
template <class T> struct PoolingWindow {
  using C = compute_t<T>;
  const Pooling<T>& p;
  PoolingShape::Range rows;
  PoolingShape::Range columns;
  std::int64_t image; ///< element of `in` at which the image begins
  std::int64_t pixel; ///< element of `out`
  std::int64_t count; ///< of channels

  [[nodiscard]] std::int64_t at(std::int64_t h, std::int64_t v) const {
    return image + (h * p.shape.input[1] + v) * p.shape.channels;
  }
  template <class F> void each(const F& f) const {
    for (std::int64_t h = rows.begin; h < rows.end; h += rows.step)
      for (std::int64_t v = columns.begin; v < columns.end; v += columns.step) f(at(h, v));
  }

  void average() const {
    C sums[channel_run] = {};
    each([&](std::int64_t from) {
      for (std::int64_t c = 0; c < count; ++c) sums[c] += static_cast<C>(p.in[from + c]);
    });
    const C divisor = static_cast<C>(p.shape.divisor_of(rows, columns));
    for (std::int64_t c = 0; c < count; ++c) p.out[pixel + c] = static_cast<T>(sums[c] / divisor);
  }

  void spread_average(C* sums, std::int64_t first) const {
    const C divisor = static_cast<C>(p.shape.divisor_of(rows, columns));
    each([&](std::int64_t to) {
      for (std::int64_t c = 0; c < count; ++c) sums[to - first + c] += static_cast<C>(p.out[pixel + c]) / divisor;
    });
  }

  /// Finds the largest `key` of the window for each channel.
  void find_largest() const {
    C largest[channel_run];
    std::fill_n(largest, channel_run, -std::numeric_limits<C>::infinity());
    each([&](std::int64_t from) {
      for (std::int64_t c = 0; c < count; ++c) {
        const C x = static_cast<C>(p.key[from + c]);
        largest[c] = is_larger(x, largest[c]) ? x : largest[c];
      }
    });
    for (std::int64_t c = 0; c < count; ++c) p.out[pixel + c] = static_cast<T>(largest[c]);
  }

  /// Calls f(channel, element) with the element of `key` that is largest in the window.
  template <class F> void find(const F& f) const {
    using Number = std::conditional_t<sizeof(C) == 8, std::int64_t, std::int32_t>; // as wide as the compared type
    C largest[channel_run];
    Number places[channel_run] = {};
    Number number = 0;
    each([&](std::int64_t from) {
      for (std::int64_t c = 0; c < count; ++c) {
        const C x = static_cast<C>(p.key[from + c]);
        const bool takes = number == 0 || is_larger(x, largest[c]);
        largest[c] = takes ? x : largest[c];
        places[c] = takes ? number : places[c];
      }
      ++number;
    });
    if (number == 0) return; // a dilated window may step over the image
    const std::int64_t width = (columns.end - columns.begin + columns.step - 1) / columns.step;
    for (std::int64_t c = 0; c < count; ++c)
      f(c, c + at(rows.begin + places[c] / width * rows.step, columns.begin + places[c] % width * columns.step));
  }
};

/// All windows of one image. `sums` has room for an image where `in` is written, and is `in` if sums have its type.
template <class T> void pool_image(const Pooling<T>& p, std::int64_t number, compute_t<T>* sums) {
  const PoolingShape& s = p.shape;
  const std::int64_t image = number * s.input[0] * s.input[1] * s.channels;
  const std::int64_t image_elements = s.input[0] * s.input[1] * s.channels;
  const bool writes_in = p.part == PoolingPart::average_gradient || p.part == PoolingPart::scatter;
  if (writes_in) std::fill_n(sums, image_elements, compute_t<T>{});
  for (std::int64_t row = 0; row < s.output[0]; ++row)
    for (std::int64_t column = 0; column < s.output[1]; ++column)
      for (std::int64_t first = 0; first < s.channels; first += channel_run) {
        const std::int64_t pixel = ((number * s.output[0] + row) * s.output[1] + column) * s.channels + first;
        const PoolingWindow<T> window{
            p, s.range(0, row), s.range(1, column), image + first, pixel, std::min(channel_run, s.channels - first)};
        if (p.part == PoolingPart::average) {
          window.average();
        } else if (p.part == PoolingPart::average_gradient) {
          window.spread_average(sums, image);
        } else if (p.part == PoolingPart::scatter) {
          window.find([&](std::int64_t c, std::int64_t place) {
            sums[place - image] += static_cast<compute_t<T>>(p.out[pixel + c]);
          });
        } else if (p.key == p.in) {
          window.find_largest();
        } else {
          window.find([&](std::int64_t c, std::int64_t place) { p.out[pixel + c] = p.in[place]; });
        }
      }
  if (writes_in && !std::is_same_v<T, compute_t<T>>)
    for (std::int64_t i = 0; i < image_elements; ++i) p.in[image + i] = static_cast<T>(sums[i]);
}

}}}}} // namespace twill::v0::kernel::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace kernel { inline namespace TWILL_ISA {

/// Computes one part of pooling. Other kinds of team overload it. Call it unqualified.
template <class T> void run_pooling(const Team& team, const Pooling<T>& pooling) {
  const PoolingShape& s = pooling.shape;
  if (s.in_elements() == 0) return;
  const std::int64_t elements = s.in_elements() / s.batch;
  share_out(team, s.batch, s.in_elements() * 2, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t image = first; image < last; ++image) {
      if constexpr (std::is_same_v<T, compute_t<T>>)
        detail::pool_image(pooling, image, pooling.in + image * elements);
      else
        detail::pool_image(pooling, image, Scratch::of_thread<float>(elements));
    }
  });
}

/// Takes the working memory of such a call in each thread that will need it, and starts them.
template <class T> TWILL_COLD void reserve_pooling(const Team& team, const PoolingShape& s) {
  if (s.in_elements() == 0) return;
  share_out(team, s.batch, s.in_elements() * 2, [&](std::int64_t first, std::int64_t last) {
    if (!std::is_same_v<T, compute_t<T>> && first < last) Scratch::reserve<float>(s.in_elements() / s.batch);
  });
}

}}}} // namespace twill::v0::kernel::TWILL_ISA
