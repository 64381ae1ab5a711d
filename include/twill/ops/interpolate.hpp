#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Interpolation of images and sequences, nearest or linear, like torch.nn.functional.interpolate. Both directions are
// linear and each other's gradient. Read next: kernel/interpolation.hpp.

#include <twill/compile/program_type.hpp>
#include <twill/core/call_site.hpp>
#include <twill/core/config.hpp>
#include <twill/graph/operation.hpp>
#include <twill/kernel/interpolation.hpp>
#include <twill/ops/channels_last.hpp>

#include <bit>
#include <cstdint>

namespace twill { inline namespace v0 { namespace graph { inline namespace TWILL_ISA {

using kernel::Interpolation;

/// Whether the centres of the corner pixels coincide (linear only), or the outer edges of the images.
enum class AlignCorners : bool { no, yes };

/// Options of interpolation: the size of the result and how its pixels are found.
struct InterpolateOptions {
  Sides size = 0;                                ///< of the result; 0: set by the scale
  double scale_height = 1;                       ///< if no size is given: floor(extent * scale)
  double scale_width = 1;                        ///< floor(width * scale) if no size is given
  Interpolation mode = Interpolation::nearest;   ///< which pixels count
  AlignCorners align_corners = AlignCorners::no; ///< whether corner centres coincide, like torch's align_corners
};

}}}} // namespace twill::v0::graph::TWILL_ISA

namespace twill { inline namespace v0 { namespace graph { namespace detail { inline namespace TWILL_ISA {

TWILL_CONSTEXPR void interpolation_vjp(Graph& graph, int node, const Cotangents& cotangents, InputGradients& gradients);
TWILL_CONSTEXPR void interpolation_gradient_vjp(Graph& graph, int node, const Cotangents& cotangents,
                                                InputGradients& gradients);

}}}}} // namespace twill::v0::graph::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace graph { inline namespace TWILL_ISA {

// Images are (batch, height, width, channels), without the height in one dimension.
/// Resizes (batch, height, width, channels).
inline constexpr Operation interpolation_operation{.name = "interpolation",
                                                   .vjp = &detail::interpolation_vjp,
                                                   .wants_dense = true,
                                                   .channels_last = true,
                                                   .batching = Batching::first_axis};
/// The gradient of the interpolation, by the reverse weights.
inline constexpr Operation interpolation_gradient_operation{.name = "interpolation_gradient",
                                                            .vjp = &detail::interpolation_gradient_vjp,
                                                            .wants_dense = true,
                                                            .channels_last = true,
                                                            .batching = Batching::first_axis};

}}}} // namespace twill::v0::graph::TWILL_ISA

namespace twill { inline namespace v0 { namespace graph { namespace detail { inline namespace TWILL_ISA {

TWILL_CONSTEXPR Value interpolate_by(const Operation& operation, Value x, const Extents& shape, int attributes) {
  Node node{};
  node.kind = Kind::operation;
  node.operation = &operation;
  node.dtype = x.dtype();
  node.shape = shape;
  node.index = attributes;
  node.arity = 1;
  node.inputs[0] = x.id();
  return {x.graph(), x.graph().add(node)};
}

TWILL_CONSTEXPR void interpolation_vjp(Graph& graph, int node, const Cotangents& cotangents,
                                       InputGradients& gradients) {
  const Node of = graph.node(node);
  const Extents shape = graph.node(of.input(0)).shape;
  gradients.set(0, interpolate_by(interpolation_gradient_operation, {graph, cotangents[0]}, shape, of.index));
}
TWILL_CONSTEXPR void interpolation_gradient_vjp(Graph& graph, int node, const Cotangents& cotangents,
                                                InputGradients& gradients) {
  const Node of = graph.node(node);
  const Extents shape = graph.node(of.input(0)).shape;
  gradients.set(0, interpolate_by(interpolation_operation, {graph, cotangents[0]}, shape, of.index));
}

}}}}} // namespace twill::v0::graph::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace graph { inline namespace TWILL_ISA {

