#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Ring attention (Liu, Zaharia, Abbeel, 2023): scaled dot-product attention over a sequence of which each rank along an
// axis has a part. Queries stay, keys and values travel round the ring, and results of blocks are joined by the
// logarithm of each row's sum of exponentials, so no rank ever has the whole sequence. The backward pass sends keys and
// values round again, with their gradients. In the zigzag division each rank has one early and one late part, which
// divides the work of causal attention evenly (after Brandon et al., 2023). Not in twill.hpp. Read next:
// nn/ring_attention.hpp, parallel/model/ring_attention_bytes.hpp.

#include <twill/core/call_site.hpp>
#include <twill/core/config.hpp>
#include <twill/elementwise/real.hpp>
#include <twill/ops/attention.hpp>
#include <twill/ops/concatenate.hpp>
#include <twill/ops/ring_shift.hpp>
#include <twill/ops/split.hpp>

#include <bit>
#include <cstdint>
#include <limits>

namespace twill { inline namespace v0 { namespace graph { namespace detail { inline namespace TWILL_ISA {

TWILL_CONSTEXPR void ring_attention_vjp(Graph& graph, int node, const Cotangents& cotangents,
                                        InputGradients& gradients);

}}}}} // namespace twill::v0::graph::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace graph { inline namespace TWILL_ISA {

/// Division of a sequence over n ranks.
enum class SequenceDivision : std::uint8_t {
  contiguous, ///< rank r has part r of n; later ranks have more causal work and all wait for the last one
  zigzag,     ///< rank r has parts r and 2n - 1 - r of 2n, one after the other; causal work is half as much, and even
};

/// Options of ring attention: scale, causality and the rows that each rank has.
struct RingAttentionOptions {
  double scale = 1;                                         ///< of the scores
  bool is_causal = false;                                   ///< each position sees itself and those before
  SequenceDivision division = SequenceDivision::contiguous; ///< of queries, keys and values alike
};

/// The backward operation of attention with the logsumexp of other blocks, too. It has no gradient: the one of
/// attention_backward_operation would take this block for all there are.
inline constexpr Operation ring_attention_backward_operation{
    .name = "ring_attention_backward", .results = 3, .wants_dense = true};

}}}} // namespace twill::v0::graph::TWILL_ISA

namespace twill { inline namespace v0 { namespace graph { namespace detail { inline namespace TWILL_ISA {

/// The rule of ring attention's result. Inputs after the result: queries, keys, values, the logsumexp of each row over
/// all ranks. Attributes: those of collectives with 1 if causal in place of the reduction, the scale's bits, the
/// division.
inline constexpr Operation ring_attention_rule{.name = "ring_attention", .vjp = &ring_attention_vjp};

/// The value, but not before another one is known.
[[nodiscard]] TWILL_CONSTEXPR Value known_after(Value value, Value other) {
  Node node = node_over(Kind::after, value);
  node.arity = 2;
  node.inputs[1] = other.id();
  return {value.graph(), value.graph().add(node)};
}

/// What some queries have found in the blocks that they have met.
struct RingRows {
  Value out{};       ///< (outer, inner, queries, value width), over the sum of the weights
  Value logsumexp{}; ///< (outer, inner, queries), of the scores
};

/// Some keys with their values, or the gradients of both.
struct RingKeys {
  Value k{};
  Value v{};

  friend TWILL_CONSTEXPR RingKeys operator+(const RingKeys& a, const RingKeys& b) { return {a.k + b.k, a.v + b.v}; }
};

/// Some queries with what their gradient needs.
struct RingQueries {
  Value q{};
  Value g{};         ///< the gradient of the result
  Value out{};       ///< the result
  Value delta{};     ///< for each row the sum of the result times its gradient
  Value logsumexp{}; ///< over all ranks
};

/// The gradients that one block gives.
struct RingGradients {
  Value q{};
  RingKeys keys{};
};

/// Both passes of ring attention; a step shifts, then attends.
class RingAttention {
  static constexpr double infinity = std::numeric_limits<double>::infinity();

public:
  /// `dtype` is that of blocks while they are computed; they travel in their own.
  constexpr RingAttention(Graph& graph, const kernel::AxisId& ranks, const RingAttentionOptions& options, DType dtype)
      : graph_{&graph}, ranks_{ranks}, options_{options}, dtype_{dtype} {}

