#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Weight normalisation: a weight as a direction and a length of its own, w = g v / |v| (Salimans and Kingma, 2016).
// Names and shapes are those of torch.nn.utils.weight_norm: "weight_v" has the weight's shape, "weight_g" a length for
// each slice of an axis. Called instead of `parameter`, for layers that take weights of the caller's, such as
// `nn::linear(x, w)` and `conv2d(x, w)`. Not in twill.hpp. Read next: nn/spectral_norm.hpp.

#include <twill/core/call_site.hpp>
#include <twill/core/config.hpp>
#include <twill/graph/reductions.hpp>
#include <twill/nn/parameter.hpp>

#include <cstdint>
#include <initializer_list>
#include <string_view>

namespace twill { inline namespace v0 { namespace nn { inline namespace TWILL_ISA {

/// Options of weight normalisation: which slices have a length, and how the lengths start.
struct WeightNormOptions {
  int axis = 0;                                  ///< whose slices have a length each; -1: one length of all
  Initialiser length = initialise::layers_own(); ///< the first lengths; the layer's own: those of the first slices
};

/// A weight under the current scope with a direction "name_v" and lengths "name_g", those of its slices along an axis:
/// w = g v / |v|, differentiated by both. Lengths start as the norms that the slices start with, so that w starts as v.
/// Called instead of `parameter`.
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
  unsigned axes = 0; // those of a slice
  for (int axis = 0; axis < extents.rank; ++axis) {
    const bool is_counted = axis == options.axis;
    if (options.axis >= 0) lengths.append(is_counted ? extents[axis] : graph::Extent{});
    if (!is_counted) axes |= 1u << axis;
  }
  const Initialiser norms{Initialiser::Kind::norms_of_next, static_cast<double>(options.axis)};
  const Initialiser start = initialise::chosen(options.length, norms);
  const graph::Name g_name = stored("_g"), v_name = stored("_v");
  const Value g = parameter(graph, graph.element, g_name.view(), lengths, start, Trainable::yes, site);
  const Value v = parameter(graph, graph.element, v_name.view(), extents, initialiser, Trainable::yes, site);
  const Value wide = graph::widened(v);
  const graph::KeepDims keep = options.axis >= 0 ? graph::KeepDims::yes : graph::KeepDims::no;
  const Value norm = graph::sqrt(graph::reduce(graph::Reduction::sum, graph::square(wide), axes, keep));
  return graph::cast(wide * (graph::widened(g) / norm), v.dtype());
}

}}}} // namespace twill::v0::nn::TWILL_ISA
