#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Batch normalisation (Ioffe and Szegedy, 2015). Formulas, defaults and names are those of torch.nn.BatchNorm1d and 2d:
// in training an element is normalised by the mean and the biased variance of its channel over the batch, and running
// statistics move towards them, the variance in its unbiased form; evaluation uses the running statistics. A batch may
// be divided over several ranks (synchronised), or come in accumulated pieces (deferred).

#include <twill/core/call_site.hpp>
#include <twill/core/config.hpp>
#include <twill/graph/reductions.hpp>
#include <twill/nn/norm_layers.hpp>
#include <twill/nn/parameter.hpp>
#include <twill/ops/rank_sum.hpp>

namespace twill { inline namespace v0 { namespace nn { inline namespace TWILL_ISA {

/// Options of batch normalisation.
struct BatchNormOptions {
  double epsilon = 1e-5;              ///< added to the variance before the root
  double momentum = 0.1;              ///< the share of a batch's statistics in the running ones
  bool is_cumulative = false;         ///< instead of momentum: every batch has an equal share
  bool is_affine = true;              ///< a scale and a shift for each channel
  bool has_running_statistics = true; ///< without them, a batch's own serve in evaluation too
  bool is_synchronised = false;       ///< statistics over all ranks or replicas of a planned step
  bool is_deferred = false; ///< accumulated micro-batches move the running statistics once, as one batch would
};

}}}} // namespace twill::v0::nn::TWILL_ISA

