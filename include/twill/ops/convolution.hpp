#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Convolutions of one and two dimensions with stride, padding, dilation and groups: shape rules, gradients, kernels.
// The output, the gradient by the input (which is the transposed convolution) and that by the weights are three
// operations, each linear in two operands, whose gradients are the other two; so all derivatives exist. Shapes, order
// of arguments and defaults are PyTorch's. Read next: ops/transposed_convolution.hpp, nn/convolution.hpp.

#include <twill/compile/program_type.hpp>
#include <twill/core/call_site.hpp>
#include <twill/core/config.hpp>
#include <twill/graph/functions.hpp>
#include <twill/graph/operation.hpp>
#include <twill/kernel/convolution.hpp>
#include <twill/ops/channels_last.hpp>

#include <cstddef>
#include <cstdint>

namespace twill { inline namespace v0 { namespace graph { inline namespace TWILL_ISA {

/// Options of a convolution: how its kernel moves over the input.
struct ConvolutionOptions {
  Sides stride = 1;        ///< between two places of the kernel
  Sides padding = 0;       ///< zeros on each side
  Sides dilation = 1;      ///< between two elements of the kernel
  std::int64_t groups = 1; ///< channels of one group see those of no other
};

}}}} // namespace twill::v0::graph::TWILL_ISA

namespace twill { inline namespace v0 { namespace graph { namespace detail { inline namespace TWILL_ISA {

// Each operation takes two of the input (batch, height, width, channels), the weights (filters, channels / groups,
// height, width) and the output, and computes the third; in one dimension without the heights.
TWILL_CONSTEXPR void convolution_vjp(Graph& graph, int node, const Cotangents& cotangents, InputGradients& gradients);
TWILL_CONSTEXPR void input_gradient_vjp(Graph& graph, int node, const Cotangents& cotangents,
                                        InputGradients& gradients);
TWILL_CONSTEXPR void weight_gradient_vjp(Graph& graph, int node, const Cotangents& cotangents,
                                         InputGradients& gradients);

/// The multiply-adds: for each element of the output, the number of weights of an output channel.
TWILL_CONSTEXPR Extent multiply_adds_of(const Extents& output, const Extents& weights) {
  Extent count = output.elements();
  for (int axis = 1; axis < weights.rank; ++axis) count = count * weights[axis];
  return count;
}
TWILL_CONSTEXPR Extent convolution_multiply_adds(const Graph& graph, const Node& node) {
  return multiply_adds_of(node.shape, graph.node(node.input(1)).shape);
}
TWILL_CONSTEXPR Extent input_gradient_multiply_adds(const Graph& graph, const Node& node) {
  return multiply_adds_of(graph.node(node.input(0)).shape, graph.node(node.input(1)).shape);
}
TWILL_CONSTEXPR Extent weight_gradient_multiply_adds(const Graph& graph, const Node& node) {
  return multiply_adds_of(graph.node(node.input(1)).shape, node.shape);
}

}}}}} // namespace twill::v0::graph::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace graph { inline namespace TWILL_ISA {

/// Output from input and weights.
inline constexpr Operation convolution_operation{.name = "convolution",
                                                 .vjp = &detail::convolution_vjp,
                                                 .wants_dense = true,
                                                 .channels_last = true,
                                                 .multiply_adds = &detail::convolution_multiply_adds,
                                                 .batching = Batching::convolution};
/// The gradient by the input, from the output's gradient and the weights.
inline constexpr Operation convolution_input_gradient_operation{.name = "convolution_input_gradient",
                                                                .vjp = &detail::input_gradient_vjp,
                                                                .wants_dense = true,
                                                                .channels_last = true,
                                                                .multiply_adds = &detail::input_gradient_multiply_adds,
                                                                .batching = Batching::convolution_input_gradient};
/// The gradient by the weights, from the input and the output's gradient.
inline constexpr Operation convolution_weight_gradient_operation{.name = "convolution_weight_gradient",
                                                                 .vjp = &detail::weight_gradient_vjp,
                                                                 .wants_dense = true,
                                                                 .channels_last = true,
                                                                 .multiply_adds =
                                                                     &detail::weight_gradient_multiply_adds,
                                                                 .batching = Batching::convolution_weight_gradient};

}}}} // namespace twill::v0::graph::TWILL_ISA

