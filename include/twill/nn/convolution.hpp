#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Convolutional layers with their own weights. Shapes, names and initial values of weights are those of
// torch.nn.Conv1d, Conv2d, ConvTranspose1d and ConvTranspose2d. Pooling layers have none: they are the functions of
// ops/pooling.hpp under the names used in models. Read next: ops/convolution.hpp.

#include <twill/core/call_site.hpp>
#include <twill/core/config.hpp>
#include <twill/nn/parameter.hpp>
#include <twill/ops/concatenate.hpp>
#include <twill/ops/pooling.hpp>
#include <twill/ops/transposed_convolution.hpp>

#include <cstdint>
#include <string_view>

namespace twill { inline namespace v0 { namespace nn { inline namespace TWILL_ISA {

using graph::Sides;

/// The elements with which a convolution layer pads its input.
enum class PaddingMode : std::uint8_t {
  zeros,     ///< 0 0 | 1 2 3 | 0 0
  reflect,   ///< 3 2 | 1 2 3 | 2 1
  replicate, ///< 1 1 | 1 2 3 | 3 3
  circular,  ///< 2 3 | 1 2 3 | 1 2
};

/// Options of a convolution layer: kernel, movement and initial values.
struct ConvolutionLayerOptions {
  Sides kernel = 1;                              ///< extents of the kernel
  Sides stride = 1;                              ///< between two places of the kernel
  Sides padding = 0;                             ///< elements on each side
  Sides dilation = 1;                            ///< between two elements of the kernel
  std::int64_t groups = 1;                       ///< channels of one group see those of no other
  Initialiser weight = initialise::layers_own(); ///< how the weights start
  BiasOption bias = true;                        ///< one number for each output channel: whether, or how they start
  PaddingMode padding_mode = PaddingMode::zeros; ///< what the padding is made of
  bool keeps_size = false; ///< instead of `padding`: as much as keeps height and width, PyTorch's padding="same"
};

/// Options of a transposed convolution layer, those of the convolution that it reverses.
struct TransposedConvolutionLayerOptions {
  Sides kernel = 1;                              ///< extents of the kernel
  Sides stride = 1;                              ///< distance of the elements of the input
  Sides padding = 0;                             ///< cut off on each side
  Sides output_padding = 0;                      ///< added at the end, less than the stride
  Sides dilation = 1;                            ///< between two elements of the kernel
  std::int64_t groups = 1;                       ///< channels of one group see those of no other
  Initialiser weight = initialise::layers_own(); ///< how the weights start
  BiasOption bias = true;                        ///< one number for each output channel: whether, or how they start
};

}}}} // namespace twill::v0::nn::TWILL_ISA

