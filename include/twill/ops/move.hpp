#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Device moves of a value, like PyTorch's `to` inside `forward`: everything computed with the result is computed there.
// The gradient moves back. A move is an instruction without a kernel: a copy between the memories of two devices, which
// runs alongside the work of the slot that it leaves. Read next: graph/slots.hpp, compile/plan/segments.hpp.

#include <twill/core/call_site.hpp>
#include <twill/core/config.hpp>
#include <twill/graph/operation.hpp>

namespace twill { inline namespace v0 { namespace graph { namespace detail { inline namespace TWILL_ISA {

TWILL_CONSTEXPR void move_vjp(Graph& graph, int node, const Cotangents& cotangents, InputGradients& gradients);

}}}}} // namespace twill::v0::graph::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace graph { inline namespace TWILL_ISA {

/// A copy to the device of another slot; its gradient moves back.
inline constexpr Operation move_operation{
    .name = "to", .vjp = &detail::move_vjp, .wants_dense = true, .moves = true, .batching = Batching::stack};

/// The value in a slot, 0 to 15. An unused weight is put there; a value already there is returned unchanged.
[[nodiscard]] TWILL_CONSTEXPR Value to_slot(Value x, int slot, CallSite site = CallSite::here()) {
  Graph& graph = x.graph();
  if (slot < 0 || slot >= max_slots) {
    graph.refuse(Problem::slot_is_outside_0_to_15, slot, max_slots - 1, site);
    return x;
  }
  graph.add_slot(slot, site);
  if (graph.slots() == 1 || graph.settle(x.id(), slot, site) == slot) return x;
  if (graph.open_loop >= 0) graph.refuse(Problem::move_to_a_slot_in_the_body_of_a_scan, slot, 0, site);
  Node node{};
  node.kind = Kind::operation;
  node.operation = &move_operation;
  node.dtype = x.dtype();
  node.shape = x.shape();
  node.slot = static_cast<std::int8_t>(slot);
  node.arity = 1;
  node.inputs[0] = x.id();
  return {graph, graph.add(node)};
}

}}}} // namespace twill::v0::graph::TWILL_ISA

namespace twill { inline namespace v0 { namespace graph { namespace detail { inline namespace TWILL_ISA {

TWILL_CONSTEXPR void move_vjp(Graph& graph, int node, const Cotangents& cotangents, InputGradients& gradients) {
  const int source = graph.node(graph.node(node).input(0)).slot;
  if (source >= 0) gradients.set(0, to_slot({graph, cotangents[0]}, source, {}));
}

}}}}} // namespace twill::v0::graph::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace graph { inline namespace TWILL_ISA {

/// A value, such as the gradient of a weight, in the slot of another; numbers are made there.
[[nodiscard]] TWILL_CONSTEXPR Value beside(Value x, const Node& other) {
  return other.slot >= 0 && x.node().slot != other.slot ? to_slot(x, other.slot, {}) : x;
}

}}}} // namespace twill::v0::graph::TWILL_ISA
