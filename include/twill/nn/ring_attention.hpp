#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Context parallelism: models for long sequences, each rank of an axis having a part of the rows (sequence parallelism
// of all layers). Layers that work row by row need no change inside of a `SplitRegion`; attention is ring attention,
// which sends keys and values round the ranks (Liu, Zaharia, Abbeel, 2023). No rank ever has a whole sequence unless it
// is given one, and weights are whole on each rank. Not in twill.hpp. Read next: ops/ring_attention.hpp.

#include <twill/core/call_site.hpp>
#include <twill/core/config.hpp>
#include <twill/nn/attention.hpp>
#include <twill/nn/tensor_parallel.hpp>
#include <twill/ops/ring_attention.hpp>
#include <twill/ops/slice.hpp>

#include <cstdint>
#include <string_view>

namespace twill { inline namespace v0 { namespace nn { inline namespace TWILL_ISA {

using graph::SequenceDivision;

/// Options of ring attention: causality, division of the rows, scale.
struct RingAttentionOptions {
  bool is_causal = false;                                   ///< each position sees itself and those before
  SequenceDivision division = SequenceDivision::contiguous; ///< zigzag: half the work of causal attention, and even
  double scale = 0;                                         ///< of the scores; 0: 1 / sqrt(width)
};

/// softmax(scale Q K^T) V over the rows of all ranks along an axis, for this rank's queries: (..., rows, width), keys
/// (..., rows, width) and values (..., rows, value width), this rank's part of each. The sequence is divided evenly.
/// errors: ranks, extents or types that differ, an odd number of rows in the zigzag division
template <AnyRankAxis A>
[[nodiscard]] constexpr Value ring_attention(Value query, Value key, Value value,
                                             const RingAttentionOptions& options = {},
                                             CallSite site = CallSite::here()) {
  if (query.rank() == 0) return graph::ring_attention<A>(query, key, value, {}, site); // which refuses it
  const double scale = detail::scale_of(query, {.scale = options.scale}, site);
  return graph::ring_attention<A>(query, key, value,
                                  {.scale = scale, .is_causal = options.is_causal, .division = options.division}, site);
}

/// Self-attention over a divided sequence: multi_head_attention's weights and names, whole on each rank. x and y:
/// (batch, rows, width), this rank's rows. errors: heads that do not divide the width, those of ring_attention
template <AnyRankAxis A>
[[nodiscard]] constexpr Value ring_multi_head_attention(Value x, std::int64_t heads, std::string_view name,
                                                        const RingAttentionOptions& options = {},
                                                        CallSite site = CallSite::here()) {
  if (!detail::check_heads(x, x, x, heads, site)) return x;
  const SplitRegion<A> part{x.graph(), 1};
  const Scope scope{x.graph(), name, site};
  const auto [parts] = detail::projected_heads(x, x, x, heads, site);
  const Value rows = ring_attention<A>(parts[0], parts[1], parts[2], options, site);
  return x.graph().fault.any() ? x : detail::project_out(rows, site);
}

/// This rank's rows, along an axis, of a value that is equal on all ranks. The gradient is joined.
/// errors: ranks, in the zigzag division twice the ranks, that do not divide the axis
template <AnyRankAxis A>
[[nodiscard]] constexpr Value sequence_part(Value x, int axis, SequenceDivision division = SequenceDivision::contiguous,
                                            CallSite site = CallSite::here()) {
  if (A::size == 1 || division == SequenceDivision::contiguous) return graph::split_to<A>(x, axis, site);
  const auto [early, late] = graph::split<2>(x, axis, site);
  if (x.graph().fault.any()) return x;
  const Value parts[] = {graph::split_to<A>(early, axis, site),
                         graph::split_to<A>(graph::slice_axis(late, axis, {.step = -1}, site), axis, site)};
  if (x.graph().fault.any()) return x;
  return graph::concatenate({parts[0], graph::slice_axis(parts[1], axis, {.step = -1}, site)}, axis, site);
}

/// The rows of all ranks in order, along an axis, equal on all ranks. The gradient is divided: it is for a loss that
/// all ranks compute alike. errors: an odd number of rows in the zigzag division
template <AnyRankAxis A>
[[nodiscard]] constexpr Value sequence_whole(Value x, int axis,
                                             SequenceDivision division = SequenceDivision::contiguous,
                                             CallSite site = CallSite::here()) {
  if (A::size == 1 || division == SequenceDivision::contiguous) return graph::gather_from<A>(x, axis, site);
  const auto [early, late] = graph::split<2>(x, axis, site);
  if (x.graph().fault.any()) return x;
  const Value turned = graph::gather_from<A>(graph::slice_axis(late, axis, {.step = -1}, site), axis, site);
  return graph::concatenate(
      {graph::gather_from<A>(early, axis, site), graph::slice_axis(turned, axis, {.step = -1}, site)}, axis, site);
}

/// The places in the whole sequence of this rank's rows, (rows) of int64, for embeddings of positions.
template <AnyRankAxis A>
[[nodiscard]] constexpr Value sequence_positions(graph::Graph& graph, std::int64_t rows,
                                                 SequenceDivision division = SequenceDivision::contiguous) {
  graph::Extents shape{};
  shape.append({rows, 0});
  const Value own = graph::iota(graph, shape);
  if (A::size == 1) return own;
  const Value rank = graph::rank_along<A>(graph);
  if (division == SequenceDivision::contiguous) return own + rank * rows;
  const std::int64_t half = rows / 2; // parts r and 2n - 1 - r of 2n
  return graph::where(own < half, own + rank * half, own + (2 * (A::size - 1) - rank) * half);
}

/// The mean over ranks of what each computes from its rows, such as the loss of its tokens: with as many rows on each,
/// the mean over all rows. Equal on all ranks.
template <AnyRankAxis A> [[nodiscard]] constexpr Value mean_over_ranks(Value own, CallSite site = CallSite::here()) {
  return A::size == 1 ? own : graph::reduce_from<A>(own, site) * (1.0 / A::size);
}

}}}} // namespace twill::v0::nn::TWILL_ISA
