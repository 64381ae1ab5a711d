#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Batch normalisation (Ioffe and Szegedy, 2015). Formulas, defaults and names are those of torch.nn.BatchNorm1d and 2d: in
// training an element is normalised by the mean and the biased variance of its channel over the batch, and running
// statistics move towards them, the variance in its unbiased form; in evaluation the running statistics take their place.

#include <twill/core/config.hpp>
#include <twill/graph/reductions.hpp>
#include <twill/nn/buffer.hpp>
#include <twill/nn/norm_layers.hpp>

namespace twill::inline v0::nn::inline TWILL_ISA {

struct BatchNormOptions {
  double epsilon = 1e-5;
  double momentum = 0.1;              ///< the share of a batch's statistics in the running ones
  bool is_cumulative = false;         ///< instead of that: every batch has the same share
  bool is_affine = true;              ///< a scale and a shift for each channel
  bool has_running_statistics = true; ///< without them, a batch's own serve in evaluation too
};

} // namespace twill::inline v0::nn::inline TWILL_ISA

namespace twill::inline v0::nn::detail::inline TWILL_ISA {

struct Statistics {
  Value mean{};
  Value variance{};
};

/// The running statistics in evaluation, the batch's in training, where they also move the running ones.
[[nodiscard]] constexpr Statistics with_running(Statistics batch, graph::Extent values_per_channel,
                                                const BatchNormOptions& options, const graph::Extents& channels,
                                                const graph::Extents& along) {
  graph::Graph& graph = batch.mean.graph();
  const DType dtype = batch.mean.dtype();
  const Value mean = buffer(graph, dtype, "running_mean", channels, initialise::zeros());
  const Value variance = buffer(graph, dtype, "running_var", channels, initialise::ones());
  const Value batches = buffer(graph, DType::int64, "num_batches_tracked", {}, initialise::zeros());
  const Statistics running{graph::reshape(mean, along), graph::reshape(variance, along)};
  if (!graph.training) return running;
  const Value share = options.is_cumulative ? graph::reciprocal(graph::cast(batches + 1, dtype))
                                            : graph::constant(graph, dtype, options.momentum);
  const Value one_value = graph::constant(graph, dtype, 1, values_per_channel); // 1 / n
  const Value unbiased = graph::reshape(batch.variance, channels) / (1.0 - one_value);
  update_buffer(mean, (1.0 - share) * mean + share * graph::reshape(batch.mean, channels));
  update_buffer(variance, (1.0 - share) * variance + share * unbiased);
  update_buffer(batches, batches + 1);
  const Value trains = is_training(graph);
  return {graph::where(trains, batch.mean, running.mean), graph::where(trains, batch.variance, running.variance)};
}

} // namespace twill::inline v0::nn::detail::inline TWILL_ISA

namespace twill::inline v0::nn::inline TWILL_ISA {

/// x: (batch, channels, ...). Weights "weight", "bias"; buffers "running_mean", "running_var", "num_batches_tracked".
/// A batch in training has more than one value per channel: known sizes are refused, others throw ShapeError in the run.
[[nodiscard]] constexpr Value batch_norm(Value x, std::string_view name, BatchNormOptions options = {},
                                         int line = __builtin_LINE()) {
  graph::Graph& graph = x.graph();
  const graph::Extents shape = x.shape();
  if (shape.rank < 2) {
    graph.refuse(graph::Problem::batch_norm_needs_a_batch_axis_and_a_channel_axis, shape.rank, 2, line);
    return x;
  }
  const Scope scope{graph, name};
  const Value wide = graph::widened(x);
  graph::Extents channels{};
  channels.append({x.size(1, line), 0});
  graph::Extents along{}; // of one value for each channel
  graph::Extent values_per_channel{};
  unsigned axes = 0;
  for (int axis = 0; axis < shape.rank; ++axis) {
    along.append(axis == 1 ? channels[0] : graph::Extent{});
    if (axis == 1) continue;
    axes |= 1u << axis;
    values_per_channel = values_per_channel * shape[axis];
  }
  const Value weight = options.is_affine ? detail::norm_weight(graph, "weight", channels, 1, line) : Value{};
  const Value bias = options.is_affine ? detail::norm_weight(graph, "bias", channels, 0, line) : Value{};
  detail::Statistics statistics{};
  if (graph.training || !options.has_running_statistics) {
    graph.require_at_least(values_per_channel, graph.training ? 2 : 1,
                           graph::Problem::batch_norm_needs_more_than_one_value_per_channel,
                           "batch_norm needs several values per channel to train", line);
    statistics.mean = graph::detail::mean_over(wide, axes, graph::KeepDims::yes);
    statistics.variance = graph::detail::mean_over(square(wide - statistics.mean), axes, graph::KeepDims::yes);
  } else {
    statistics.mean = graph::constant(graph, wide.dtype(), 0);
  }
  if (options.has_running_statistics)
    statistics = detail::with_running(statistics, values_per_channel, options, channels, along);
  Value y = (wide - statistics.mean) * rsqrt(statistics.variance + options.epsilon);
  if (options.is_affine) y = y * graph::reshape(weight, along) + graph::reshape(bias, along);
  return graph::cast(y, x.dtype());
}

} // namespace twill::inline v0::nn::inline TWILL_ISA