namespace twill { inline namespace v0 { namespace nn { namespace detail { inline namespace TWILL_ISA {

struct Statistics {
  Value mean{};
  Value variance{};
  Value one_value{}; ///< 1 / n, for n values per channel
  Value trains{};    ///< whether they are the batch's, if that is known only in the run
};

/// Statistics over the axes of a batch, or of the batches of all ranks.
[[nodiscard]] TWILL_CONSTEXPR Statistics batch_statistics(Value x, unsigned axes, graph::Extent values_per_channel,
                                                          bool is_synchronised) {
  graph::Graph& graph = x.graph();
  Statistics batch{};
  batch.one_value = graph::constant(graph, x.dtype(), 1, values_per_channel);
  if (!is_synchronised) {
    batch.mean = graph::mean_over(x, axes, graph::KeepDims::yes);
    batch.variance = graph::mean_over(square(x - batch.mean), axes, graph::KeepDims::yes);
    return batch;
  }
  // 1 / (1 / n) need not be n; a rank without values adds none
  const Value count = graph::round(graph::reciprocal(batch.one_value));
  batch.one_value = graph::reciprocal(graph::rank_sum(count));
  const auto mean = [&](Value values) {
    return graph::rank_sum(graph::reduce(graph::Reduction::sum, values, axes, graph::KeepDims::yes)) * batch.one_value;
  };
  batch.mean = mean(x);
  batch.variance = mean(square(x - batch.mean));
  return batch;
}

/// Sums over the micro-batches before this one, which every trace declares.
struct Pieces {
  Value mean{};
  Value squares{}; ///< of distances from the mean, summed
  Value count{};
  Value running_mean{}; ///< before the first micro-batch
  Value running_variance{};
};

[[nodiscard]] TWILL_CONSTEXPR Pieces declare_pieces(graph::Graph& graph, DType dtype, const graph::Extents& channels) {
  const auto kept = [&](std::string_view name, const graph::Extents& shape) {
    return buffer(graph, dtype, name, shape, initialise::zeros());
  };
  Pieces pieces{};
  pieces.mean = kept("deferred_mean", channels);
  pieces.squares = kept("deferred_squares", channels);
  pieces.count = kept("deferred_count", {});
  pieces.running_mean = kept("deferred_running_mean", channels);
  pieces.running_variance = kept("deferred_running_var", channels);
  return pieces;
}

/// The statistics of a micro-batch and those before it, with biased variance (Chan, Golub and LeVeque, 1979).
[[nodiscard]] TWILL_CONSTEXPR Statistics with_pieces(const Pieces& pieces, Value continues, Statistics batch,
                                                     const graph::Extents& channels) {
  const Value before = graph::where(continues, pieces.count, 0);
  const Value here = graph::round(graph::reciprocal(batch.one_value));
  const Value one_value = graph::reciprocal(before + here);
  const Value old_mean = graph::where(continues, pieces.mean, 0);
  const Value distance = graph::reshape(batch.mean, channels) - old_mean;
  const Value mean = old_mean + distance * (here * one_value);
  const Value squares = graph::where(continues, pieces.squares, 0) + graph::reshape(batch.variance, channels) * here +
                        square(distance) * (before * here * one_value);
  update_buffer(pieces.mean, mean);
  update_buffer(pieces.squares, squares);
  update_buffer(pieces.count, before + here);
  return {mean, squares * one_value, one_value, {}};
}

/// The gradient of y = (x - mean) * r * weight + bias, where mean and r = 1 / sqrt(variance + epsilon) are those of n
/// values of x, in closed form (Ioffe and Szegedy, 2015), with z = (x - mean) * r: that of the bias is sum(g), that of
/// the weight is sum(g z), and
///   dx = r * weight * (g - sum(g) / n - z * sum(g z) / n)
/// Two sums over the batch, one pass after the other; the chain rule through mean and variance takes five. Operands of
/// the rule: x, mean, r, weight, bias, then whether the statistics are the batch's; the last three may be missing.
TWILL_CONSTEXPR void batch_norm_vjp(graph::Graph& graph, int id, const graph::Cotangents& cotangents,
                                    graph::InputGradients& gradients) {
  const graph::Node node = graph.node(id); // a copy: emitting moves the nodes
  const auto operand = [&](int position) { return Value{graph, node.input(position)}; };
  const bool is_affine = node.arity > 5;
  const bool may_evaluate = node.arity == 5 || node.arity == 7;
  const Value g{graph, cotangents[0]};
  const Value mean = operand(2);
  const graph::Extents along = mean.shape();
  unsigned axes = 0;
  graph::Extent count{};
  for (int axis = 0; axis < along.rank; ++axis) {
    if (axis == 1) continue;
    axes |= 1u << axis;
    count = count * node.shape[axis];
  }
  const Value z = (operand(1) - mean) * operand(3);
  const Value sum_g = graph::reduce(graph::Reduction::sum, g, axes, graph::KeepDims::yes);
  const Value sum_gz = graph::reduce(graph::Reduction::sum, g * z, axes, graph::KeepDims::yes);
  if (is_affine) {
    gradients.set(4, graph::reshape(sum_gz, operand(4).shape()));
    gradients.set(5, graph::reshape(sum_g, operand(5).shape()));
  }
  if (!gradients.wants(1)) return;
  Value share = graph::constant(graph, g.dtype(), 1, count); // 1 / n
  if (may_evaluate) share = graph::where(operand(node.arity - 1), share, 0);
  const Value scale = is_affine ? operand(3) * graph::reshape(operand(4), along) : operand(3);
  gradients.set(1, (g - sum_g * share - z * (sum_gz * share)) * scale);
}

inline constexpr graph::Operation batch_norm_rule{
    .name = "batch_norm", .vjp = &batch_norm_vjp, .batching = graph::Batching::by_formula};

/// The running statistics in evaluation; in training the batch's, which also move the running ones.
[[nodiscard]] TWILL_CONSTEXPR Statistics with_running(Statistics batch, const BatchNormOptions& options,
                                                      const graph::Extents& channels, const graph::Extents& along) {
  graph::Graph& graph = batch.mean.graph();
  const DType dtype = batch.mean.dtype();
  const Value mean = buffer(graph, dtype, "running_mean", channels, initialise::zeros());
  const Value variance = buffer(graph, dtype, "running_var", channels, initialise::ones());
  const Value batches = buffer(graph, DType::int64, "num_batches_tracked", {}, initialise::zeros());
  const Pieces pieces = options.is_deferred ? declare_pieces(graph, dtype, channels) : Pieces{};
  const Statistics running{graph::reshape(mean, along), graph::reshape(variance, along), {}, {}};
  if (!graph.training) return running;
  Value old_mean = mean;
  Value old_variance = variance;
  Value added = graph::constant(graph, DType::int64, 1);
  Statistics seen{graph::reshape(batch.mean, channels), graph::reshape(batch.variance, channels), batch.one_value, {}};
  if (options.is_deferred) {
    const Value continues = graph::run_scalar(graph, "train.continues", 0, DType::boolean);
    old_mean = graph::where(continues, pieces.running_mean, mean);
    old_variance = graph::where(continues, pieces.running_variance, variance);
    update_buffer(pieces.running_mean, old_mean);
    update_buffer(pieces.running_variance, old_variance);
    added = graph::where(continues, added - 1, added);
    seen = with_pieces(pieces, continues, batch, channels);
  }
  const Value share = options.is_cumulative ? graph::reciprocal(graph::cast(batches + added, dtype))
                                            : graph::constant(graph, dtype, options.momentum);
  const Value unbiased = seen.variance / (1.0 - seen.one_value);
  // One value over all ranks has no variance, and no single rank could refuse it: it moves nothing.
  const auto moved = [&](Value old, Value next) {
    return options.is_synchronised ? graph::where(seen.one_value < 1, next, old) : next;
  };
  update_buffer(mean, moved(old_mean, (1.0 - share) * old_mean + share * seen.mean));
  update_buffer(variance, moved(old_variance, (1.0 - share) * old_variance + share * unbiased));
  update_buffer(batches, batches + added);
  const Value trains = is_training(graph);
  return {graph::where(trains, batch.mean, running.mean), graph::where(trains, batch.variance, running.variance),
          batch.one_value, trains};
}

/// The normalised values with their gradient in closed form.
[[nodiscard]] TWILL_CONSTEXPR Value with_batch_norm_rule(Value y, Value x, const Statistics& used, Value root,
                                                         Value weight, Value bias, const BatchNormOptions& options) {
  const bool may_evaluate = options.has_running_statistics;
  if (options.is_affine)
    return may_evaluate ? graph::with_rule(y, batch_norm_rule, {x, used.mean, root, weight, bias, used.trains})
                        : graph::with_rule(y, batch_norm_rule, {x, used.mean, root, weight, bias});
  return may_evaluate ? graph::with_rule(y, batch_norm_rule, {x, used.mean, root, used.trains})
                      : graph::with_rule(y, batch_norm_rule, {x, used.mean, root});
}

}}}}} // namespace twill::v0::nn::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace nn { inline namespace TWILL_ISA {

