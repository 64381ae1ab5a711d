#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Transposed convolutional layer of volumes, (batch, channels, depth, height, width), with its own weights: shapes,
// names and initial values are those of torch.nn.ConvTranspose3d. Not in twill.hpp. Read next:
// ops/transposed_convolution3d.hpp, nn/convolution3d.hpp.

#include <twill/core/call_site.hpp>
#include <twill/core/config.hpp>
#include <twill/nn/parameter.hpp>
#include <twill/ops/transposed_convolution3d.hpp>

#include <cstdint>
#include <string_view>

namespace twill { inline namespace v0 { namespace nn { inline namespace TWILL_ISA {

/// Options of a transposed convolution layer of volumes, those of the convolution that it reverses.
struct TransposedVolumeConvolutionLayerOptions {
  graph::Sides3 kernel = 1;                      ///< extents of the kernel
  graph::Sides3 stride = 1;                      ///< distance of the elements of the input
  graph::Sides3 padding = 0;                     ///< cut off on each side
  graph::Sides3 output_padding = 0;              ///< added at the end, less than the stride
  graph::Sides3 dilation = 1;                    ///< between two elements of the kernel
  std::int64_t groups = 1;                       ///< channels of one group see those of no other
  Initialiser weight = initialise::layers_own(); ///< how the weights start
  BiasOption bias = true;                        ///< one number for each output channel: whether, or how they start
};

/// The transposed convolution of x (batch, channels, depth, height, width). "weight": (channels, filters / groups,
/// depth, height, width), "bias". errors: those of `graph::conv_transpose3d`
[[nodiscard]] TWILL_CONSTEXPR Value conv_transpose3d(Value x, std::int64_t filters, std::string_view name,
                                                     const TransposedVolumeConvolutionLayerOptions& o,
                                                     CallSite site = CallSite::here()) {
  using graph::Problem;
  graph::Graph& graph = x.graph();
  if (x.rank() != 5) graph.refuse(Problem::convolution_input_has_the_wrong_rank, x.rank(), 5, site);
  if (o.kernel.depth < 1 || o.kernel.height < 1 || o.kernel.width < 1)
    graph.refuse(Problem::convolution_kernel_is_not_positive, o.kernel.depth, o.kernel.height, site);
  if (graph.fault.any()) return x;
  const std::int64_t channels = x.size(1, site);
  if (o.groups < 1 || channels % o.groups != 0)
    graph.refuse(Problem::convolution_groups_do_not_divide_the_input_channels, o.groups, channels, site);
  else if (filters < 1 || filters % o.groups != 0)
    graph.refuse(Problem::convolution_groups_do_not_divide_the_output_channels, o.groups, filters, site);
  if (graph.fault.any()) return x;
  const Scope scope{graph, name, site};
  const std::int64_t each = filters / o.groups;
  const Initialiser own =
      initialise::fan_in_uniform(static_cast<double>(each * o.kernel.depth * o.kernel.height * o.kernel.width));
  const Value weight = parameter(graph, "weight", {channels, each, o.kernel.depth, o.kernel.height, o.kernel.width},
                                 initialise::chosen(o.weight, own), Trainable::yes, site);
  const graph::TransposedVolumeConvolutionOptions options{o.stride, o.padding, o.output_padding, o.dilation, o.groups};
  if (!o.bias.is_there) return graph::conv_transpose3d(x, weight, options, site);
  const Value bias = parameter(graph, "bias", {filters}, initialise::chosen(o.bias.start, own), Trainable::yes, site);
  return graph::conv_transpose3d(x, weight, bias, options, site);
}

}}}} // namespace twill::v0::nn::TWILL_ISA
