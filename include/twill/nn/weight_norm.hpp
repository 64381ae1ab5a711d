#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Weight normalisation: a weight as a direction and a length of its own, w = g v / |v| (Salimans and Kingma, 2016).
// Names and shapes are those of torch.nn.utils.weight_norm: "weight_v" has the weight's shape, "weight_g" a length for
// each slice of an axis. Called instead of `parameter`, for layers that take weights of the caller's, such as
// `nn::linear(x, w)` and `conv2d(x, w)`. Not in twill.hpp. Read next: nn/spectral_norm.hpp.

#include <twill/core/call_site.hpp>
#include <twill/core/config.hpp>
#include <twill/core/square_root.hpp>
#include <twill/graph/reductions.hpp>
#include <twill/nn/parameter.hpp>

#include <cstdint>
#include <initializer_list>
#include <string_view>

namespace twill { inline namespace v0 { namespace nn { inline namespace TWILL_ISA {

/// Options of weight normalisation: which slices have a length, and how the lengths start.
struct WeightNormOptions {
  int axis = 0;                                  ///< whose slices have a length each; -1: one length of all
  Initialiser length = initialise::layers_own(); ///< the first lengths; the layer's own: those that directions have
};

}}}} // namespace twill::v0::nn::TWILL_ISA

namespace twill { inline namespace v0 { namespace nn { namespace detail { inline namespace TWILL_ISA {

/// The mean square of the elements that an initialiser gives a weight of this shape.
[[nodiscard]] TWILL_CONSTEXPR double mean_square_of(const Initialiser& start, const graph::Extents& shape) {
  using Kind = Initialiser::Kind;
  double area = 1;
  for (int axis = 2; axis < shape.rank; ++axis) area *= static_cast<double>(shape[axis].factor);
  const double rows = shape.rank > 0 ? static_cast<double>(shape[0].factor) : 1;
  const double columns = shape.rank > 1 ? static_cast<double>(shape[1].factor) : 1;
  const auto by_fan = static_cast<Initialiser::Fan>(start.b);
  const double fan = by_fan == Initialiser::Fan::in    ? columns * area
                     : by_fan == Initialiser::Fan::out ? rows * area
                                                       : (rows + columns) * area / 2;
  switch (start.kind) {
  case Kind::uniform:
    return (start.a * start.a + start.a * start.b + start.b * start.b) / 3;
  case Kind::normal:
  case Kind::truncated_normal:
    return start.a * start.a + start.b * start.b;
  case Kind::uniform_fan_in:
    return start.b * start.b / (3 * start.a);
  case Kind::normal_fan_in:
    return start.b * start.b / start.a;
  case Kind::uniform_by_fan:
  case Kind::normal_by_fan:
    return start.a * start.a / fan;
  case Kind::orthogonal:
    return start.a * start.a / (rows > columns * area ? rows : columns * area);
  case Kind::identity:
    return 1 / (rows > columns ? rows : columns);
  case Kind::dirac:
    return 1 / (columns * area);
  default:
    return start.a * start.a;
  }
}

}}}}} // namespace twill::v0::nn::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace nn { inline namespace TWILL_ISA {

/// A weight under the current scope with a direction "name_v" and lengths "name_g", those of its slices along an axis:
/// w = g v / |v|, differentiated by both. Lengths start as those that directions have on average; PyTorch's start as
/// the drawn ones, a percent beside it for slices of some thousand elements. Called instead of `parameter`.
/// errors: an axis that the weight does not have
[[nodiscard]] TWILL_CONSTEXPR Value weight_norm(graph::Graph& graph, std::string_view name,
                                                std::initializer_list<std::int64_t> shape, Initialiser initialiser,
                                                WeightNormOptions options = {}, CallSite site = CallSite::here()) {
  const auto stored = [&](std::string_view end) {
    graph::Name full{name};
    full.append(end);
    return full;
  };
  graph::Extents extents{};
  for (const std::int64_t extent : shape) extents.append({extent, 0});
  if (options.axis < -1 || options.axis >= extents.rank) {
    graph.refuse(graph::Problem::axis_is_outside_the_rank, options.axis, extents.rank, site);
    options.axis = -1;
  }
  graph::Extents lengths{};
  double elements = 1; // of a slice
  unsigned axes = 0;   // those of a slice
  for (int axis = 0; axis < extents.rank; ++axis) {
    const bool is_counted = axis == options.axis;
    if (options.axis >= 0) lengths.append(is_counted ? extents[axis] : graph::Extent{});
    if (is_counted) continue;
    elements *= static_cast<double>(extents[axis].factor);
    axes |= 1u << axis;
  }
  const double usual = square_root(elements * detail::mean_square_of(initialiser, extents));
  const Initialiser start = initialise::chosen(options.length, initialise::constant(usual));
  const graph::Name g_name = stored("_g"), v_name = stored("_v");
  const Value g = parameter(graph, graph.element, g_name.view(), lengths, start, Trainable::yes, site);
  const Value v = parameter(graph, graph.element, v_name.view(), extents, initialiser, Trainable::yes, site);
  const Value wide = graph::widened(v);
  const graph::KeepDims keep = options.axis >= 0 ? graph::KeepDims::yes : graph::KeepDims::no;
  const Value norm = graph::sqrt(graph::reduce(graph::Reduction::sum, graph::square(wide), axes, keep));
  return graph::cast(wide * (graph::widened(g) / norm), v.dtype());
}

}}}} // namespace twill::v0::nn::TWILL_ISA
