#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Interpolation between the pixels of channels-last images on host devices: each output pixel is a weighted sum of one
// (nearest) or four (linear) input pixels, and the gradient adds the same shares back. Every thread has images of its
// own, so sums have one order. Read next: kernel/gpu/interpolation.hpp, ops/interpolate.hpp.

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
#include <type_traits>

namespace twill { inline namespace v0 { namespace kernel {

enum class Interpolation : std::uint8_t { nearest, linear, cubic };

struct InterpolationShape {
  using Space = std::array<std::int64_t, 2>;
  std::int64_t batch = 1;
  std::int64_t channels = 1;
  Space input{1, 1};
  Space output{1, 1};
  Interpolation mode = Interpolation::nearest;
  bool align_corners = false;
  std::array<double, 2> scale{0, 0}; ///< how many input pixels one output pixel is; 0: derived from the extents

  /// The share of two neighbouring input positions in an output position.
  struct Taps {
    std::int64_t first = 0;
    std::int64_t second = 0;
    double first_share = 1;
    double second_share = 0;
  };
  /// Source positions and shares, computed in double like PyTorch's.
  [[nodiscard]] constexpr Taps taps(std::size_t axis, std::int64_t position) const {
    const std::int64_t n = input[axis];
    const std::int64_t m = output[axis];
    const double usual = scale[axis] > 0 ? scale[axis] : static_cast<double>(n) / static_cast<double>(m);
    if (mode == Interpolation::nearest) {
      const std::int64_t source = scale[axis] > 0 ? static_cast<std::int64_t>(static_cast<double>(position) * usual)
                                                  : position * n / m; // exact
      return {std::min(source, n - 1), std::min(source, n - 1), 1, 0};
    }
    double source = 0;
    if (align_corners)
      source = m > 1 ? static_cast<double>(position) * (static_cast<double>(n - 1) / static_cast<double>(m - 1)) : 0;
    else
      source = std::max(0.0, (static_cast<double>(position) + 0.5) * usual - 0.5);
    const std::int64_t first = std::min(static_cast<std::int64_t>(source), n - 1);
    const double share = source - static_cast<double>(first);
    return {first, std::min(first + 1, n - 1), 1 - share, share};
  }
  [[nodiscard]] constexpr std::int64_t in_elements() const { return batch * input[0] * input[1] * channels; }
  [[nodiscard]] constexpr std::int64_t out_elements() const { return batch * output[0] * output[1] * channels; }
};

/// The output from the input or, for the gradient, the input from the output.
template <class T> struct Interpolating {
  bool is_gradient = false;
  InterpolationShape shape{};
  T* in = nullptr;
  T* out = nullptr;
};

}}} // namespace twill::v0::kernel

namespace twill { inline namespace v0 { namespace kernel { namespace detail { inline namespace TWILL_ISA {

/// One image. `sums` has room for it in a gradient, and is `in` where the gradient is summed in its own type.
template <class T> void interpolate_image(const Interpolating<T>& p, std::int64_t number, compute_t<T>* sums) {
  using C = compute_t<T>;
  const InterpolationShape& s = p.shape;
  const std::int64_t image_elements = s.input[0] * s.input[1] * s.channels;
  const std::int64_t image = number * image_elements;
  if (p.is_gradient) std::fill_n(sums, image_elements, C{});
  for (std::int64_t row = 0; row < s.output[0]; ++row) {
    const InterpolationShape::Taps down = s.taps(0, row);
    for (std::int64_t column = 0; column < s.output[1]; ++column) {
      const InterpolationShape::Taps right = s.taps(1, column);
      const auto at = [&](std::int64_t h, std::int64_t v) { return (h * s.input[1] + v) * s.channels; };
      const std::int64_t places[4] = {at(down.first, right.first), at(down.first, right.second),
                                      at(down.second, right.first), at(down.second, right.second)};
      const C shares[4] = {static_cast<C>(down.first_share * right.first_share),
                           static_cast<C>(down.first_share * right.second_share),
                           static_cast<C>(down.second_share * right.first_share),
                           static_cast<C>(down.second_share * right.second_share)};
      const int count = s.mode == Interpolation::nearest ? 1 : 4;
      T* const pixel = p.out + ((number * s.output[0] + row) * s.output[1] + column) * s.channels;
      for (std::int64_t c = 0; c < s.channels; ++c) {
        if (p.is_gradient) {
          for (int k = 0; k < count; ++k) sums[places[k] + c] += shares[k] * static_cast<C>(pixel[c]);
        } else {
          C sum{};
          for (int k = 0; k < count; ++k) sum += shares[k] * static_cast<C>(p.in[image + places[k] + c]);
          pixel[c] = static_cast<T>(sum);
        }
      }
    }
  }
  if (p.is_gradient && !std::is_same_v<T, C>)
    for (std::int64_t i = 0; i < image_elements; ++i) p.in[image + i] = static_cast<T>(sums[i]);
}

}}}}} // namespace twill::v0::kernel::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace kernel { inline namespace TWILL_ISA {

/// Interpolates, or computes the gradient. Other kinds of team overload it. Call it unqualified.
template <class T> void run_interpolation(const Team& team, const Interpolating<T>& interpolating) {
  const InterpolationShape& s = interpolating.shape;
  if (s.in_elements() == 0) return;
  const std::int64_t elements = s.in_elements() / s.batch;
  share_out(team, s.batch, (s.in_elements() + s.out_elements()) * 2, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t image = first; image < last; ++image) {
      if constexpr (std::is_same_v<T, compute_t<T>>)
        detail::interpolate_image(interpolating, image, interpolating.in + image * elements);
      else
        detail::interpolate_image(interpolating, image, Scratch::of_thread<float>(elements));
    }
  });
}

/// Takes the working memory of such a call in each thread that will need it, and starts them.
template <class T> TWILL_COLD void reserve_interpolation(const Team& team, const InterpolationShape& s) {
  if (s.in_elements() == 0) return;
  share_out(team, s.batch, (s.in_elements() + s.out_elements()) * 2, [&](std::int64_t first, std::int64_t last) {
    if (!std::is_same_v<T, compute_t<T>> && first < last) Scratch::reserve<float>(s.in_elements() / s.batch);
  });
}

}}}} // namespace twill::v0::kernel::TWILL_ISA