namespace twill { inline namespace v0 { namespace nn { namespace detail { inline namespace TWILL_ISA {

/// The weights of a layer: (first, second, kernel...), and a number for each filter.
struct LayerWeights {
  Value weight{};
  Value bias{};
};

template <class Options>
constexpr LayerWeights layer_weights(graph::Graph& graph, int dimensions, std::int64_t first, std::int64_t second,
                                     std::int64_t filters, const Options& o, CallSite site) {
  graph::Extents shape{};
  shape.append({first, 0});
  shape.append({second, 0});
  if (dimensions == 2) shape.append(graph::Extent{o.kernel.height, 0});
  shape.append(graph::Extent{o.kernel.width, 0});
  const std::int64_t area = (dimensions == 2 ? o.kernel.height : 1) * o.kernel.width;
  const Initialiser own = initialise::fan_in_uniform(static_cast<double>(second * area)); // like PyTorch
  LayerWeights made{};
  made.weight =
      parameter(graph, graph.element, "weight", shape, initialise::chosen(o.weight, own), Trainable::yes, site);
  if (o.bias.is_there)
    made.bias = parameter(graph, "bias", {filters}, initialise::chosen(o.bias.start, own), Trainable::yes, site);
  return made;
}

TWILL_CONSTEXPR bool check_layer(Value x, int dimensions, std::int64_t filters, Sides kernel, std::int64_t groups,
                                 CallSite site) {
  graph::Graph& graph = x.graph();
  if (x.rank() != dimensions + 2)
    graph.refuse(graph::Problem::convolution_input_has_the_wrong_rank, x.rank(), dimensions + 2, site);
  else if (groups < 1 || x.size(1, site) % groups != 0)
    graph.refuse(graph::Problem::convolution_groups_do_not_divide_the_input_channels, groups, x.size(1, site), site);
  else if (filters < 1 || filters % groups != 0)
    graph.refuse(graph::Problem::convolution_groups_do_not_divide_the_output_channels, groups, filters, site);
  else if (kernel.width < 1 || (dimensions == 2 && kernel.height < 1))
    graph.refuse(graph::Problem::convolution_kernel_is_not_positive, kernel.height, kernel.width, site);
  return !graph.fault.any();
}

/// A convolution along one axis.
struct AxisOfConvolution {
  int axis;
  std::int64_t kernel;
  std::int64_t stride;
  std::int64_t padding;
  std::int64_t dilation;
};

/// The input of a convolution with its padding; what keeps the size has one element more at the end where it is odd.
template <class Options>
[[nodiscard]] constexpr Value padded_along(Value x, const AxisOfConvolution& of, const Options& o, CallSite site) {
  graph::Margin margin{of.padding, of.padding};
  if (o.keeps_size) {
    const std::int64_t total = of.dilation * (of.kernel - 1);
    if (of.stride != 1)
      x.graph().refuse(graph::Problem::convolution_that_keeps_the_size_has_a_stride, of.stride, 1, site);
    margin = {total / 2, total - total / 2};
  }
  switch (o.padding_mode) {
  case PaddingMode::reflect:
    return graph::pad_reflect(x, of.axis, margin, site);
  case PaddingMode::replicate:
    return graph::pad_replicate(x, of.axis, margin, site);
  case PaddingMode::circular:
    return graph::pad_circular(x, of.axis, margin, site);
  default:
    return graph::pad(x, of.axis, margin, 0, site);
  }
}

[[nodiscard]] TWILL_CONSTEXPR Value padded(Value x, int dimensions, const ConvolutionLayerOptions& o, CallSite site) {
  const auto along = [&](int axis, std::int64_t kernel, std::int64_t stride, std::int64_t padding,
                         std::int64_t dilation) {
    return padded_along(x, {axis, kernel, stride, padding, dilation}, o, site);
  };
  if (dimensions == 2) x = along(2, o.kernel.height, o.stride.height, o.padding.height, o.dilation.height);
  return along(dimensions + 1, o.kernel.width, o.stride.width, o.padding.width, o.dilation.width);
}

TWILL_CONSTEXPR Value convolution_layer(Value x, int dimensions, std::int64_t filters, std::string_view name,
                                        const ConvolutionLayerOptions& o, CallSite site) {
  if (!check_layer(x, dimensions, filters, o.kernel, o.groups, site)) return x;
  const Scope scope{x.graph(), name, site};
  const LayerWeights own = layer_weights(x.graph(), dimensions, filters, x.size(1, site) / o.groups, filters, o, site);
  graph::ConvolutionOptions options{o.stride, o.padding, o.dilation, o.groups};
  if (o.keeps_size || o.padding_mode != PaddingMode::zeros) {
    x = padded(x, dimensions, o, site);
    options.padding = 0;
    if (x.graph().fault.any()) return x;
  }
  const Value y =
      dimensions == 1 ? graph::conv1d(x, own.weight, options, site) : graph::conv2d(x, own.weight, options, site);
  return o.bias.is_there && !x.graph().fault.any() ? graph::add_channel_bias(y, own.bias, site) : y;
}

TWILL_CONSTEXPR Value transposed_layer(Value x, int dimensions, std::int64_t filters, std::string_view name,
                                       const TransposedConvolutionLayerOptions& o, CallSite site) {
  if (!check_layer(x, dimensions, filters, o.kernel, o.groups, site)) return x;
  const Scope scope{x.graph(), name, site};
  const LayerWeights own = layer_weights(x.graph(), dimensions, x.size(1, site), filters / o.groups, filters, o, site);
  const graph::TransposedConvolutionOptions options{o.stride, o.padding, o.output_padding, o.dilation, o.groups};
  const Value y = dimensions == 1 ? graph::conv_transpose1d(x, own.weight, options, site)
                                  : graph::conv_transpose2d(x, own.weight, options, site);
  return o.bias.is_there && !x.graph().fault.any() ? graph::add_channel_bias(y, own.bias, site) : y;
}

}}}}} // namespace twill::v0::nn::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace nn { inline namespace TWILL_ISA {

/// Convolves x (batch, channels, length) by `filters` filters. "weight": (filters, channels / groups, kernel), "bias".
[[nodiscard]] TWILL_CONSTEXPR Value conv1d(Value x, std::int64_t filters, std::string_view name,
                                           const ConvolutionLayerOptions& options, CallSite site = CallSite::here()) {
  return detail::convolution_layer(x, 1, filters, name, options, site);
}

/// Convolves x (batch, channels, height, width). "weight": (filters, channels / groups, height, width), "bias".
[[nodiscard]] TWILL_CONSTEXPR Value conv2d(Value x, std::int64_t filters, std::string_view name,
                                           const ConvolutionLayerOptions& options, CallSite site = CallSite::here()) {
  return detail::convolution_layer(x, 2, filters, name, options, site);
}

/// The transposed convolution of x (batch, channels, length). "weight": (channels, filters / groups, kernel), "bias".
[[nodiscard]] TWILL_CONSTEXPR Value conv_transpose1d(Value x, std::int64_t filters, std::string_view name,
                                                     const TransposedConvolutionLayerOptions& options,
                                                     CallSite site = CallSite::here()) {
  return detail::transposed_layer(x, 1, filters, name, options, site);
}

/// Transposed conv, x (batch, channels, height, width). "weight": (channels, filters / groups, height, width), "bias".
[[nodiscard]] TWILL_CONSTEXPR Value conv_transpose2d(Value x, std::int64_t filters, std::string_view name,
                                                     const TransposedConvolutionLayerOptions& options,
                                                     CallSite site = CallSite::here()) {
  return detail::transposed_layer(x, 2, filters, name, options, site);
}

using graph::AveragePoolOptions;
using graph::CeilMode;
using graph::CountPadding;
using graph::MaxPoolOptions;

using graph::adaptive_avg_pool1d;
using graph::adaptive_avg_pool2d;
using graph::adaptive_max_pool1d;
using graph::adaptive_max_pool2d;
using graph::avg_pool1d;
using graph::avg_pool2d;
using graph::max_pool1d;
using graph::max_pool2d;

}}}} // namespace twill::v0::nn::TWILL_ISA
