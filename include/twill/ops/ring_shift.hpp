#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Shifts round the ring of the ranks along an axis, as nodes of a traced function: each rank passes its value to one
// neighbour and gets the other neighbour's. The gradient is the shift in the other direction, right for a loss that is
// the sum of the ranks' losses. A shift sends what a rank holds once, where all_gather sends it to all other ranks, and
// needs memory for one more block. Not in twill.hpp. Read next: ops/ring_attention.hpp.

#include <twill/core/call_site.hpp>
#include <twill/core/config.hpp>
#include <twill/ops/collective.hpp>

namespace twill { inline namespace v0 { namespace graph { namespace detail { inline namespace TWILL_ISA {

TWILL_CONSTEXPR void to_next_vjp(Graph& graph, int node, const Cotangents& cotangents, InputGradients& gradients);
TWILL_CONSTEXPR void to_previous_vjp(Graph& graph, int node, const Cotangents& cotangents, InputGradients& gradients);

}}}}} // namespace twill::v0::graph::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace graph { inline namespace TWILL_ISA {

/// The value of the rank before this one. Attributes: those of all collectives.
inline constexpr Operation to_next_operation{
    .name = "to_next", .vjp = &detail::to_next_vjp, .wants_dense = true, .collective = kernel::Collective::to_next};
/// The value of the rank after this one. Attributes: those of all collectives.
inline constexpr Operation to_previous_operation{.name = "to_previous",
                                                 .vjp = &detail::to_previous_vjp,
                                                 .wants_dense = true,
                                                 .collective = kernel::Collective::to_previous};

/// Passes a value on to the next rank of an axis and gives that of the rank before, on rank 0 the last rank's.
[[nodiscard]] TWILL_CONSTEXPR Value to_next(Value x, const kernel::AxisId& ranks, CallSite site = CallSite::here()) {
  return ranks.size == 1 ? x : on_ranks(to_next_operation, x, ranks, x.shape(), Reduction::sum, site);
}
template <AnyRankAxis A> [[nodiscard]] constexpr Value to_next(Value x, CallSite site = CallSite::here()) {
  return to_next(x, A::id, site);
}

/// Passes a value back to the rank before and gives that of the next rank of an axis, on the last rank that of rank 0.
[[nodiscard]] TWILL_CONSTEXPR Value to_previous(Value x, const kernel::AxisId& ranks,
                                                CallSite site = CallSite::here()) {
  return ranks.size == 1 ? x : on_ranks(to_previous_operation, x, ranks, x.shape(), Reduction::sum, site);
}
template <AnyRankAxis A> [[nodiscard]] constexpr Value to_previous(Value x, CallSite site = CallSite::here()) {
  return to_previous(x, A::id, site);
}

}}}} // namespace twill::v0::graph::TWILL_ISA

namespace twill { inline namespace v0 { namespace graph { namespace detail { inline namespace TWILL_ISA {

TWILL_CONSTEXPR void to_next_vjp(Graph& graph, int node, const Cotangents& cotangents, InputGradients& gradients) {
  gradients.set(0, to_previous({graph, cotangents[0]}, ranks_of(graph, graph.node(node))));
}

TWILL_CONSTEXPR void to_previous_vjp(Graph& graph, int node, const Cotangents& cotangents, InputGradients& gradients) {
  gradients.set(0, to_next({graph, cotangents[0]}, ranks_of(graph, graph.node(node))));
}

}}}}} // namespace twill::v0::graph::detail::TWILL_ISA
