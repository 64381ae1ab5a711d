#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Convolution of volumes, (batch, channels, depth, height, width), like torch's conv3d: the sum over the kernel's depth
// of convolutions of images, for which all slices of a volume are one batch. Derivatives of all orders are those of the
// parts. Not in twill.hpp. Read next: ops/convolution.hpp, nn/convolution3d.hpp.

#include <twill/core/call_site.hpp>
#include <twill/core/config.hpp>
#include <twill/ops/convolution.hpp>
#include <twill/ops/patches.hpp>
#include <twill/ops/sides3.hpp>

#include <cstdint>

namespace twill { inline namespace v0 { namespace graph { inline namespace TWILL_ISA {

/// Options of a convolution of volumes: how its kernel moves over the input.
struct VolumeConvolutionOptions {
  Sides3 stride = 1;       ///< between two places of the kernel
  Sides3 padding = 0;      ///< zeros on each side
  Sides3 dilation = 1;     ///< between two elements of the kernel
  std::int64_t groups = 1; ///< channels of one group see those of no other
};

/// Convolution of x (batch, channels, depth, height, width) by weights (filters, channels / groups, depth, height,
/// width). errors: those of `conv2d`, a kernel deeper than the padded volume
/// cost: a convolution of images for each slice of the kernel, and their sum
[[nodiscard]] TWILL_CONSTEXPR Value conv3d(Value x, Value weight, const VolumeConvolutionOptions& options = {},
                                           CallSite site = CallSite::here()) {
  Graph& graph = x.graph();
  if (x.rank() != 5) graph.refuse(Problem::convolution_input_has_the_wrong_rank, x.rank(), 5, site);
  if (weight.rank() != 5) graph.refuse(Problem::convolution_weight_has_the_wrong_rank, weight.rank(), 5, site);
  if (graph.fault.any()) return x;
  const std::int64_t stride = options.stride.depth, padding = options.padding.depth, apart = options.dilation.depth;
  const std::int64_t depth = weight.size(2, site);
  const std::int64_t slices = detail::places_of_window(graph, x.size(2, site), depth, stride, padding, apart, site);
  if (graph.fault.any()) return x;
  const ConvolutionOptions across{{options.stride.height, options.stride.width},
                                  {options.padding.height, options.padding.width},
                                  {options.dilation.height, options.dilation.width},
                                  options.groups};
  // Slices come first, so that those under one slice of the kernel, of all volumes, are one batch of images.
  const Value by_slice = transpose(pad(x, 2, {padding, padding}, 0, site), {2, 0, 1, 3, 4}, site);
  const Extents shape = by_slice.shape();
  const Extent count{slices, 0};
  Value sum{};
  for (std::int64_t k = 0; k < depth; ++k) {
    const std::int64_t first = k * apart;
    const Value under =
        slice_axis(by_slice, 0, {.begin = first, .end = first + (slices - 1) * stride + 1, .step = stride});
    const Value images = reshape(under, {count * shape[1], shape[2], shape[3], shape[4]}, site);
    const Value part = conv2d(images, select(weight, 2, k, site), across, site);
    if (graph.fault.any()) return x;
    sum = k == 0 ? part : sum + part;
  }
  const Extents result = sum.shape();
  return transpose(reshape(sum, {count, shape[1], result[1], result[2], result[3]}, site), {1, 2, 0, 3, 4}, site);
}
/// Convolution of volumes plus one number for each filter.
[[nodiscard]] TWILL_CONSTEXPR Value conv3d(Value x, Value weight, Value bias,
                                           const VolumeConvolutionOptions& options = {},
                                           CallSite site = CallSite::here()) {
  const Value y = conv3d(x, weight, options, site);
  return x.graph().fault.any() ? y : add_channel_bias(y, bias, site);
}

}}}} // namespace twill::v0::graph::TWILL_ISA
