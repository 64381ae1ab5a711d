#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Layers divided over the ranks along an axis (Shoeybi et al., Megatron-LM, 2019): a linear layer divided by its
// outputs, then one divided by its inputs, need one sum over the ranks in each direction. If values between layers are
// split along a sequence (Korthikanti et al., 2022), the sum is scattered and the input gathered, which is equal
// traffic for a fraction of the activations. Names, initial values and results are those of the undivided layers. Read
// next: nn/tensor_attention.hpp, parallel/model/tensor_parallel.hpp.

#include <twill/core/call_site.hpp>
#include <twill/core/config.hpp>
#include <twill/nn/embedding.hpp>
#include <twill/nn/linear.hpp>
#include <twill/nn/sharded.hpp>
#include <twill/ops/collective.hpp>

#include <cstdint>
#include <string_view>

namespace twill { inline namespace v0 { namespace nn { inline namespace TWILL_ISA {

/// Values outside of the divided layers: every rank has all of them.
inline constexpr int not_split = -1;

/// Options of a linear layer with outputs divided over ranks.
struct ColumnLinearOptions {
  bool has_bias = true;         ///< one number for each output, divided like the outputs
  int split_axis = not_split;   ///< the axis along which each rank has a part of the input, such as the sequence's
  bool gathers_outputs = false; ///< every rank gets all outputs; else each has its part of them
  Initialiser weight = initialise::layers_own(); ///< how the weight starts
  Initialiser bias = initialise::layers_own();   ///< how the bias starts
};

/// Options of a linear layer with inputs divided over ranks.
struct RowLinearOptions {
  bool has_bias = true;       ///< one number for each output, on every rank
  int split_axis = not_split; ///< the axis along which each rank gets a part of the output, such as the sequence's
  Initialiser weight = initialise::layers_own(); ///< how the weight starts
  Initialiser bias = initialise::layers_own();   ///< how the bias starts
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
  const Scope scope{graph, name};
  const Initialiser own = initialise::fan_in_uniform(static_cast<double>(inputs));
  const Value weight =
      sharded_parameter<A>(graph, "weight", {outputs, inputs}, initialise::chosen(options.weight, own), {}, site);
  Value y = linear(detail::entering<A>(x, options.split_axis, site), weight, site);
  if (options.has_bias)
    y = y + sharded_parameter<A>(graph, "bias", {outputs}, initialise::chosen(options.bias, own), {}, site);
  return options.gathers_outputs ? graph::gather_from<A>(y, -1, site) : y;
}

/// A linear layer whose inputs are divided among the ranks: x (..., inputs / ranks), y (..., outputs), the sum of all.
template <AnyRankAxis A>
[[nodiscard]] constexpr Value row_linear(Value x, std::int64_t outputs, std::string_view name,
                                         RowLinearOptions options = {}, CallSite site = CallSite::here()) {
  graph::Graph& graph = x.graph();
  const std::int64_t inputs = x.size(-1, site) * A::size;
  const Scope scope{graph, name};
  const Initialiser own = initialise::fan_in_uniform(static_cast<double>(inputs));
  const Value weight = sharded_parameter<A>(graph, "weight", {outputs, inputs}, initialise::chosen(options.weight, own),
                                            {.dimension = 1}, site);
  const Value y = detail::leaving<A>(linear(x, weight, site), options.split_axis, site);
  if (!options.has_bias) return y;
  const SplitRegion<A> part{graph, options.split_axis, options.split_axis != not_split};
  return y + parameter(graph, "bias", {outputs}, initialise::chosen(options.bias, own), Trainable::yes, site);
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
  const Scope scope{graph, name};
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

}}}} // namespace twill::v0::nn::TWILL_ISA