  [[nodiscard]] TWILL_CONSTEXPR RingRows forward(Value q, const RingKeys& keys) const {
    return is_zigzag() ? forward_zigzag(q, keys) : forward_contiguous(q, keys);
  }
  [[nodiscard]] TWILL_CONSTEXPR RingGradients backward(const RingQueries& rows, const RingKeys& keys) const {
    return is_zigzag() ? backward_zigzag(rows, keys) : backward_contiguous(rows, keys);
  }

private:
  /// Without causality the order of rows does not matter.
  [[nodiscard]] constexpr bool is_zigzag() const {
    return options_.is_causal && options_.division == SequenceDivision::zigzag;
  }
  /// Whether the block of a step has come from a rank of a smaller number, not round the end.
  [[nodiscard]] TWILL_CONSTEXPR Value is_from_before(std::int64_t step) const {
    return rank_along(*graph_, ranks_) >= step;
  }
  [[nodiscard]] TWILL_CONSTEXPR Value shifted(Value x) const { return to_next(x, ranks_); }
  [[nodiscard]] TWILL_CONSTEXPR RingKeys shifted(const RingKeys& keys) const {
    return {shifted(keys.k), shifted(keys.v)};
  }
  /// The next block, not before what the last one gave is complete: else all blocks could be in memory at once.
  [[nodiscard]] TWILL_CONSTEXPR RingKeys next(const RingKeys& keys, Value done) const {
    return {shifted(known_after(keys.k, done)), shifted(known_after(keys.v, done))};
  }
  [[nodiscard]] TWILL_CONSTEXPR RingKeys next(const RingKeys& keys, Value done, Value also) const {
    return next({known_after(keys.k, also), known_after(keys.v, also)}, done);
  }
  [[nodiscard]] TWILL_CONSTEXPR std::array<Value, 2> halves(Value x) const { return split<2>(x, 2); }
  [[nodiscard]] TWILL_CONSTEXPR std::array<RingKeys, 2> halves(const RingKeys& keys) const {
    const auto k = halves(keys.k);
    const auto v = halves(keys.v);
    return {RingKeys{k[0], v[0]}, RingKeys{k[1], v[1]}};
  }
  [[nodiscard]] TWILL_CONSTEXPR RingKeys chosen(Value first, const RingKeys& a, const RingKeys& b) const {
    return {where(first, a.k, b.k), where(first, a.v, b.v)};
  }

  [[nodiscard]] TWILL_CONSTEXPR RingRows attend(Value q, const RingKeys& keys, bool is_causal = false) const {
    Extents shape = q.shape();
    shape[3] = keys.v.shape()[3];
    const Value out = add_operation(attention_operation, {cast(q, dtype_), cast(keys.k, dtype_), cast(keys.v, dtype_)},
                                    dtype_, shape, {is_causal, std::bit_cast<std::int64_t>(options_.scale), 0});
    const Value logsumexp = logsumexp_of(out);
    return {widened(out), logsumexp};
  }

  /// log(e^a + e^b), and both results weighted by their shares of that. `a` has seen a key.
  [[nodiscard]] TWILL_CONSTEXPR RingRows merged(const RingRows& a, const RingRows& b) const {
    const Value all = logaddexp(a.logsumexp, b.logsumexp);
    const auto weight = [&](Value one) { return unsqueeze(exp(one - all), -1); };
    return {a.out * weight(a.logsumexp) + b.out * weight(b.logsumexp), all};
  }
  /// `b` where a condition on the rank holds, else nothing.
  [[nodiscard]] TWILL_CONSTEXPR RingRows merged_if(Value condition, const RingRows& a, const RingRows& b) const {
    return merged(a, {b.out, where(condition, b.logsumexp, -infinity)});
  }

