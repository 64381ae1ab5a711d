#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Mixture of experts divided over the ranks along an axis (Lepikhin et al., GShard, 2020): each rank has equally many
// experts, which see the tokens of all ranks. Where every rank has all tokens, it computes the results of its experts,
// and the ranks' results are summed. Where the groups of tokens are divided, each rank routes its own, an all-to-all
// takes them to their experts, and another one the results back. Names, initial values and results are those of the
// undivided layer: a token has the same place, so the same choices are dropped. Not in twill.hpp.
// Read next: nn/tensor_parallel.hpp.

#include <twill/core/call_site.hpp>
#include <twill/core/config.hpp>
#include <twill/nn/mixture_of_experts.hpp>
#include <twill/nn/tensor_parallel.hpp>
#include <twill/ops/all_to_all.hpp>

#include <cstdint>
#include <initializer_list>
#include <string_view>

namespace twill { inline namespace v0 { namespace nn { inline namespace TWILL_ISA {

/// Options of a mixture of experts divided over ranks.
struct ShardedMixtureOptions {
  MixtureOptions mixture{};   ///< as on one device
  int split_axis = not_split; ///< 0: each rank has equally many of the groups, before and after
};

}}}} // namespace twill::v0::nn::TWILL_ISA

namespace twill { inline namespace v0 { namespace nn { namespace detail { inline namespace TWILL_ISA {

/// (experts, places of own groups, width) on each rank becomes (own experts, places of all groups, width).
template <AnyRankAxis A> [[nodiscard]] constexpr Value to_experts(Value rows, CallSite site) {
  const graph::Extents shape = rows.shape();
  const graph::Extent own{shape[0].factor / A::size, 0}, ranks{A::size, 0};
  const Value parts = graph::reshape(graph::all_to_all<A>(rows, site), {ranks, own, shape[1], shape[2]}, site);
  return graph::reshape(graph::transpose(parts, {1, 0, 2, 3}), {own, ranks * shape[1], shape[2]}, site);
}

/// The inverse of `to_experts`.
template <AnyRankAxis A> [[nodiscard]] constexpr Value from_experts(Value rows, CallSite site) {
  const graph::Extents shape = rows.shape();
  const graph::Extent places{shape[1].factor / A::size, shape[1].symbols}, ranks{A::size, 0};
  const Value parts = graph::transpose(graph::reshape(rows, {shape[0], ranks, places, shape[2]}, site), {1, 0, 2, 3});
  return graph::all_to_all<A>(graph::reshape(parts, {ranks * shape[0], places, shape[2]}, site), site);
}

/// The results of this rank's own tokens, whose experts are those of all ranks.
template <AnyRankAxis A>
[[nodiscard]] constexpr Value exchanged_mixture(Value x, const Routing& routing, const ExpertWeights& weights,
                                                FeedForwardFunction function, CallSite site) {
  const Value rows = of_experts(to_experts<A>(dispatched(x, routing.token, site), site), weights, function, site);
  return combined(from_experts<A>(rows, site), routing.place, routing.is_kept, routing.gates, site);
}

/// The results of all tokens, the sum over the ranks of those of each rank's own experts.
template <AnyRankAxis A>
[[nodiscard]] constexpr Value summed_mixture(Value x, const Routing& routing, const ExpertWeights& weights,
                                             FeedForwardFunction function, CallSite site) {
  const graph::Extents places = routing.token.shape();
  const std::int64_t capacity = places[2].factor;
  const Value own_tokens = graph::split_to<A>(routing.token, 0, site);
  const Value rows = of_experts(dispatched(graph::copy_to<A>(x), own_tokens, site), weights, function, site);
  // Places are numbered over all experts; this rank's are those of its part of (experts, groups).
  const Value own = graph::split_to<A>(graph::iota(x.graph(), {places[0], places[1]}), 0, site);
  const Value first = graph::min(own) * capacity, last = graph::max(own) * capacity + (capacity - 1);
  const Value is_own = graph::logical_and(routing.place >= first, routing.place <= last);
  const Value is_kept = graph::logical_and(routing.is_kept, is_own);
  const Value place = graph::where(is_kept, routing.place - first, 0);
  return graph::reduce_from<A>(combined(rows, place, is_kept, graph::copy_to<A>(routing.gates), site), site);
}

}}}}} // namespace twill::v0::nn::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace nn { inline namespace TWILL_ISA {

/// A mixture of feed-forward networks of which each rank has a part. x and y: (groups, tokens, width), on each rank
/// all groups or, with `split_axis` 0, its part of them. Weights have the names of `mixture_of_experts`; those of
/// experts are divided by experts.
/// errors: those of `mixture_of_experts`, ranks that do not divide the experts, tokens divided along another axis
template <AnyRankAxis A>
[[nodiscard]] constexpr Value
sharded_mixture_of_experts(Value x, std::int64_t experts, std::int64_t hidden, std::string_view name,
                           const ShardedMixtureOptions& options = {}, CallSite site = CallSite::here()) {
  const MixtureOptions& mixture = options.mixture;
  graph::Graph& graph = x.graph();
  const bool is_split = options.split_axis != not_split;
  if (is_split && options.split_axis != 0)
    graph.refuse(graph::Problem::tokens_of_experts_are_divided_by_groups_only, options.split_axis, 0, site);
  if (A::size == 1) return mixture_of_experts(x, experts, hidden, name, mixture, site);
  if (!detail::can_route(x, experts, mixture, site)) return x;
  const Scope scope{graph, name, site};
  const auto part = [&](std::string_view own, std::initializer_list<std::int64_t> shape, Initialiser initial) {
    return sharded_parameter<A>(graph, own, shape, initial, {}, site);
  };
  const auto whole = [&](std::string_view own, std::initializer_list<std::int64_t> shape, Initialiser initial) {
    if (!is_split) return parameter(graph, own, shape, initial, Trainable::yes, site);
    const SplitRegion<A> region{graph, 0}; // each rank's gradient is that of its tokens
    return parameter(graph, own, shape, initial, Trainable::yes, site);
  };
  const std::int64_t width = x.size(-1, site);
  const Value router = whole("router.weight", {experts, width}, detail::from_inputs(width));
  const detail::ExpertWeights weights = detail::declared_experts(experts, hidden, width, part);
  const detail::Routing routing = detail::route(x, router, mixture, site);
  if (graph.fault.any()) return x;
  if (!is_split) {
    const Value y = detail::summed_mixture<A>(x, routing, weights, mixture.function, site);
    return detail::with_router_losses(y, routing.auxiliary, mixture, site);
  }
  const Value y = detail::exchanged_mixture<A>(x, routing, weights, mixture.function, site);
  const Value mean = graph::reduce_from<A>(routing.auxiliary, site) / A::size; // ranks have equally many groups
  return detail::with_router_losses(y, mean, mixture, site);
}

}}}} // namespace twill::v0::nn::TWILL_ISA
