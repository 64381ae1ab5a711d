#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Scaled dot-product attention (Vaswani et al., 2017) and multi-head attention, with PyTorch's arguments, names and
// initial values. One form keeps the scores in memory, two products around one row program, which fuses scale, mask and
// softmax; the other, one operation, does not. Both take the same masks. Read next: ops/attention.hpp, the operation.

#include <twill/core/call_site.hpp>
#include <twill/core/config.hpp>
#include <twill/nn/activations.hpp>
#include <twill/nn/dropout.hpp>
#include <twill/nn/linear.hpp>
#include <twill/ops/attention.hpp>
#include <twill/ops/matmul.hpp>
#include <twill/ops/split.hpp>

#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

namespace twill { inline namespace v0 { namespace nn { inline namespace TWILL_ISA {

/// Form of attention: scores in memory, or streamed, with memory for the rows only. Models for GPUs stream unless
/// weights are dropped, those for hosts compose.
enum class AttentionForm : std::uint8_t { automatic, composed, streamed };

/// Options of attention: masks, scale, dropout and form.
struct AttentionOptions {
  std::optional<Value> mask{}; ///< (queries, keys) or broadcast to the scores; bool: true takes part; floating: added
  bool is_causal = false;      ///< query i sees keys 0 to i
  double scale = 0;            ///< of the scores; 0: 1 / sqrt(width)
  double dropout = 0;          ///< the probability that a weight is dropped in training
  /// (batch, keys), the batch being the first axis; bool: true is ignored, as in PyTorch; floating: added
  std::optional<Value> key_padding_mask{};
  AttentionForm form = AttentionForm::automatic; ///< of scaled_dot_product_attention and multi_head_attention
  bool averages_heads = true; ///< whether multi_head_attention_with_weights gives the mean weights of its heads
};

}}}} // namespace twill::v0::nn::TWILL_ISA

namespace twill { inline namespace v0 { namespace nn { namespace detail { inline namespace TWILL_ISA {

/// 1 / sqrt(x) by Newton's method, which a constant evaluation can run.
[[nodiscard]] TWILL_CONSTEXPR double reciprocal_root(double x) {
  double root = x < 1 ? 1 : x;
  for (int i = 0; i < 64; ++i) root = 0.5 * (root + x / root);
  return 1 / root;
}

/// The mask of the scores, including padded keys; none if nothing is masked.
[[nodiscard]] TWILL_CONSTEXPR std::optional<Value> whole_mask(Value query, Value key, const AttentionOptions& options,
                                                              CallSite site) {
  graph::Graph& graph = query.graph();
  constexpr double never = -std::numeric_limits<double>::infinity();
  if (options.mask) graph::check_attention_mask(query, key, *options.mask, site);
  if (!options.key_padding_mask) return options.mask;
  Value padding = *options.key_padding_mask;
  if (query.rank() < 3 || padding.rank() != 2) {
    graph.refuse(graph::Problem::attention_padding_mask_needs_a_batch_and_keys, padding.rank(), query.rank(), site);
    return {};
  }
  graph::Extents shape{};
  shape.rank = query.rank();
  shape[0] = padding.shape()[0];
  shape[shape.rank - 1] = padding.shape()[1];
  padding = graph::reshape(padding, shape, site);
  graph::check_attention_mask(query, key, padding, site);
  if (graph.fault.any()) return {};
  const bool is_added = padding.dtype() != DType::boolean;
  const Value kept = is_added ? padding : graph::logical_not(padding);
  if (!options.mask) return kept;
  const Value mask = *options.mask;
  if (mask.dtype() == DType::boolean)
    return is_added ? graph::where(mask, kept, never) : graph::logical_and(mask, kept);
  return is_added ? mask + kept : graph::where(kept, mask, never);
}

[[nodiscard]] TWILL_CONSTEXPR double scale_of(Value query, const AttentionOptions& options, CallSite site) {
  return options.scale != 0 ? options.scale : reciprocal_root(static_cast<double>(query.size(-1, site)));
}

}}}}} // namespace twill::v0::nn::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace nn { inline namespace TWILL_ISA {

/// Results of attention: the values that queries take, and with which weights.
struct AttentionResult {
  Value output{};  ///< (..., queries, value width)
  Value weights{}; ///< (..., queries, keys), after dropout
};

