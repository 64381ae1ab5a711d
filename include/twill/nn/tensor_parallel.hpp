#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Layers divided over the ranks along an axis (Shoeybi et al., Megatron-LM, 2019): a linear layer divided by its
// outputs, then one divided by its inputs, need one sum over the ranks in each direction. If values between layers are
// split along a sequence (Korthikanti et al., 2022), the sum is scattered and the input gathered, which is equal
// traffic for a fraction of the activations. Attention divides its heads, cross entropy its classes, and no rank ever
// has all logits. Names, initial values and results are those of the undivided layers; the initial part of a weight
// equals that part of a single device's draw. Read next: parallel/model/tensor_parallel.hpp.

#include <twill/core/call_site.hpp>
#include <twill/core/config.hpp>
#include <twill/nn/attention.hpp>
#include <twill/nn/embedding.hpp>
#include <twill/nn/linear.hpp>
#include <twill/nn/losses/classification.hpp>
#include <twill/nn/losses/loss.hpp>
#include <twill/nn/parameter.hpp>
#include <twill/ops/collective.hpp>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string_view>

namespace twill { inline namespace v0 { namespace nn { inline namespace TWILL_ISA {

/// Options of a sharded weight: the dimension divided over ranks.
struct ShardOptions {
  int dimension = 0; ///< of the whole weight, along which it is divided
  int blocks = 1;    ///< each divided, such as the queries, keys and values of one weight
};

/// This rank's part of a weight of the whole shape. errors: ranks that do not divide the dimension
template <AnyRankAxis A>
[[nodiscard]] constexpr Value sharded_parameter(graph::Graph& graph, std::string_view name,
                                                std::initializer_list<std::int64_t> whole, Initialiser initialiser,
                                                ShardOptions options = {}, CallSite site = CallSite::here()) {
  graph::Extents shape{};
  for (std::int64_t extent : whole) shape.append({extent, 0});
  std::int64_t& extent = shape[options.dimension].factor;
  if (extent % (A::size * options.blocks) != 0)
    graph.refuse(graph::Problem::ranks_do_not_divide_the_axis, A::size, extent / options.blocks, site);
  extent /= A::size;
  const Value part{graph, graph.add_parameter(name, graph.element, shape, initialiser, graph::Role::weight, site)};
  if (A::size == 1) return part;
  graph::ShardInfo& shard = graph.parameters[static_cast<std::size_t>(part.node().index)].shard;
  shard.axis = A::id;
  shard.dimension = options.dimension;
  shard.blocks = options.blocks;
  return part;
}

/// A region, for its life, whose traced values are this rank's parts, along an axis, of a single device's values: draws
/// are parts of the whole's draws, and gradients of the weights declared in it are summed over the ranks, unless the
/// weights are parts. Layers need no change: `nn::SplitRegion<Tensor> part{graph, 1}; y = nn::layer_norm(x, "norm");`
template <AnyRankAxis A> class SplitRegion {
public:
  /// Opens a region whose values are parts along `axis`; the destructor closes it.
  constexpr SplitRegion(graph::Graph& graph, int axis, bool sums_weights = true)
      : graph_{&graph}, before_{graph.split} {
    graph.split.ranks = A::id;
    graph.split.axis = axis;
    graph.split.sums_weights = sums_weights;
  }
  SplitRegion(const SplitRegion&) = delete;
  SplitRegion& operator=(const SplitRegion&) = delete;
  constexpr ~SplitRegion() { graph_->split = before_; }

private:
  graph::Graph* graph_;
  graph::SplitInfo before_;
};

/// Values outside of the divided layers: every rank has all of them.
inline constexpr int not_split = -1;

/// Options of a linear layer with outputs divided over ranks.
struct ColumnLinearOptions {
  int split_axis = not_split;   ///< the axis along which each rank has a part of the input, such as the sequence's
  bool gathers_outputs = false; ///< every rank gets all outputs; else each has its part of them
  Initialiser weight = initialise::layers_own(); ///< how the weight starts
  BiasOption bias = true; ///< one number for each output, divided like the outputs: whether, or how they start
};

/// Options of a linear layer with inputs divided over ranks.
struct RowLinearOptions {
  int split_axis = not_split; ///< the axis along which each rank gets a part of the output, such as the sequence's
  Initialiser weight = initialise::layers_own(); ///< how the weight starts
  BiasOption bias = true; ///< one number for each output, on every rank: whether, or how they start
};

}}}} // namespace twill::v0::nn::TWILL_ISA