  [[nodiscard]] TWILL_CONSTEXPR RingRows forward_contiguous(Value q, RingKeys keys) const {
    RingRows rows = attend(q, keys, options_.is_causal);
    for (std::int64_t step = 1; step < ranks_.size; ++step) {
      keys = next(keys, rows.out);
      const RingRows block = attend(q, keys);
      rows = options_.is_causal ? merged_if(is_from_before(step), rows, block) : merged(rows, block);
    }
    return rows;
  }

  /// Late rows see all early keys. Of the other pairs either early rows see early keys, or late rows see late keys.
  [[nodiscard]] TWILL_CONSTEXPR RingRows forward_zigzag(Value q, const RingKeys& keys) const {
    const auto [q_early, q_late] = halves(q);
    auto [early, late] = halves(keys);
    RingRows rows = attend(q_early, early, true);
    RingRows late_rows = merged(attend(q_late, late, true), attend(q_late, early));
    for (std::int64_t step = 1; step < ranks_.size; ++step) {
      early = next(early, rows.out, late_rows.out);
      late = next(late, rows.out, late_rows.out);
      const Value is_before = is_from_before(step);
      late_rows = merged(late_rows, attend(q_late, early));
      const RingRows one = attend(where(is_before, q_early, q_late), chosen(is_before, early, late));
      rows = merged_if(is_before, rows, one);
      late_rows = merged_if(logical_not(is_before), late_rows, one);
    }
    return {concatenate({rows.out, late_rows.out}, 2), concatenate({rows.logsumexp, late_rows.logsumexp}, 2)};
  }

  [[nodiscard]] TWILL_CONSTEXPR RingGradients gradients_of(const RingQueries& rows, const RingKeys& keys,
                                                           bool is_causal = false) const {
    const auto scale = std::bit_cast<std::int64_t>(options_.scale);
    const Value q = cast(rows.q, dtype_);
    const Value k = cast(keys.k, dtype_);
    const Value v = cast(keys.v, dtype_);
    const Value g = cast(rows.g, dtype_);
    const bool is_narrow = compute_type(dtype_) != dtype_;
    const Value first = is_narrow
                            ? add_operation(ring_attention_backward_operation,
                                            {q, k, v, rows.delta, rows.logsumexp, g, cast(rows.out, dtype_)}, dtype_,
                                            q.shape(), {is_causal, scale, 0, 1})
                            : add_operation(ring_attention_backward_operation, {q, k, v, rows.delta, rows.logsumexp, g},
                                            dtype_, q.shape(), {is_causal, scale, 0, 0});
    const Value of_k = add_result(first, 1, dtype_, k.shape());
    const Value of_v = add_result(first, 2, dtype_, v.shape());
    return {widened(first), {widened(of_k), widened(of_v)}};
  }

  [[nodiscard]] TWILL_CONSTEXPR RingGradients backward_contiguous(const RingQueries& rows, RingKeys keys) const {
    RingGradients all = gradients_of(rows, keys, options_.is_causal);
    for (std::int64_t step = 1; step < ranks_.size; ++step) {
      keys = next(keys, all.q);
      RingQueries own = rows; // e^(score - infinity) = 0: a block that is not seen gives no gradient
      if (options_.is_causal) own.logsumexp = where(is_from_before(step), own.logsumexp, infinity);
      const RingGradients block = gradients_of(own, keys);
      all = {all.q + block.q, shifted(all.keys) + block.keys};
    }
    return {all.q, shifted(all.keys)};
  }

