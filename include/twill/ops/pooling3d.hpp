#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Maximum and average pooling of volumes, (batch, channels, depth, height, width), and their adaptive forms, with
// PyTorch's shapes, options and choice among equals. The maximum or mean of a window is that over its depth of those
// over its images, so derivatives of all orders are those of pooling images. Not in twill.hpp. Read next:
// ops/pooling.hpp.

#include <twill/core/call_site.hpp>
#include <twill/core/config.hpp>
#include <twill/ops/pooling.hpp>
#include <twill/ops/sides3.hpp>

#include <cstdint>

namespace twill { inline namespace v0 { namespace graph { inline namespace TWILL_ISA {

/// Options of maximum pooling of volumes.
struct VolumeMaxPoolOptions {
  Sides3 window = 2;            ///< extents of a window, which gives one maximum
  Sides3 stride = 0;            ///< 0: the window's
  Sides3 padding = 0;           ///< on each side; padded places never win
  Sides3 dilation = 1;          ///< between two elements of the window
  CeilMode ceil = CeilMode::no; ///< whether a window may reach beyond the end
};

/// Options of average pooling of volumes.
struct VolumeAveragePoolOptions {
  Sides3 window = 2;                              ///< extents of a window, which gives one mean
  Sides3 stride = 0;                              ///< 0: the window's
  Sides3 padding = 0;                             ///< zeros on each side
  CeilMode ceil = CeilMode::no;                   ///< whether a window may reach beyond the end
  CountPadding count_padding = CountPadding::yes; ///< whether padded places count in the divisor
  std::int64_t divisor = 0;                       ///< 0: the number of elements
};

}}}} // namespace twill::v0::graph::TWILL_ISA

namespace twill { inline namespace v0 { namespace graph { namespace detail { inline namespace TWILL_ISA {

/// Refuses what is no volume, and extents that are unknown until run time.
TWILL_CONSTEXPR bool check_volume(Value x, CallSite site) {
  if (x.rank() != 5) {
    x.graph().refuse(Problem::pooling_input_has_the_wrong_rank, x.rank(), 5, site);
    return false;
  }
  for (int axis = 1; axis < 5; ++axis) static_cast<void>(x.size(axis, site));
  return !x.graph().fault.any();
}

/// A pooling of images over height and width, then one over the depth; both take and give (batch, channels, rows,
/// columns).
template <class OfImages, class OfDepth>
[[nodiscard]] constexpr Value pooled(Value x, CallSite site, const OfImages& of_images, const OfDepth& of_depth) {
  if (!check_volume(x, site)) return x;
  const Extents shape = x.shape();
  const Value images = of_images(reshape(x, {shape[0], shape[1] * shape[2], shape[3], shape[4]}));
  if (x.graph().fault.any()) return x;
  const Extent height = images.shape()[2], width = images.shape()[3];
  const Value y = of_depth(reshape(images, {shape[0], shape[1], shape[2], height * width}));
  if (x.graph().fault.any()) return x;
  return reshape(y, {shape[0], shape[1], y.shape()[2], height, width});
}

}}}}} // namespace twill::v0::graph::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace graph { inline namespace TWILL_ISA {

/// The largest element of each window of volumes (batch, channels, depth, height, width). NaN passes on; the gradient
/// goes to the first of equals.
[[nodiscard]] TWILL_CONSTEXPR Value max_pool3d(Value x, const VolumeMaxPoolOptions& o,
                                               CallSite site = CallSite::here()) {
  const auto of_images = [&](Value images) {
    return max_pool2d(images,
                      {{o.window.height, o.window.width},
                       {o.stride.height, o.stride.width},
                       {o.padding.height, o.padding.width},
                       {o.dilation.height, o.dilation.width},
                       o.ceil},
                      site);
  };
  const auto of_depth = [&](Value slices) {
    return max_pool2d(
        slices, {{o.window.depth, 1}, {o.stride.depth, 1}, {o.padding.depth, 0}, {o.dilation.depth, 1}, o.ceil}, site);
  };
  return detail::pooled(x, site, of_images, of_depth);
}

/// The mean of each window of volumes (batch, channels, depth, height, width).
[[nodiscard]] TWILL_CONSTEXPR Value avg_pool3d(Value x, const VolumeAveragePoolOptions& o,
                                               CallSite site = CallSite::here()) {
  const auto of_images = [&](Value images) {
    return avg_pool2d(images,
                      {{o.window.height, o.window.width},
                       {o.stride.height, o.stride.width},
                       {o.padding.height, o.padding.width},
                       o.ceil,
                       o.count_padding,
                       o.divisor == 0 ? 0 : 1},
                      site);
  };
  const auto of_depth = [&](Value slices) {
    return avg_pool2d(
        slices, {{o.window.depth, 1}, {o.stride.depth, 1}, {o.padding.depth, 0}, o.ceil, o.count_padding, o.divisor},
        site);
  };
  return detail::pooled(x, site, of_images, of_depth);
}

/// The means of `output` windows, which cover volumes (batch, channels, depth, height, width) evenly.
[[nodiscard]] TWILL_CONSTEXPR Value adaptive_avg_pool3d(Value x, Sides3 output, CallSite site = CallSite::here()) {
  const auto of_images = [&](Value images) { return adaptive_avg_pool2d(images, {output.height, output.width}, site); };
  const auto of_depth = [&](Value slices) {
    return adaptive_avg_pool2d(slices, {output.depth, slices.size(3, site)}, site);
  };
  return detail::pooled(x, site, of_images, of_depth);
}

/// The maxima of `output` windows, which cover volumes (batch, channels, depth, height, width).
[[nodiscard]] TWILL_CONSTEXPR Value adaptive_max_pool3d(Value x, Sides3 output, CallSite site = CallSite::here()) {
  const auto of_images = [&](Value images) { return adaptive_max_pool2d(images, {output.height, output.width}, site); };
  const auto of_depth = [&](Value slices) {
    return adaptive_max_pool2d(slices, {output.depth, slices.size(3, site)}, site);
  };
  return detail::pooled(x, site, of_images, of_depth);
}

}}}} // namespace twill::v0::graph::TWILL_ISA