/// x: (batch, channels, ...). Weights "weight", "bias"; buffers "running_mean", "running_var", "num_batches_tracked". A
/// batch in training has more than one value per channel: known sizes are refused, others throw ShapeError in the run;
/// synchronised, one value over all ranks is normalised to the bias and leaves the running statistics unchanged.
[[nodiscard]] TWILL_CONSTEXPR Value batch_norm(Value x, std::string_view name, BatchNormOptions options = {},
                                               CallSite site = CallSite::here()) {
  graph::Graph& graph = x.graph();
  const graph::Extents shape = x.shape();
  if (shape.rank < 2) {
    graph.refuse(graph::Problem::batch_norm_needs_a_batch_axis_and_a_channel_axis, shape.rank, 2, site);
    return x;
  }
  const Scope scope{graph, name, site};
  const Value wide = graph::widened(x);
  graph::Extents channels{};
  channels.append({x.size(1, site), 0});
  graph::Extents along{}; // of one value for each channel
  graph::Extent values_per_channel{};
  unsigned axes = 0;
  for (int axis = 0; axis < shape.rank; ++axis) {
    along.append(axis == 1 ? channels[0] : graph::Extent{});
    if (axis == 1) continue;
    axes |= 1u << axis;
    values_per_channel = values_per_channel * shape[axis];
  }
  const Value weight = options.is_affine ? detail::norm_weight(graph, "weight", channels, 1, site) : Value{};
  const Value bias = options.is_affine ? detail::norm_weight(graph, "bias", channels, 0, site) : Value{};
  detail::Statistics statistics{};
  const bool uses_batch = graph.training || !options.has_running_statistics;
  if (uses_batch) {
    const int least = options.is_synchronised ? 0 : graph.training ? 2 : 1; // other ranks may have the values
    graph.require_at_least(values_per_channel, least, graph::Problem::batch_norm_needs_more_than_one_value_per_channel,
                           "batch_norm needs several values per channel to train", site);
    statistics = detail::batch_statistics(wide, axes, values_per_channel, options.is_synchronised);
  } else {
    statistics.mean = graph::constant(graph, wide.dtype(), 0);
  }
  if (options.has_running_statistics) statistics = detail::with_running(statistics, options, channels, along);
  const Value root = rsqrt(statistics.variance + options.epsilon);
  Value y = (wide - statistics.mean) * root;
  if (options.is_affine) y = y * graph::reshape(weight, along) + graph::reshape(bias, along);
  // Sums over ranks have their own gradients.
  if (uses_batch && !options.is_synchronised)
    y = detail::with_batch_norm_rule(y, wide, statistics, root, weight, bias, options);
  return graph::cast(y, x.dtype());
}

}}}} // namespace twill::v0::nn::TWILL_ISA