namespace twill { inline namespace v0 { namespace graph { namespace detail { inline namespace TWILL_ISA {

/// One of the three operations with the attributes of another one.
TWILL_CONSTEXPR Value convolve(const Operation& operation, Value left, Value right, const Extents& shape,
                               int attributes) {
  Node node{};
  node.kind = Kind::operation;
  node.operation = &operation;
  node.dtype = left.dtype();
  node.shape = shape;
  node.index = attributes;
  node.arity = 2;
  node.inputs[0] = left.id();
  node.inputs[1] = right.id();
  return {left.graph(), left.graph().add(node)};
}

TWILL_CONSTEXPR void convolution_vjp(Graph& graph, int node, const Cotangents& cotangents, InputGradients& gradients) {
  const Node of = graph.node(node);
  const Value x{graph, of.input(0)};
  const Value w{graph, of.input(1)};
  const Value g{graph, cotangents[0]};
  if (gradients.wants(0)) gradients.set(0, convolve(convolution_input_gradient_operation, g, w, x.shape(), of.index));
  if (gradients.wants(1)) gradients.set(1, convolve(convolution_weight_gradient_operation, x, g, w.shape(), of.index));
}

TWILL_CONSTEXPR void input_gradient_vjp(Graph& graph, int node, const Cotangents& cotangents,
                                        InputGradients& gradients) {
  const Node of = graph.node(node);
  const Value y{graph, of.input(0)};
  const Value w{graph, of.input(1)};
  const Value g{graph, cotangents[0]};
  if (gradients.wants(0)) gradients.set(0, convolve(convolution_operation, g, w, y.shape(), of.index));
  if (gradients.wants(1)) gradients.set(1, convolve(convolution_weight_gradient_operation, g, y, w.shape(), of.index));
}

TWILL_CONSTEXPR void weight_gradient_vjp(Graph& graph, int node, const Cotangents& cotangents,
                                         InputGradients& gradients) {
  const Node of = graph.node(node);
  const Value x{graph, of.input(0)};
  const Value y{graph, of.input(1)};
  const Value g{graph, cotangents[0]};
  if (gradients.wants(0)) gradients.set(0, convolve(convolution_input_gradient_operation, y, g, x.shape(), of.index));
  if (gradients.wants(1)) gradients.set(1, convolve(convolution_operation, x, g, y.shape(), of.index));
}

/// The attributes of a convolution of one or two dimensions; one is two with a height of 1.
TWILL_CONSTEXPR int convolution_attributes(Graph& graph, int dimensions, Sides stride, Sides padding, Sides dilation,
                                           std::int64_t groups) {
  const bool is_flat = dimensions == 1;
  return graph.add_attributes({is_flat ? 1 : stride.height, stride.width, is_flat ? 0 : padding.height, padding.width,
                               is_flat ? 1 : dilation.height, dilation.width, groups});
}

/// Checks the requirements shared by a convolution and its transpose. `image` is (batch, channels, axes...).
TWILL_CONSTEXPR bool check_convolution(Value x, Value w, int dimensions, Sides stride, Sides padding, Sides dilation,
                                       std::int64_t groups, CallSite site) {
  Graph& graph = x.graph();
  const auto refuse = [&](bool is_wrong, Problem problem, std::int64_t left, std::int64_t right) {
    if (is_wrong) graph.refuse(problem, left, right, site);
    return is_wrong;
  };
  const bool flat = dimensions == 1;
  return !refuse(x.rank() != dimensions + 2, Problem::convolution_input_has_the_wrong_rank, x.rank(), dimensions + 2) &&
         !refuse(w.rank() != dimensions + 2, Problem::convolution_weight_has_the_wrong_rank, w.rank(),
                 dimensions + 2) &&
         !refuse(!is_floating(x.dtype()) || x.dtype() != w.dtype(), Problem::convolution_needs_one_floating_type,
                 static_cast<int>(x.dtype()), static_cast<int>(w.dtype())) &&
         !refuse(stride.width < 1 || (!flat && stride.height < 1), Problem::convolution_stride_is_not_positive,
                 stride.height, stride.width) &&
         !refuse(dilation.width < 1 || (!flat && dilation.height < 1), Problem::convolution_dilation_is_not_positive,
                 dilation.height, dilation.width) &&
         !refuse(padding.width < 0 || (!flat && padding.height < 0), Problem::convolution_padding_is_negative,
                 padding.height, padding.width) &&
         !refuse(groups < 1 || x.size(1, site) % groups != 0,
                 Problem::convolution_groups_do_not_divide_the_input_channels, groups, x.size(1, site)) &&
         !refuse(w.size(0, site) < 1 || w.size(1, site) < 1, Problem::convolution_weight_has_no_channels,
                 w.size(0, site), w.size(1, site));
}

}}}}} // namespace twill::v0::graph::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace graph { inline namespace TWILL_ISA {

