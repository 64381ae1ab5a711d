#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Assignment of device slots to the nodes of a graph with several: each node gets one. Values made of numbers alone,
// such as dropout masks, are made in each slot that reads them: the copies draw alike and are cheaper than a message.
// Unused weights are in slot 0. Afterwards only moves cross slots. Read next: compile/passes/simplify.hpp.

#include <twill/core/config.hpp>
#include <twill/graph/graph.hpp>

#include <cstddef>
#include <cstdint>

namespace twill { inline namespace v0 { namespace compile { namespace detail { inline namespace TWILL_ISA {

class SlotAssignment {
public:
  constexpr explicit SlotAssignment(const graph::Graph& graph)
      : old_{&graph.nodes},
        slots_{graph.slots()},
        made_(graph.nodes.size() * static_cast<std::size_t>(graph.slots()), -1),
        placed_(graph.nodes.size(), -1) {
    nodes_.reserve(graph.nodes.size());
    for (int id = 0; id < graph.size(); ++id) {
      const graph::Node& node = graph.node(id);
      if (node.slot != graph::anywhere) static_cast<void>(in_slot(id, node.slot < 0 ? 0 : node.slot));
    }
  }

  TWILL_CONSTEXPR void put_into(graph::Graph& graph) {
    const auto renumber = [&](int& id) {
      const int slot = graph.node(id).slot;
      id = in_slot(id, slot < 0 ? 0 : slot);
    };
    for (int& output : graph.outputs) renumber(output);
    for (auto& tap : graph.taps) renumber(tap.node);
    for (auto& info : graph.inputs) renumber(info.node);
    for (auto& info : graph.parameters) renumber(info.node);
    graph.nodes = static_cast<List<graph::Node>&&>(nodes_);
  }

private:
  /// The node that computes an old one in a slot; requires that it is computed there or anywhere.
  TWILL_CONSTEXPR int in_slot(int id, int slot) {
    const graph::Node& old = old_->items[id];
    const bool is_placed = old.slot != graph::anywhere;
    if (is_placed && placed_.items[id] >= 0) return placed_.items[id];
    int& made = is_placed ? placed_.items[id] : made_.items[id * slots_ + slot];
    if (made >= 0) return made;
    graph::Node node = old;
    if (node.kind == graph::Kind::operation && node.operation->moves &&
        old_->items[node.input(0)].slot == graph::anywhere)
      return made = in_slot(node.input(0), slot); // numbers are made where they are used
    const bool is_leaf = !is_placed && node.arity == 0;
    if (is_leaf && slot != 0) return made = in_slot(id, 0); // every program has it at no cost
    if (!is_leaf) node.slot = static_cast<std::int8_t>(slot);
    for (int k = 0; k < node.arity; ++k) {
      const int input = node.input(k);
      node.inputs.items[k] = in_slot(input, slot);
    }
    nodes_.push_back(node);
    return made = static_cast<int>(nodes_.size()) - 1;
  }

  const List<graph::Node>* old_;
  List<graph::Node> nodes_{};
  int slots_;
  List<int> made_;   ///< for each old node anywhere, and each slot, the new node
  List<int> placed_; ///< for each other old node the new one
};

}}}}} // namespace twill::v0::compile::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace compile { namespace detail { inline namespace TWILL_ISA {

/// Gives nodes traced before their operands had a slot, such as buffer updates, the slot of these operands.
TWILL_CONSTEXPR void assign_late_slots(graph::Graph& graph) {
  for (bool found = true; found;) {
    found = false;
    for (int id = 0; id < graph.size(); ++id) {
      const graph::Node& node = graph.node(id);
      if (node.slot != graph::unplaced || node.kind == graph::Kind::parameter) continue;
      const graph::SlotClash clash = graph::Placement::place(id, graph.nodes, graph.parameters);
      if (clash.any())
        graph.refuse(graph::Problem::operands_lie_in_different_slots_move_one_with_to, clash.left, clash.right, {});
      found = found || graph.node(id).slot != graph::unplaced;
    }
  }
}

}}}}} // namespace twill::v0::compile::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace compile { inline namespace TWILL_ISA {

/// Gives a slot to the nodes that are computed anywhere. Linear in the nodes and the slots.
TWILL_CONSTEXPR void assign_slots(graph::Graph& graph) {
  if (graph.slots() < 2) return;
  detail::assign_late_slots(graph);
  detail::SlotAssignment{graph}.put_into(graph);
}

}}}} // namespace twill::v0::compile::TWILL_ISA