  [[nodiscard]] TWILL_CONSTEXPR RingGradients backward_zigzag(const RingQueries& rows, const RingKeys& keys) const {
    const auto q = halves(rows.q);
    const auto g = halves(rows.g);
    const auto out = halves(rows.out);
    const auto delta = halves(rows.delta);
    const auto logsumexp = halves(rows.logsumexp);
    const RingQueries of_early{q[0], g[0], out[0], delta[0], logsumexp[0]};
    const RingQueries of_late{q[1], g[1], out[1], delta[1], logsumexp[1]};
    auto [early, late] = halves(keys);
    RingGradients by_early = gradients_of(of_early, early, true);
    RingGradients by_late = gradients_of(of_late, late, true);
    const RingGradients between = gradients_of(of_late, early);
    by_late.q = by_late.q + between.q;
    by_early.keys = by_early.keys + between.keys;
    for (std::int64_t step = 1; step < ranks_.size; ++step) {
      early = next(early, by_early.q, by_late.q);
      late = next(late, by_early.q, by_late.q);
      const Value is_before = is_from_before(step);
      const auto either = [&](Value a, Value b) { return where(is_before, a, b); };
      const RingGradients first = gradients_of(of_late, early);
      const RingGradients second =
          gradients_of({either(of_early.q, of_late.q), either(of_early.g, of_late.g), either(of_early.out, of_late.out),
                        either(of_early.delta, of_late.delta), either(of_early.logsumexp, of_late.logsumexp)},
                       chosen(is_before, early, late));
      const auto if_before = [&](Value x) { return where(is_before, x, 0); };
      const auto if_after = [&](Value x) { return where(is_before, 0, x); };
      by_early.q = by_early.q + if_before(second.q);
      by_late.q = by_late.q + first.q + if_after(second.q);
      by_early.keys =
          shifted(by_early.keys) + first.keys + RingKeys{if_before(second.keys.k), if_before(second.keys.v)};
      by_late.keys = shifted(by_late.keys) + RingKeys{if_after(second.keys.k), if_after(second.keys.v)};
    }
    const RingKeys of_k_and_v[] = {shifted(by_early.keys), shifted(by_late.keys)};
    return {concatenate({by_early.q, by_late.q}, 2),
            {concatenate({of_k_and_v[0].k, of_k_and_v[1].k}, 2), concatenate({of_k_and_v[0].v, of_k_and_v[1].v}, 2)}};
  }

  Graph* graph_;
  kernel::AxisId ranks_;
  RingAttentionOptions options_;
  DType dtype_;
};

/// The type in which a host or a GPU computes a block.
[[nodiscard]] TWILL_CONSTEXPR DType ring_block_type(const Graph& graph, DType dtype) {
  return graph.suits_gpus ? dtype : compute_type(dtype);
}

/// Keys and values of the forward pass are not those that have travelled round, which would all have to be kept.
TWILL_CONSTEXPR void ring_attention_vjp(Graph& graph, int node, const Cotangents& cotangents,
                                        InputGradients& gradients) {
  const Node self = graph.node(node);
  if (cotangents[0] < 0 || !(gradients.wants(1) || gradients.wants(2) || gradients.wants(3))) return;
  const Value g{graph, cotangents[0]};
  const auto again = [&](int input) { return known_after({graph, self.input(input)}, g); };
  const Value inputs[] = {again(1), again(2), again(3)};
  const Value out = again(0);
  const RingAttentionOptions options{.scale = std::bit_cast<double>(graph.attribute(self, 4)),
                                     .is_causal = graph.attribute(self, 3) != 0,
                                     .division = static_cast<SequenceDivision>(graph.attribute(self, 5))};
  const RingAttention ring{graph, ranks_of(graph, self), options, ring_block_type(graph, inputs[0].dtype())};
  const RingGradients found =
      ring.backward({inputs[0], g, out, sum(out * g, {-1}), again(4)}, RingKeys{inputs[1], inputs[2]});
  const Value results[] = {found.q, found.keys.k, found.keys.v};
  for (int i = 0; i < 3; ++i)
    if (gradients.wants(1 + i)) gradients.set(1 + i, cast(results[i], inputs[i].dtype()));
}

}}}}} // namespace twill::v0::graph::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace graph { inline namespace TWILL_ISA {

