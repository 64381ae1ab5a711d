#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Transposed convolution of volumes, (batch, channels, depth, height, width), like torch's conv_transpose3d: one
// transposed convolution of images, for which all slices of a volume are one batch and all slices of the kernel are
// filters, and a sum of the resulting slices at their depths. Derivatives of all orders are those of the parts. Not in
// twill.hpp. Read next: ops/transposed_convolution.hpp, nn/transposed_convolution3d.hpp.

#include <twill/core/call_site.hpp>
#include <twill/core/config.hpp>
#include <twill/ops/gather.hpp>
#include <twill/ops/sides3.hpp>
#include <twill/ops/transposed_convolution.hpp>

#include <cstdint>

namespace twill { inline namespace v0 { namespace graph { inline namespace TWILL_ISA {

/// Options of a transposed convolution of volumes, those of the convolution that it reverses.
struct TransposedVolumeConvolutionOptions {
  Sides3 stride = 1;         ///< of the convolution; here the distance between elements
  Sides3 padding = 0;        ///< of the convolution; here the width of the border cut off
  Sides3 output_padding = 0; ///< less than the stride
  Sides3 dilation = 1;       ///< between two elements of the kernel
  std::int64_t groups = 1;   ///< channels of one group see those of no other
};

}}}} // namespace twill::v0::graph::TWILL_ISA

namespace twill { inline namespace v0 { namespace graph { namespace detail { inline namespace TWILL_ISA {

/// The depth of the result; 0 after a fault. errors: options along the depth that `conv_transpose2d` refuses along rows
[[nodiscard]] TWILL_CONSTEXPR std::int64_t
transposed_depth(Value x, Value weight, const TransposedVolumeConvolutionOptions& options, CallSite site) {
  Graph& graph = x.graph();
  if (x.rank() != 5) graph.refuse(Problem::convolution_input_has_the_wrong_rank, x.rank(), 5, site);
  if (weight.rank() != 5) graph.refuse(Problem::convolution_weight_has_the_wrong_rank, weight.rank(), 5, site);
  if (graph.fault.any()) return 0;
  const std::int64_t stride = options.stride.depth, padding = options.padding.depth, apart = options.dilation.depth;
  const std::int64_t extra = options.output_padding.depth, kernel = weight.size(2, site);
  if (stride < 1) graph.refuse(Problem::convolution_stride_is_not_positive, stride, 1, site);
  if (apart < 1) graph.refuse(Problem::convolution_dilation_is_not_positive, apart, 1, site);
  if (padding < 0) graph.refuse(Problem::convolution_padding_is_negative, padding, 0, site);
  if (kernel < 1) graph.refuse(Problem::convolution_kernel_is_not_positive, kernel, 1, site);
  if (extra < 0 || extra >= stride)
    graph.refuse(Problem::output_padding_is_not_less_than_the_stride, extra, stride, site);
  const std::int64_t depth = (x.size(2, site) - 1) * stride - 2 * padding + apart * (kernel - 1) + extra + 1;
  if (depth < 1) graph.refuse(Problem::transposed_convolution_has_an_empty_result, depth, padding, site);
  return graph.fault.any() ? 0 : depth;
}

/// Where in the result slice d of the input times slice k of the kernel belongs: (slices * kernel) depths, of which
/// those outside of the result are beyond its end.
[[nodiscard]] TWILL_CONSTEXPR Value places_in_depth(Graph& graph, std::int64_t slices, std::int64_t kernel,
                                                    std::int64_t depth,
                                                    const TransposedVolumeConvolutionOptions& options) {
  const Value slice = iota(graph, {{slices, 0}, {1, 0}}), of_kernel = iota(graph, {{1, 0}, {kernel, 0}});
  const Value place = slice * options.stride.depth + of_kernel * options.dilation.depth - options.padding.depth;
  return reshape(where(place >= 0, place, depth), {{slices * kernel, 0}});
}

}}}}} // namespace twill::v0::graph::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace graph { inline namespace TWILL_ISA {

/// Transposed convolution of x (batch, channels, depth, height, width) by weights (channels, filters / groups, depth,
/// height, width). errors: those of `conv_transpose2d`, also along the depth
/// cost: a transposed convolution of images with a filter for each slice of the kernel, and a sum of its results
[[nodiscard]] TWILL_CONSTEXPR Value conv_transpose3d(Value x, Value weight,
                                                     const TransposedVolumeConvolutionOptions& options = {},
                                                     CallSite site = CallSite::here()) {
  const std::int64_t depth = detail::transposed_depth(x, weight, options, site);
  if (x.graph().fault.any()) return x;
  const Extents in = x.shape(), w = weight.shape();
  const Value images = reshape(transpose(x, {0, 2, 1, 3, 4}, site), {in[0] * in[2], in[1], in[3], in[4]}, site);
  const Value filters = reshape(weight, {w[0], w[1] * w[2], w[3], w[4]}, site);
  const Value parts = conv_transpose2d(images, filters,
                                       {.stride = {options.stride.height, options.stride.width},
                                        .padding = {options.padding.height, options.padding.width},
                                        .output_padding = {options.output_padding.height, options.output_padding.width},
                                        .dilation = {options.dilation.height, options.dilation.width},
                                        .groups = options.groups},
                                       site);
  if (x.graph().fault.any()) return x;
  const Extent each = w[1] * Extent{options.groups, 0}, height = parts.shape()[2], width = parts.shape()[3];
  const Value by_slice = reshape(parts, {in[0], in[2], each, w[2], height, width}, site);
  const Value slices =
      reshape(transpose(by_slice, {0, 2, 1, 3, 4, 5}, site), {in[0], each, in[2] * w[2], height, width}, site);
  const Value none = broadcast_to(constant(x.graph(), parts.dtype(), 0), {in[0], each, {depth, 0}, height, width});
  return index_add(none, 2, detail::places_in_depth(x.graph(), in[2].factor, w[2].factor, depth, options), slices,
                   site);
}
/// Transposed convolution of volumes plus one number for each filter.
[[nodiscard]] TWILL_CONSTEXPR Value conv_transpose3d(Value x, Value weight, Value bias,
                                                     const TransposedVolumeConvolutionOptions& options = {},
                                                     CallSite site = CallSite::here()) {
  const Value y = conv_transpose3d(x, weight, options, site);
  return x.graph().fault.any() ? y : add_channel_bias(y, bias, site);
}

}}}} // namespace twill::v0::graph::TWILL_ISA
