#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Transposed convolutions: the gradient of a convolution by its input, as a function of its own. Weights are
// (channels, filters / groups, height, width), as in PyTorch. Read next: nn/convolution.hpp.

#include <twill/core/call_site.hpp>
#include <twill/core/config.hpp>
#include <twill/ops/convolution.hpp>

#include <cstdint>

namespace twill { inline namespace v0 { namespace graph { inline namespace TWILL_ISA {

/// Options of the transposed convolution; `output_padding` chooses among the inputs that it maps to one output.
struct TransposedConvolutionOptions {
  Sides stride = 1;         ///< of the convolution; here the distance between elements
  Sides padding = 0;        ///< of the convolution; here the width of the border cut off
  Sides output_padding = 0; ///< less than the stride
  Sides dilation = 1;       ///< between two elements of the kernel
  std::int64_t groups = 1;  ///< channels of one group see those of no other
};

}}}} // namespace twill::v0::graph::TWILL_ISA

namespace twill { inline namespace v0 { namespace graph { namespace detail { inline namespace TWILL_ISA {

// length = (input - 1) * stride - 2 * padding + dilation * (kernel - 1) + output_padding + 1
TWILL_CONSTEXPR Value transposed_convolution(Value x, Value w, int dimensions,
                                             const TransposedConvolutionOptions& options, CallSite site) {
  Graph& graph = x.graph();
  x = autocast_to_narrow(x);
  w = autocast_to_narrow(w);
  if (!check_convolution(x, w, dimensions, options.stride, options.padding, options.dilation, options.groups, site))
    return x;
  if (w.size(0, site) != x.size(1, site)) {
    graph.refuse(Problem::convolution_input_channels_differ_from_the_weights, x.size(1, site), w.size(0, site), site);
    return x;
  }
  Extents shape{};
  shape.append(x.shape()[0]);
  for (int axis = 2; axis < dimensions + 2; ++axis) {
    const bool is_width = axis == dimensions + 1;
    const auto of = [&](Sides sides) { return is_width ? sides.width : sides.height; };
    const std::int64_t extra = of(options.output_padding);
    if (extra < 0 || extra >= of(options.stride)) {
      graph.refuse(Problem::output_padding_is_not_less_than_the_stride, extra, of(options.stride), site);
      return x;
    }
    const std::int64_t reach = of(options.dilation) * (w.size(axis, site) - 1) + 1;
    const std::int64_t length = (x.size(axis, site) - 1) * of(options.stride) - 2 * of(options.padding) + reach + extra;
    if (graph.fault.any()) return x;
    if (length < 1 || reach < 1) {
      graph.refuse(Problem::transposed_convolution_has_an_empty_result, length, of(options.padding), site);
      return x;
    }
    shape.append({length, 0});
  }
  shape.append({w.size(1, site) * options.groups, 0});
  const int attributes =
      convolution_attributes(graph, dimensions, options.stride, options.padding, options.dilation, options.groups);
  return channels_first(convolve(convolution_input_gradient_operation, channels_last(x), w, shape, attributes));
}

}}}}} // namespace twill::v0::graph::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace graph { inline namespace TWILL_ISA {

/// Transposed convolution of x (batch, channels, length) by weights (channels, filters / groups, length).
[[nodiscard]] TWILL_CONSTEXPR Value conv_transpose1d(Value x, Value weight,
                                                     const TransposedConvolutionOptions& options = {},
                                                     CallSite site = CallSite::here()) {
  return detail::transposed_convolution(x, weight, 1, options, site);
}
/// Transposed convolution of one dimension plus one number for each filter.
[[nodiscard]] TWILL_CONSTEXPR Value conv_transpose1d(Value x, Value weight, Value bias,
                                                     const TransposedConvolutionOptions& options = {},
                                                     CallSite site = CallSite::here()) {
  return add_channel_bias(detail::transposed_convolution(x, weight, 1, options, site), bias, site);
}

/// Transposed convolution of x (batch, channels, height, width) by weights (channels, filters / groups, height, width).
[[nodiscard]] TWILL_CONSTEXPR Value conv_transpose2d(Value x, Value weight,
                                                     const TransposedConvolutionOptions& options = {},
                                                     CallSite site = CallSite::here()) {
  return detail::transposed_convolution(x, weight, 2, options, site);
}
/// Transposed convolution of two dimensions plus one number for each filter.
[[nodiscard]] TWILL_CONSTEXPR Value conv_transpose2d(Value x, Value weight, Value bias,
                                                     const TransposedConvolutionOptions& options = {},
                                                     CallSite site = CallSite::here()) {
  return add_channel_bias(detail::transposed_convolution(x, weight, 2, options, site), bias, site);
}

}}}} // namespace twill::v0::graph::TWILL_ISA