/// softmax(scale Q K^T, masked) V with the scores in memory, and the weights of V. query: (..., queries, width), key:
/// (..., keys, width), value: (..., keys, value width). A query whose keys are all masked gives zeros.
/// errors: ranks or extents that differ, a mask that does not fit
[[nodiscard]] TWILL_CONSTEXPR AttentionResult attention_with_weights(Value query, Value key, Value value,
                                                                     const AttentionOptions& options = {},
                                                                     CallSite site = CallSite::here()) {
  graph::check_attention(query, key, value, site);
  graph::Graph& graph = query.graph();
  if (graph.fault.any()) return {query, query};
  const std::optional<Value> mask = detail::whole_mask(query, key, options, site);
  if (graph.fault.any()) return {query, query};
  const Value scores = graph::attention_scores(
      query, key, {.scale = detail::scale_of(query, options, site), .is_causal = options.is_causal, .mask = mask},
      site);
  Value weights = mask ? graph::attention_weights(scores) : graph::softmax(scores, -1, site);
  if (options.dropout != 0) weights = dropout(weights, options.dropout, "dropout", site);
  return {graph::matmul(weights, value, site), weights};
}

/// softmax(scale Q K^T, masked) V with the scores in memory, as attention_with_weights.
[[nodiscard]] TWILL_CONSTEXPR Value composed_attention(Value query, Value key, Value value,
                                                       const AttentionOptions& options = {},
                                                       CallSite site = CallSite::here()) {
  return attention_with_weights(query, key, value, options, site).output;
}

/// softmax(scale Q K^T, masked) V in the options' form; see composed_attention and graph::streamed_attention.
/// errors: those of both, weights to drop when none are in memory
[[nodiscard]] TWILL_CONSTEXPR Value scaled_dot_product_attention(Value query, Value key, Value value,
                                                                 const AttentionOptions& options = {},
                                                                 CallSite site = CallSite::here()) {
  graph::Graph& graph = query.graph();
  const bool streams = options.form == AttentionForm::automatic ? graph.suits_gpus && options.dropout == 0
                                                                : options.form == AttentionForm::streamed;
  if (!streams) return composed_attention(query, key, value, options, site);
  graph::check_attention(query, key, value, site);
  if (options.dropout != 0) graph.refuse(graph::Problem::streamed_attention_cannot_drop_weights, 0, 0, site);
  if (graph.fault.any()) return query;
  const std::optional<Value> mask = detail::whole_mask(query, key, options, site);
  if (graph.fault.any()) return query;
  return graph::streamed_attention(
      query, key, value,
      {.scale = detail::scale_of(query, options, site), .is_causal = options.is_causal, .mask = mask}, site);
}

}}}} // namespace twill::v0::nn::TWILL_ISA

