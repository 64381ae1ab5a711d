#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Exchange of parts among the ranks along an axis, as a node of a traced function: part j of rank i becomes part i of
// rank j. Done twice it is the identity, and its gradient is the exchange of the gradients, so it is right where each
// rank has its own loss and where all compute one loss of values that were gathered. Not in twill.hpp. Read next:
// ops/collective.hpp, nn/expert_parallel.hpp.

#include <twill/core/call_site.hpp>
#include <twill/core/config.hpp>
#include <twill/ops/collective.hpp>

#include <cstdint>

namespace twill { inline namespace v0 { namespace graph { namespace detail { inline namespace TWILL_ISA {

TWILL_CONSTEXPR void all_to_all_vjp(Graph& graph, int node, const Cotangents& cotangents, InputGradients& gradients);

}}}}} // namespace twill::v0::graph::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace graph { inline namespace TWILL_ISA {

/// Parts along the first axis, one for each rank, sent to them.
inline constexpr Operation all_to_all_operation{.name = "all_to_all",
                                                .vjp = &detail::all_to_all_vjp,
                                                .wants_dense = true,
                                                .collective = kernel::Collective::all_to_all};

}}}} // namespace twill::v0::graph::TWILL_ISA

namespace twill { inline namespace v0 { namespace graph { namespace detail { inline namespace TWILL_ISA {

TWILL_CONSTEXPR void all_to_all_vjp(Graph& graph, int node, const Cotangents& cotangents, InputGradients& gradients) {
  const Node self = graph.node(node);
  gradients.set(0, on_ranks(all_to_all_operation, {graph, cotangents[0]}, ranks_of(graph, self), self.shape));
}

}}}}} // namespace twill::v0::graph::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace graph { inline namespace TWILL_ISA {

/// The parts that all ranks have for this one, in order of rank. Parts are equal pieces of the first axis, piece j for
/// rank j; the shape stays. errors: ranks that do not divide the first axis, a call in the body of a scan
template <AnyRankAxis A> [[nodiscard]] constexpr Value all_to_all(Value x, CallSite site = CallSite::here()) {
  if (A::size == 1) return x;
  const std::int64_t pieces = x.rank() == 0 ? 1 : x.shape()[0].factor;
  if (pieces % A::size != 0) {
    x.graph().refuse(Problem::ranks_do_not_divide_the_axis, A::size, pieces, site);
    return x;
  }
  return on_ranks(all_to_all_operation, x, A::id, x.shape(), Reduction::sum, site);
}

}}}} // namespace twill::v0::graph::TWILL_ISA