/// y + bias along the channels.
TWILL_CONSTEXPR Value add_channel_bias(Value y, Value bias, CallSite site) {
  const Extents shape = y.shape();
  if (bias.rank() != 1 || !(bias.shape()[0] == shape[1])) {
    y.graph().refuse(Problem::convolution_bias_differs_from_the_output_channels,
                     bias.rank() == 1 ? bias.size(0, site) : bias.rank(), y.size(1, site), site);
    return y;
  }
  Extents spread{};
  for (int axis = 1; axis < shape.rank; ++axis) spread.append(axis == 1 ? shape[1] : Extent{});
  return y + reshape(bias, spread, site);
}

}}}} // namespace twill::v0::graph::TWILL_ISA

namespace twill { inline namespace v0 { namespace graph { namespace detail { inline namespace TWILL_ISA {

TWILL_CONSTEXPR Value convolution(Value x, Value w, int dimensions, const ConvolutionOptions& options, CallSite site) {
  Graph& graph = x.graph();
  x = autocast_to_narrow(x);
  w = autocast_to_narrow(w);
  if (!check_convolution(x, w, dimensions, options.stride, options.padding, options.dilation, options.groups, site))
    return x;
  const std::int64_t channels = x.size(1, site);
  if (w.size(1, site) * options.groups != channels) {
    graph.refuse(Problem::convolution_input_channels_differ_from_the_weights, channels,
                 w.size(1, site) * options.groups, site);
    return x;
  }
  if (w.size(0, site) % options.groups != 0) {
    graph.refuse(Problem::convolution_groups_do_not_divide_the_output_channels, options.groups, w.size(0, site), site);
    return x;
  }
  Extents shape{};
  shape.append(x.shape()[0]);
  for (int axis = 2; axis < dimensions + 2; ++axis) {
    const bool is_width = axis == dimensions + 1;
    const std::int64_t stride = is_width ? options.stride.width : options.stride.height;
    const std::int64_t dilation = is_width ? options.dilation.width : options.dilation.height;
    const std::int64_t padding = is_width ? options.padding.width : options.padding.height;
    const std::int64_t reach = dilation * (w.size(axis, site) - 1) + 1;
    const std::int64_t padded = x.size(axis, site) + 2 * padding;
    if (graph.fault.any()) return x;
    if (reach > padded || reach < 1) {
      graph.refuse(Problem::convolution_kernel_is_larger_than_the_padded_input, reach, padded, site);
      return x;
    }
    shape.append({(padded - reach) / stride + 1, 0});
  }
  shape.append(w.shape()[0]);
  const int attributes =
      convolution_attributes(graph, dimensions, options.stride, options.padding, options.dilation, options.groups);
  return channels_first(convolve(convolution_operation, channels_last(x), w, shape, attributes));
}

}}}}} // namespace twill::v0::graph::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace graph { inline namespace TWILL_ISA {

/// Convolution of x (batch, channels, length) by weights (filters, channels / groups, length).
[[nodiscard]] TWILL_CONSTEXPR Value conv1d(Value x, Value weight, const ConvolutionOptions& options = {},
                                           CallSite site = CallSite::here()) {
  return detail::convolution(x, weight, 1, options, site);
}
/// Convolution of one dimension plus one number for each filter.
[[nodiscard]] TWILL_CONSTEXPR Value conv1d(Value x, Value weight, Value bias, const ConvolutionOptions& options = {},
                                           CallSite site = CallSite::here()) {
  return add_channel_bias(detail::convolution(x, weight, 1, options, site), bias, site);
}