/// x (batch, channels, length) or (batch, channels, height, width) with other extents: `interpolate(x, {.size = 224,
/// .mode = Interpolation::linear})`. Linear in two dimensions is bilinear.
[[nodiscard]] TWILL_CONSTEXPR Value interpolate(Value x, const InterpolateOptions& options,
                                                CallSite site = CallSite::here()) {
  Graph& graph = x.graph();
  if (x.rank() != 3 && x.rank() != 4) {
    graph.refuse(Problem::interpolation_input_has_the_wrong_rank, x.rank(), 4, site);
    return x;
  }
  if (!is_floating(x.dtype())) {
    graph.refuse(Problem::interpolation_needs_a_floating_type, static_cast<int>(x.dtype()), 0, site);
    return x;
  }
  if (options.mode == Interpolation::cubic) {
    graph.refuse(Problem::interpolate_is_nearest_or_linear_use_resample, x.rank(), 4, site);
    return x;
  }
  if (options.align_corners == AlignCorners::yes && options.mode == Interpolation::nearest) {
    graph.refuse(Problem::interpolation_aligns_corners_only_if_linear, 1, 0, site);
    return x;
  }
  Extents shape{};
  shape.append(x.shape()[0]);
  double scales[2] = {0, 0};
  for (int axis = 2; axis < x.rank(); ++axis) {
    const bool is_width = axis + 1 == x.rank();
    const std::int64_t size = is_width ? options.size.width : options.size.height;
    const double scale = is_width ? options.scale_width : options.scale_height;
    const std::int64_t length = x.size(axis, site);
    const std::int64_t extent = size != 0 ? size : static_cast<std::int64_t>(static_cast<double>(length) * scale);
    if (graph.fault.any()) return x;
    if (length < 1 || extent < 1) {
      graph.refuse(Problem::interpolation_needs_an_output_and_an_input, extent, length, site);
      return x;
    }
    if (size == 0) scales[is_width ? 1 : 0] = 1 / scale;
    shape.append({extent, 0});
  }
  shape.append(x.shape()[1]);
  const int attributes =
      graph.add_attributes({static_cast<std::int64_t>(options.mode), options.align_corners == AlignCorners::yes ? 1 : 0,
                            std::bit_cast<std::int64_t>(scales[0]), std::bit_cast<std::int64_t>(scales[1])});
  return detail::channels_first(
      detail::interpolate_by(interpolation_operation, detail::channels_last(x), shape, attributes));
}

}}}} // namespace twill::v0::graph::TWILL_ISA

namespace twill { inline namespace v0 { namespace detail { inline namespace TWILL_ISA {

/// The kernel of both operations: operand `in` is the image or its gradient, `out` the resized one or its gradient.
template <bool IsGradient, int in, int out> struct InterpolationKernel {
  template <class T, class TeamType> static void run(const TeamType& team, const kernel::Launch& launch) {
    run_interpolation(team,
                      kernel::Interpolating<T>{IsGradient, shape_of(launch), static_cast<T*>(launch.operands[in].data),
                                               static_cast<T*>(launch.operands[out].data)});
  }

  template <class T> static void reserve(const Team& team, const kernel::Launch& launch) {
    kernel::reserve_interpolation<T>(team, shape_of(launch));
  }

private:
  [[nodiscard]] static kernel::InterpolationShape shape_of(const kernel::Launch& launch) {
    const Dims& image = launch.shapes[in];
    const auto space = [](const Dims& dims) {
      return kernel::InterpolationShape::Space{dims.rank == 3 ? 1 : dims[1], dims[dims.rank - 2]};
    };
    const std::int64_t* const a = launch.attributes;
    return {.batch = image[0],
            .channels = image[image.rank - 1],
            .input = space(image),
            .output = space(launch.shapes[out]),
            .mode = static_cast<kernel::Interpolation>(a[0]),
            .align_corners = a[1] != 0,
            .scale = {std::bit_cast<double>(a[2]), std::bit_cast<double>(a[3])}};
  }
};

}}}} // namespace twill::v0::detail::TWILL_ISA

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

template <> struct KernelOf<&graph::interpolation_operation> : detail::InterpolationKernel<false, 0, 1> {};
template <> struct KernelOf<&graph::interpolation_gradient_operation> : detail::InterpolationKernel<true, 1, 0> {};

}}} // namespace twill::v0::TWILL_ISA
