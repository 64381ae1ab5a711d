#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Multi-head attention with heads divided among the ranks along an axis: each projects to its own heads, attends, and
// projects back a part of the sum. The weights are parts of those of nn::multi_head_attention, under its names.

#include <twill/core/call_site.hpp>
#include <twill/core/config.hpp>
#include <twill/nn/attention.hpp>
#include <twill/nn/tensor_parallel.hpp>

#include <cstdint>
#include <string_view>

namespace twill { inline namespace v0 { namespace nn { inline namespace TWILL_ISA {

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
  const Scope scope{graph, name};
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