/// softmax(scale Q K^T, causal or not) V over the rows of all ranks of an axis, for this rank's queries. query: (...,
/// queries, width), key: (..., keys, width), value: (..., keys, value width), this rank's rows of each, as many on
/// every rank; leading axes and floating type are equal. Gradients are right for a loss that is the sum over ranks of
/// what follows from their results, as in `nn::SplitRegion`. Second derivatives are refused.
/// errors: ranks, extents or types that differ, an odd number of rows in the zigzag division, a scan around it
/// cost: a rank sends keys and values ranks - 1 times forward; backward so, too, and their gradients ranks times
[[nodiscard]] TWILL_CONSTEXPR Value ring_attention(Value query, Value key, Value value, const kernel::AxisId& ranks,
                                                   const RingAttentionOptions& options = {},
                                                   CallSite site = CallSite::here()) {
  if (ranks.size == 1)
    return streamed_attention(query, key, value, {.scale = options.scale, .is_causal = options.is_causal}, site);
  Graph& graph = query.graph();
  check_attention(query, key, value, site);
  if (query.dtype() != key.dtype() || query.dtype() != value.dtype())
    graph.refuse(Problem::attention_dtypes_differ, static_cast<int>(query.dtype()),
                 static_cast<int>(query.dtype() != key.dtype() ? key.dtype() : value.dtype()), site);
  if (graph.open_loop >= 0) graph.refuse(Problem::ranks_work_together_outside_of_scans_only, 0, 0, site);
  if (graph.fault.any()) return query;
  const Extent queries = query.shape()[query.rank() - 2];
  const Extent keys = key.shape()[key.rank() - 2];
  if (options.is_causal && !unify(graph, queries, keys))
    graph.refuse(Problem::attention_extents_differ, queries.is_static() ? queries.factor : dyn,
                 keys.is_static() ? keys.factor : dyn, site);
  if (options.is_causal && options.division == SequenceDivision::zigzag)
    if (const std::int64_t rows = query.size(-2, site); rows % 2 != 0)
      graph.refuse(Problem::sections_do_not_divide_the_axis, 2, rows, site);
  if (graph.fault.any()) return query;
  const Value inputs[] = {detail::as_four_axes(query), detail::as_four_axes(key), detail::as_four_axes(value)};
  const detail::RingAttention ring{graph, ranks, options, detail::ring_block_type(graph, query.dtype())};
  const detail::RingRows rows =
      ring.forward(stop_gradient(inputs[0]), {stop_gradient(inputs[1]), stop_gradient(inputs[2])});
  Node node = detail::node_over(Kind::rule, rows.out);
  node.operation = &detail::ring_attention_rule;
  node.index =
      graph.add_attributes({ranks.low, ranks.high, ranks.size, options.is_causal,
                            std::bit_cast<std::int64_t>(options.scale), static_cast<std::int64_t>(options.division)});
  for (const Value& input : inputs) node.inputs[node.arity++] = input.id();
  node.inputs[node.arity++] = rows.logsumexp.id();
  const Value out{graph, graph.add(node)};
  Extents shape = query.shape();
  shape[shape.rank - 1] = value.shape()[value.rank() - 1];
  return cast(reshape(out, shape), query.dtype());
}
template <AnyRankAxis A>
[[nodiscard]] constexpr Value ring_attention(Value query, Value key, Value value,
                                             const RingAttentionOptions& options = {},
                                             CallSite site = CallSite::here()) {
  return ring_attention(query, key, value, A::id, options, site);
}

}}}} // namespace twill::v0::graph::TWILL_ISA

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

template <>
struct KernelOf<&graph::ring_attention_backward_operation> : KernelOf<&graph::attention_backward_operation> {};

}}} // namespace twill::v0::TWILL_ISA