namespace twill { inline namespace v0 { namespace nn { namespace detail { inline namespace TWILL_ISA {

/// Entry of a divided layer, from values that are equal or divided on all ranks.
template <AnyRankAxis A> [[nodiscard]] constexpr Value entering(Value x, int split_axis, CallSite site) {
  return split_axis == not_split ? graph::copy_to<A>(x) : graph::all_gather<A>(x, split_axis, site);
}

/// Exit of a divided layer: the ranks' values are summed.
template <AnyRankAxis A> [[nodiscard]] constexpr Value leaving(Value x, int split_axis, CallSite site) {
  return split_axis == not_split ? graph::reduce_from<A>(x, site) : graph::reduce_scatter<A>(x, split_axis, site);
}

}}}}} // namespace twill::v0::nn::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace nn { inline namespace TWILL_ISA {

/// A linear layer whose outputs are divided among the ranks: x (..., inputs), y (..., outputs / ranks).
/// errors: ranks that do not divide the outputs
template <AnyRankAxis A>
[[nodiscard]] constexpr Value column_linear(Value x, std::int64_t outputs, std::string_view name,
                                            ColumnLinearOptions options = {}, CallSite site = CallSite::here()) {
  graph::Graph& graph = x.graph();
  const std::int64_t inputs = x.size(-1, site);
  const Scope scope{graph, name, site};
  const Initialiser own = initialise::fan_in_uniform(static_cast<double>(inputs));
  const Value weight =
      sharded_parameter<A>(graph, "weight", {outputs, inputs}, initialise::chosen(options.weight, own), {}, site);
  Value y = linear(detail::entering<A>(x, options.split_axis, site), weight, site);
  if (options.bias.is_there)
    y = y + sharded_parameter<A>(graph, "bias", {outputs}, initialise::chosen(options.bias.start, own), {}, site);
  return options.gathers_outputs ? graph::gather_from<A>(y, -1, site) : y;
}

/// A linear layer whose inputs are divided among the ranks: x (..., inputs / ranks), y (..., outputs), the sum of all.
template <AnyRankAxis A>
[[nodiscard]] constexpr Value row_linear(Value x, std::int64_t outputs, std::string_view name,
                                         RowLinearOptions options = {}, CallSite site = CallSite::here()) {
  graph::Graph& graph = x.graph();
  const std::int64_t inputs = x.size(-1, site) * A::size;
  const Scope scope{graph, name, site};
  const Initialiser own = initialise::fan_in_uniform(static_cast<double>(inputs));
  const Value weight = sharded_parameter<A>(graph, "weight", {outputs, inputs}, initialise::chosen(options.weight, own),
                                            {.dimension = 1}, site);
  const Value y = detail::leaving<A>(linear(x, weight, site), options.split_axis, site);
  if (!options.bias.is_there) return y;
  const SplitRegion<A> part{graph, options.split_axis, options.split_axis != not_split};
  return y + parameter(graph, "bias", {outputs}, initialise::chosen(options.bias.start, own), Trainable::yes, site);
}

/// Options of an embedding whose table is divided over ranks by rows.
struct VocabularyEmbeddingOptions {
  int split_axis = not_split; ///< the axis of the result along which each rank gets a part, such as the sequence's
};