namespace twill { inline namespace v0 { namespace nn { namespace detail { inline namespace TWILL_ISA {

/// (batch, rows, heads * width) to (batch, heads, rows, width).
[[nodiscard]] TWILL_CONSTEXPR Value heads_apart(Value x, std::int64_t heads, CallSite site) {
  graph::Extents shape = x.shape();
  const std::int64_t width = x.size(-1, site) / heads;
  shape[2] = {heads, 0};
  shape.append({width, 0});
  return graph::transpose(graph::reshape(x, shape, site), {0, 2, 1, 3}, site);
}

/// The three inputs after their projections, with heads apart: by one weight for all, or where the widths of keys and
/// values are others, by one for each. Names: PyTorch's.
struct ProjectedHeads {
  Value parts[3]{};
};

/// (batch, heads, rows, width) to (batch, rows, heads * width).
[[nodiscard]] TWILL_CONSTEXPR Value heads_together(Value x, CallSite site) {
  const Value rows = graph::transpose(x, {0, 2, 1, 3}, site);
  graph::Extents shape = rows.shape();
  shape[2] = shape[2] * shape[3];
  shape.rank = 3;
  return graph::reshape(rows, shape, site);
}

[[nodiscard]] TWILL_CONSTEXPR bool check_heads(Value query, Value key, Value value, std::int64_t heads, CallSite site) {
  graph::Graph& graph = query.graph();
  if (query.rank() != 3 || key.rank() != 3 || value.rank() != 3)
    graph.refuse(graph::Problem::attention_ranks_differ, query.rank(), 3, site);
  else if (heads < 1 || query.size(-1, site) % heads != 0)
    graph.refuse(graph::Problem::heads_do_not_divide_the_width, heads, query.size(-1, site), site);
  return !graph.fault.any();
}

[[nodiscard]] TWILL_CONSTEXPR ProjectedHeads projected_heads(Value query, Value key, Value value, std::int64_t heads,
                                                             CallSite site) {
  graph::Graph& graph = query.graph();
  const std::int64_t width = query.size(-1, site);
  const auto inputs = static_cast<double>(width);
  ProjectedHeads heads_of{{query, key, value}};
  if (key.size(-1, site) != width || value.size(-1, site) != width) {
    constexpr std::string_view names[] = {"q_proj_weight", "k_proj_weight", "v_proj_weight"};
    Value weights[3]{};
    for (std::size_t i = 0; i < 3; ++i) {
      const std::int64_t own = heads_of.parts[i].size(-1, site);
      weights[i] = parameter(graph, names[i], {width, own},
                             initialise::xavier_uniform(static_cast<double>(own), inputs), Trainable::yes, site);
    }
    const Value bias = parameter(graph, "in_proj_bias", {3 * width}, initialise::zeros(), Trainable::yes, site);
    const auto biases = graph::split<3>(bias, 0, site);
    for (std::size_t i = 0; i < 3; ++i) heads_of.parts[i] = linear(heads_of.parts[i], weights[i], biases[i], site);
  } else {
    const Value weight = parameter(graph, "in_proj_weight", {3 * width, width},
                                   initialise::xavier_uniform(inputs, 3 * inputs), Trainable::yes, site);
    const Value bias = parameter(graph, "in_proj_bias", {3 * width}, initialise::zeros(), Trainable::yes, site);
    if (query.id() == key.id() && key.id() == value.id()) {
      const auto [q, k, v] = graph::split<3>(linear(query, weight, bias, site), -1, site);
      heads_of = {{q, k, v}};
    } else {
      const auto weights = graph::split<3>(weight, 0, site);
      const auto biases = graph::split<3>(bias, 0, site);
      for (std::size_t i = 0; i < 3; ++i) heads_of.parts[i] = linear(heads_of.parts[i], weights[i], biases[i], site);
    }
  }
  for (Value& part : heads_of.parts) part = heads_apart(part, heads, site);
  return heads_of;
}

/// The output projection of heads (batch, heads, rows, width of a head).
[[nodiscard]] TWILL_CONSTEXPR Value project_out(Value heads, CallSite site) {
  const Value together = heads_together(heads, site);
  graph::Graph& graph = heads.graph();
  const std::int64_t width = together.size(-1, site);
  const Scope projection{graph, "out_proj"};
  const Value out = parameter(graph, "weight", {width, width}, initialise::fan_in_uniform(static_cast<double>(width)),
                              Trainable::yes, site);
  return linear(together, out, parameter(graph, "bias", {width}, initialise::zeros(), Trainable::yes, site), site);
}

}}}}} // namespace twill::v0::nn::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace nn { inline namespace TWILL_ISA {

/// Multi-head attention with weights in_proj_weight (3 width, width), in_proj_bias, out_proj.weight and out_proj.bias,
/// like MultiheadAttention with batch_first. query: (batch, queries, width), key and value: (batch, keys, width) or of
/// other widths, for which q_proj_weight, k_proj_weight and v_proj_weight stand in place of in_proj_weight.
/// errors: a width that the heads do not divide, ranks or extents that differ
[[nodiscard]] TWILL_CONSTEXPR Value multi_head_attention(Value query, Value key, Value value, std::int64_t heads,
                                                         std::string_view name, const AttentionOptions& options = {},
                                                         CallSite site = CallSite::here()) {
  if (!detail::check_heads(query, key, value, heads, site)) return query;
  const Scope scope{query.graph(), name, site};
  const auto [parts] = detail::projected_heads(query, key, value, heads, site);
  return detail::project_out(scaled_dot_product_attention(parts[0], parts[1], parts[2], options, site), site);
}

/// Multi-head attention with the weights of the values, (batch, queries, keys), their mean over the heads, or without
/// `.averages_heads` (batch, heads, queries, keys): PyTorch's need_weights. Weights are in memory.
/// errors: those of multi_head_attention
[[nodiscard]] TWILL_CONSTEXPR AttentionResult multi_head_attention_with_weights(Value query, Value key, Value value,
                                                                                std::int64_t heads,
                                                                                std::string_view name,
                                                                                const AttentionOptions& options = {},
                                                                                CallSite site = CallSite::here()) {
  if (!detail::check_heads(query, key, value, heads, site)) return {query, query};
  const Scope scope{query.graph(), name, site};
  const auto [parts] = detail::projected_heads(query, key, value, heads, site);
  const AttentionResult result = attention_with_weights(parts[0], parts[1], parts[2], options, site);
  return {detail::project_out(result.output, site),
          options.averages_heads ? graph::mean(result.weights, {1}) : result.weights};
}

}}}} // namespace twill::v0::nn::TWILL_ISA
