#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Convolutional layer of volumes, (batch, channels, depth, height, width), with its own weights: shapes, names and
// initial values are those of torch.nn.Conv3d. Pooling layers have none: they are the functions of ops/pooling3d.hpp
// under the names used in models. Not in twill.hpp. Read next: ops/convolution3d.hpp, nn/convolution.hpp.

#include <twill/core/call_site.hpp>
#include <twill/core/config.hpp>
#include <twill/nn/convolution.hpp>
#include <twill/nn/parameter.hpp>
#include <twill/ops/convolution3d.hpp>
#include <twill/ops/pooling3d.hpp>

#include <cstdint>
#include <string_view>

namespace twill { inline namespace v0 { namespace nn { inline namespace TWILL_ISA {

using graph::AlongSides;
using graph::Sides3;

/// Options of a convolution layer of volumes: kernel, movement and initial values.
struct VolumeConvolutionLayerOptions {
  Sides3 kernel = 1;                             ///< extents of the kernel
  Sides3 stride = 1;                             ///< between two places of the kernel
  Sides3 padding = 0;                            ///< elements on each side
  Sides3 dilation = 1;                           ///< between two elements of the kernel
  std::int64_t groups = 1;                       ///< channels of one group see those of no other
  Initialiser weight = initialise::layers_own(); ///< how the weights start
  BiasOption bias = true;                        ///< one number for each output channel: whether, or how they start
  PaddingMode padding_mode = PaddingMode::zeros; ///< what the padding is made of
  bool keeps_size = false; ///< instead of `padding`: as much as keeps all extents, PyTorch's padding="same"
};

/// Convolves x (batch, channels, depth, height, width) by `filters` filters. "weight": (filters, channels / groups,
/// depth, height, width), "bias". errors: those of `graph::conv3d`
[[nodiscard]] TWILL_CONSTEXPR Value conv3d(Value x, std::int64_t filters, std::string_view name,
                                           const VolumeConvolutionLayerOptions& o, CallSite site = CallSite::here()) {
  graph::Graph& graph = x.graph();
  if (x.rank() != 5) graph.refuse(graph::Problem::convolution_input_has_the_wrong_rank, x.rank(), 5, site);
  if (o.kernel.depth < 1 || o.kernel.height < 1 || o.kernel.width < 1)
    graph.refuse(graph::Problem::convolution_kernel_is_not_positive, o.kernel.depth, o.kernel.height, site);
  if (graph.fault.any()) return x;
  const std::int64_t channels = x.size(1, site);
  if (o.groups < 1 || channels % o.groups != 0)
    graph.refuse(graph::Problem::convolution_groups_do_not_divide_the_input_channels, o.groups, channels, site);
  else if (filters < 1 || filters % o.groups != 0)
    graph.refuse(graph::Problem::convolution_groups_do_not_divide_the_output_channels, o.groups, filters, site);
  if (graph.fault.any()) return x;
  const Scope scope{graph, name, site};
  const std::int64_t each = channels / o.groups;
  const Initialiser own =
      initialise::fan_in_uniform(static_cast<double>(each * o.kernel.depth * o.kernel.height * o.kernel.width));
  const Value weight = parameter(graph, "weight", {filters, each, o.kernel.depth, o.kernel.height, o.kernel.width},
                                 initialise::chosen(o.weight, own), Trainable::yes, site);
  graph::VolumeConvolutionOptions options{o.stride, o.padding, o.dilation, o.groups};
  if (o.keeps_size || o.padding_mode != PaddingMode::zeros) {
    x = detail::padded_along(x, {2, o.kernel.depth, o.stride.depth, o.padding.depth, o.dilation.depth}, o, site);
    x = detail::padded_along(x, {3, o.kernel.height, o.stride.height, o.padding.height, o.dilation.height}, o, site);
    x = detail::padded_along(x, {4, o.kernel.width, o.stride.width, o.padding.width, o.dilation.width}, o, site);
    options.padding = 0;
    if (graph.fault.any()) return x;
  }
  if (!o.bias.is_there) return graph::conv3d(x, weight, options, site);
  const Value bias = parameter(graph, "bias", {filters}, initialise::chosen(o.bias.start, own), Trainable::yes, site);
  return graph::conv3d(x, weight, bias, options, site);
}

using graph::VolumeAveragePoolOptions;
using graph::VolumeMaxPoolOptions;

using graph::adaptive_avg_pool3d;
using graph::adaptive_max_pool3d;
using graph::avg_pool3d;
using graph::max_pool3d;

}}}} // namespace twill::v0::nn::TWILL_ISA