/// Rows of a table of `count` rows, each rank holding a part of them, so that a row is the sum over the ranks.
/// errors: ranks that do not divide the table
template <AnyRankAxis A>
[[nodiscard]] constexpr Value vocabulary_embedding(Value index, std::int64_t count, std::int64_t width,
                                                   std::string_view name, VocabularyEmbeddingOptions options = {},
                                                   CallSite site = CallSite::here()) {
  graph::Graph& graph = index.graph();
  const Scope scope{graph, name, site};
  const Value weight = sharded_parameter<A>(graph, "weight", {count, width}, initialise::normal(0, 1), {}, site);
  graph.require_within(index.id(), {.what = "an index of an embedding", .end = {count, 0}});
  if (A::size == 1) return graph::take(weight, index, 0, site);
  const std::int64_t share = count / A::size;
  const Value own = graph::cast(index, DType::int64) - graph::rank_along<A>(graph) * share;
  const Value is_own = graph::logical_and(own >= 0, own < share);
  const Value rows = graph::take(weight, graph::where(is_own, own, 0), 0, site);
  const Value known = graph::where(graph::unsqueeze(is_own, -1, site), rows, 0.0);
  return detail::leaving<A>(known, options.split_axis, site);
}

/// Options of attention with heads divided over ranks.
struct ShardedAttentionOptions {
  AttentionOptions attention{}; ///< a mask applies to all heads alike
  int split_axis = not_split;   ///< 1: each rank has a part of the sequence, before and after
};

/// Self-attention with weights in_proj_weight (3 width, width), in_proj_bias, out_proj.weight and out_proj.bias. x and
/// y: (batch, rows, width), of which each rank may have a part of the rows.
/// errors: heads that do not divide the width, ranks that do not divide the heads
template <AnyRankAxis A>
[[nodiscard]] constexpr Value sharded_multi_head_attention(Value x, std::int64_t heads, std::string_view name,
                                                           const ShardedAttentionOptions& options = {},
                                                           CallSite site = CallSite::here()) {
  graph::Graph& graph = x.graph();
  if (x.rank() != 3) {
    graph.refuse(graph::Problem::attention_ranks_differ, x.rank(), 3, site);
    return x;
  }
  const std::int64_t width = x.size(-1, site);
  if (heads < 1 || width % heads != 0) {
    graph.refuse(graph::Problem::heads_do_not_divide_the_width, heads, width, site);
    return x;
  }
  if (heads % A::size != 0) {
    graph.refuse(graph::Problem::ranks_do_not_divide_the_heads, A::size, heads, site);
    return x;
  }
  const Scope scope{graph, name, site};
  const auto inputs = static_cast<double>(width);
  const Value weight = sharded_parameter<A>(graph, "in_proj_weight", {3 * width, width},
                                            initialise::xavier_uniform(inputs, 3 * inputs), {.blocks = 3}, site);
  const Value bias = sharded_parameter<A>(graph, "in_proj_bias", {3 * width}, initialise::zeros(), {.blocks = 3}, site);
  auto parts = graph::split<3>(linear(detail::entering<A>(x, options.split_axis, site), weight, site) + bias, -1, site);
  if (graph.fault.any()) return x;
  for (Value& part : parts) part = detail::heads_apart(part, heads / A::size, site);
  const auto attend = [&] {
    const SplitRegion<A> own_heads{graph, 1, false}; // draws of weights to drop are those of all heads
    return scaled_dot_product_attention(parts[0], parts[1], parts[2], options.attention, site);
  };
  return row_linear<A>(
      detail::heads_together(attend(), site), width, "out_proj",
      {.split_axis = options.split_axis, .weight = initialise::fan_in_uniform(inputs), .bias = initialise::zeros()},
      site);
}

}}}} // namespace twill::v0::nn::TWILL_ISA

namespace twill { inline namespace v0 { namespace nn { inline namespace TWILL_ISA {

/// Options of cross entropy of divided classes.
struct ShardedCrossEntropyOptions {
  double label_smoothing = 0;   ///< the share of the uniform distribution over all classes in the target
  Reduce reduce = Reduce::mean; ///< mean, sum or none
};

}}}} // namespace twill::v0::nn::TWILL_ISA