/// Convolution of x (batch, channels, height, width) by weights (filters, channels / groups, height, width).
[[nodiscard]] TWILL_CONSTEXPR Value conv2d(Value x, Value weight, const ConvolutionOptions& options = {},
                                           CallSite site = CallSite::here()) {
  return detail::convolution(x, weight, 2, options, site);
}
/// Convolution of two dimensions plus one number for each filter.
[[nodiscard]] TWILL_CONSTEXPR Value conv2d(Value x, Value weight, Value bias, const ConvolutionOptions& options = {},
                                           CallSite site = CallSite::here()) {
  return add_channel_bias(detail::convolution(x, weight, 2, options, site), bias, site);
}

}}}} // namespace twill::v0::graph::TWILL_ISA

namespace twill { inline namespace v0 { namespace detail { inline namespace TWILL_ISA {

/// The kernel of all three operations: operands `x`, `w` and `y` of the call are the input, the weights and the output.
template <ConvolutionPart Part, int x, int w, int y> struct ConvolutionKernel {
  template <class T, class TeamType> static void run(const TeamType& team, const kernel::Launch& launch) {
    const kernel::Convolution<T> convolution = convolution_of<T>(launch);
    if constexpr (std::same_as<TeamType, Team>) {
      if constexpr (Part == ConvolutionPart::weight_gradient && std::same_as<T, float>)
        if (auto* const kept = launch.orders == nullptr ? nullptr : launch.orders->find_gradient(convolution.w);
            kept != nullptr)
          return kernel::run_weight_gradient(team, convolution, *kept);
      run_convolution(team, convolution, launch.orders == nullptr ? nullptr : launch.orders->find(convolution.w, Part));
    } else {
      run_convolution(team, convolution);
    }
  }

  template <class T> static void reserve(const Team& team, const kernel::Launch& launch) {
    kernel::reserve_convolution(team, convolution_of<T>(launch));
  }

private:
  template <class T> [[nodiscard]] static kernel::Convolution<T> convolution_of(const kernel::Launch& launch) {
    const auto data = [&](int operand) { return static_cast<T*>(launch.operands[operand].data); };
    return {Part, shape_of(launch), data(x), data(w), data(y)};
  }
  [[nodiscard]] static ConvolutionShape shape_of(const kernel::Launch& launch) {
    const Dims& image = launch.shapes[x];
    const Dims& weights = launch.shapes[w];
    const Dims& output = launch.shapes[y];
    const std::int64_t* const a = launch.attributes;
    const auto space = [](const Dims& dims, int first) {
      const bool is_flat = dims.rank == 3;
      return ConvolutionShape::Space{is_flat ? 1 : dims[first], dims[is_flat ? first : first + 1]};
    };
    return {.batch = image[0],
            .in_channels = image[image.rank - 1],
            .out_channels = output[output.rank - 1],
            .groups = a[6] != 0 ? a[6] : image[image.rank - 1] / weights[1], // examples of `vmap`, not counted yet
            .input = space(image, 1),
            .output = space(output, 1),
            .kernel = space(weights, 2),
            .stride = {a[0], a[1]},
            .padding = {a[2], a[3]},
            .dilation = {a[4], a[5]}};
  }
};

}}}} // namespace twill::v0::detail::TWILL_ISA

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

template <>
struct KernelOf<&graph::convolution_operation> : detail::ConvolutionKernel<ConvolutionPart::output, 0, 1, 2> {};
template <>
struct KernelOf<&graph::convolution_input_gradient_operation>
    : detail::ConvolutionKernel<ConvolutionPart::input_gradient, 2, 1, 0> {};
template <>
struct KernelOf<&graph::convolution_weight_gradient_operation>
    : detail::ConvolutionKernel<ConvolutionPart::weight_gradient, 0, 2, 1> {};

}}} // namespace twill::v0::TWILL_ISA
