#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Normalisation layers with weights: over the last axes (Ba et al., 2016), over the root of the mean square (Zhang and
// Sennrich, 2019), over groups of channels (Wu and He, 2018). Formulas, defaults and names are PyTorch's. Models of
// half precision keep the weights of norms in float32 and compute in it. Read next: nn/batch_norm.hpp.

#include <twill/core/call_site.hpp>
#include <twill/core/config.hpp>
#include <twill/nn/normalisation.hpp>
#include <twill/nn/parameter.hpp>

namespace twill { inline namespace v0 { namespace nn { namespace detail { inline namespace TWILL_ISA {

/// A weight of a norm: float32 in models of half precision.
[[nodiscard]] TWILL_CONSTEXPR Value norm_weight(graph::Graph& graph, std::string_view name, const graph::Extents& shape,
                                                double initial, CallSite site) {
  const DType dtype = graph.element == DType::float64 ? DType::float64 : DType::float32;
  return parameter(graph, dtype, name, shape, initialise::constant(initial), Trainable::yes, site);
}

}}}}} // namespace twill::v0::nn::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace nn { inline namespace TWILL_ISA {

/// Options of layer normalisation.
struct LayerNormOptions {
  double epsilon = 1e-5; ///< added to the variance before the root
  int axes = 1;          ///< how many of the last axes are normalised together
  bool is_affine = true; ///< whether it learns a scale, and a shift
  bool bias = true;      ///< whether the shift is learned if the scale is
};

/// (x - mean) / sqrt(variance + epsilon) over the last axes, times "weight" plus "bias" of their shape.
[[nodiscard]] TWILL_CONSTEXPR Value layer_norm(Value x, std::string_view name, LayerNormOptions options = {},
                                               CallSite site = CallSite::here()) {
  graph::Graph& graph = x.graph();
  const graph::Extents shape = x.shape();
  if (options.axes < 1 || options.axes > shape.rank) {
    graph.refuse(graph::Problem::layer_norm_needs_that_many_axes, options.axes, shape.rank, site);
    return x;
  }
  const Scope scope{graph, name, site};
  graph::Extents normalised{};
  for (int axis = shape.rank - options.axes; axis < shape.rank; ++axis) normalised.append({x.size(axis, site), 0});
  const Value rows = graph::flatten(graph::widened(x), shape.rank - options.axes);
  Value y = graph::reshape(graph::layer_norm(rows, options.epsilon, -1, site), shape);
  if (options.is_affine) y = y * detail::norm_weight(graph, "weight", normalised, 1, site);
  if (options.is_affine && options.bias) y = y + detail::norm_weight(graph, "bias", normalised, 0, site);
  return graph::cast(y, x.dtype());
}

/// Options of root-mean-square normalisation.
struct RmsNormOptions {
  double epsilon = 1e-6; ///< added to the mean square before the root
  bool is_affine = true; ///< whether it learns a scale
};

/// x / sqrt(mean(x^2) + epsilon) over the last axis, times "weight".
[[nodiscard]] TWILL_CONSTEXPR Value rms_norm(Value x, std::string_view name, RmsNormOptions options = {},
                                             CallSite site = CallSite::here()) {
  graph::Graph& graph = x.graph();
  const Scope scope{graph, name, site};
  graph::Extents last{};
  last.append({x.size(-1, site), 0});
  Value y = graph::rms_norm(graph::widened(x), options.epsilon, -1, site);
  if (options.is_affine) y = y * detail::norm_weight(graph, "weight", last, 1, site);
  return graph::cast(y, x.dtype());
}

/// Options of group normalisation.
struct GroupNormOptions {
  double epsilon = 1e-5; ///< added to the variance before the root
  bool is_affine = true; ///< whether it learns a scale and a shift
};

/// The channels of x (batch, channels, ...) in this number of groups, each normalised separately, times "weight" plus
/// "bias" of each channel.
[[nodiscard]] TWILL_CONSTEXPR Value group_norm(Value x, std::int64_t groups, std::string_view name,
                                               GroupNormOptions options = {}, CallSite site = CallSite::here()) {
  graph::Graph& graph = x.graph();
  const graph::Extents shape = x.shape();
  const std::int64_t channels = shape.rank < 2 ? 0 : x.size(1, site);
  if (shape.rank < 2 || groups < 1 || channels % groups != 0) {
    graph.refuse(graph::Problem::group_norm_channels_are_not_divisible_by_groups, channels, groups, site);
    return x;
  }
  const Scope scope{graph, name, site};
  graph::Extents grouped{};
  grouped.append(shape[0]);
  grouped.append({groups, 0});
  graph::Extent members{channels / groups, 0};
  graph::Extents along{};
  for (int axis = 0; axis < shape.rank; ++axis) {
    along.append(axis == 1 ? shape[1] : graph::Extent{});
    if (axis > 1) members = members * shape[axis];
  }
  grouped.append(members);
  const Value rows = graph::reshape(graph::widened(x), grouped);
  Value y = graph::reshape(graph::layer_norm(rows, options.epsilon, -1, site), shape);
  if (!options.is_affine) return graph::cast(y, x.dtype());
  graph::Extents per_channel{};
  per_channel.append(shape[1]);
  const Value weight = detail::norm_weight(graph, "weight", per_channel, 1, site);
  const Value bias = detail::norm_weight(graph, "bias", per_channel, 0, site);
  return graph::cast(y * graph::reshape(weight, along) + graph::reshape(bias, along), x.dtype());
}

/// Options of instance normalisation.
struct InstanceNormOptions {
  double epsilon = 1e-5;  ///< added to the variance before the root
  bool is_affine = false; ///< whether it learns a scale and a shift of each channel
};

/// Each channel of each row of x (batch, channels, ...) normalised by itself (Ulyanov et al., 2016), times "weight"
/// plus "bias" where it learns them. It keeps no running statistics, as PyTorch's does not by default.
/// errors: fewer than three axes, channels of one value
[[nodiscard]] TWILL_CONSTEXPR Value instance_norm(Value x, std::string_view name, InstanceNormOptions options = {},
                                                  CallSite site = CallSite::here()) {
  graph::Extent values{};
  for (int axis = 2; axis < x.rank(); ++axis) values = values * x.shape()[axis];
  if (values.is_one())
    x.graph().refuse(graph::Problem::batch_norm_needs_more_than_one_value_per_channel, 1, x.rank(), site);
  if (x.graph().fault.any()) return x;
  return group_norm(x, x.size(1, site), name, {.epsilon = options.epsilon, .is_affine = options.is_affine}, site);
}

}}}} // namespace twill::v0::nn::TWILL_ISA