namespace twill { inline namespace v0 { namespace nn { namespace detail { inline namespace TWILL_ISA {

template <AnyRankAxis A> struct ShardedCrossEntropyFormula {
  /// logits: (..., classes / ranks), labels: (...), of all classes, or probabilities of this rank's classes.
  /// loss = P log sum exp(logits) - sum of p logits, with maxima and sums over all ranks, P the sum of all p
  [[nodiscard]] constexpr graph::Value operator()(graph::Value logits, graph::Value target,
                                                  ShardedCrossEntropyOptions options = {}) const {
    const Naming naming{logits, "sharded_cross_entropy"};
    const double smoothing = options.label_smoothing;
    if (!(smoothing >= 0 && smoothing <= 1))
      logits.graph().refuse(graph::Problem::label_smoothing_is_outside_0_to_1, graph::shown_as_integer(smoothing), 1,
                            {});
    const bool is_probable = are_probabilities_of(logits, target);
    if (is_probable ? !require_probabilities(logits, target) : !are_labels_of(logits, target, -1, {})) return logits;
    const graph::Value wide = widened(logits);
    const std::int64_t classes = logits.size(-1, {}) * A::size;
    const graph::Value largest = graph::all_reduce<A>(
        graph::stop_gradient(graph::max(wide, {-1}, graph::KeepDims::yes)), kernel::Reduction::max);
    const graph::Value logarithm = graph::log(over_all(graph::exp(wide - largest)));
    const graph::Value excess = wide - largest;
    graph::Value losses = is_probable ? of_probabilities(logarithm, excess, widened(target))
                                      : logarithm - over_all(graph::where(is_label(logits, target), excess, 0));
    if (smoothing != 0)
      losses = losses * (1 - smoothing) + (logarithm - over_all(excess) / static_cast<double>(classes)) * smoothing;
    if (!is_probable) {
      const graph::Value label = graph::unsqueeze(target, -1);
      losses = graph::where(graph::logical_and(label >= 0, label < classes), losses,
                            std::numeric_limits<double>::infinity());
    }
    return reduced(graph::sum(losses, {-1}), options.reduce); // of one each
  }

private:
  /// Sums over the classes of all ranks.
  [[nodiscard]] static constexpr graph::Value over_all(graph::Value own) {
    return graph::reduce_from<A>(graph::sum(own, {-1}, graph::KeepDims::yes));
  }
  /// A class of probability zero adds nothing, even where its logit is -infinity.
  [[nodiscard]] static constexpr graph::Value of_probabilities(graph::Value logarithm, graph::Value excess,
                                                               graph::Value probabilities) {
    const graph::Value is_nothing = graph::logical_and(graph::equal(probabilities, 0), graph::isinf(excess));
    return logarithm * over_all(probabilities) - over_all(probabilities * graph::where(is_nothing, 0, excess));
  }
  /// Which of this rank's classes is a row's label.
  [[nodiscard]] static constexpr graph::Value is_label(graph::Value logits, graph::Value labels) {
    graph::Graph& graph = logits.graph();
    const std::int64_t share = logits.size(-1, {});
    graph.require_within(labels.id(), {.what = "a label", .end = {share * A::size, 0}});
    graph::Extents classes{};
    classes.append({share, 0});
    const graph::Value label = graph::unsqueeze(graph::cast(labels, DType::int64), -1);
    const graph::Value own = A::size == 1 ? label : label - graph::rank_along<A>(graph) * share;
    return graph::equal(own, graph::iota(graph, classes));
  }
};

}}}}} // namespace twill::v0::nn::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace nn { inline namespace TWILL_ISA {

/// Cross entropy of logits (..., classes / ranks) divided by classes over the ranks, of labels (...) of all classes or
/// of probabilities divided as the logits are. `nn::cross_entropy` of undivided logits has the same value.
/// errors: labels that are no integers, probabilities of another shape, smoothing outside of [0, 1]
template <AnyRankAxis A> inline constexpr Loss<detail::ShardedCrossEntropyFormula<A>> sharded_cross_entropy{};

}}}} // namespace twill::v0::nn::TWILL_ISA
