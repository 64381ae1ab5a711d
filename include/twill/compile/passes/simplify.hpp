#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Simplification of graphs before fusion, in one pass over the nodes: unneeded nodes are dropped, equal nodes become
// one, chains of views shorten, and arithmetic with neutral constants disappears. Linear in the number of nodes. Read
// next: compile/passes/group.hpp.

#include <twill/compile/passes/slot_assignment.hpp>
#include <twill/core/config.hpp>
#include <twill/graph/graph.hpp>

#include <cstddef>
#include <cstdint>

namespace twill { inline namespace v0 { namespace compile { inline namespace TWILL_ISA {

using graph::Extents;
using graph::Graph;
using graph::Kind;
using graph::Node;
using graph::Primitive;
using graph::Reduction;

/// Which nodes an output or an assignment needs.
TWILL_CONSTEXPR List<char> needed_nodes(const Graph& graph) {
  List<char> needed(graph.nodes.size(), 0);
  for (int output : graph.outputs) needed.items[output] = 1;
  for (const graph::TapInfo& tap : graph.taps)
    if (!tap.is_copied) needed.items[tap.node] = 1;
  List<int> close_of(graph.carries.size(), -1);
  for (int id = 0; id < graph.size() && !graph.carries.empty(); ++id)
    if (graph.nodes.items[id].kind == Kind::close) close_of.items[graph.nodes.items[id].index] = id;
  for (std::size_t i = graph.nodes.size(); i-- > 0;) {
    const Node& node = graph.nodes.items[i];
    const Kind kind = node.kind;
    if (kind == Kind::carry && needed.items[i] != 0) {
      // A carry needs its next value, which comes after it: back to there, once.
      const auto close = static_cast<std::size_t>(close_of.items[node.index]);
      if (needed.items[close] == 0) {
        needed.items[close] = 1;
        i = close + 1;
        continue;
      }
    }
    if (kind == Kind::assign || kind == Kind::input || kind == Kind::parameter) needed.items[i] = 1;
    if (needed.items[i] == 0) continue;
    const int arity =
        kind == Kind::rule ? 1 : node.arity; // operands of a rule are for gradients, which are already taken
    for (int k = 0; k < arity; ++k) needed.items[node.inputs.items[k]] = 1;
  }
  return needed;
}

}}}} // namespace twill::v0::compile::TWILL_ISA

namespace twill { inline namespace v0 { namespace compile { namespace detail { inline namespace TWILL_ISA {

[[nodiscard]] TWILL_CONSTEXPR std::uint32_t hash(const Node& node) {
  std::uint32_t h = static_cast<std::uint32_t>(node.kind) * 31u + static_cast<std::uint32_t>(node.primitive);
  h = h * 1000003u + static_cast<std::uint32_t>(node.inputs.items[0] + 1);
  h = h * 1000003u + static_cast<std::uint32_t>(node.inputs.items[1] + 1);
  h = h * 1000003u + static_cast<std::uint32_t>(node.index) + static_cast<std::uint32_t>(node.shape.rank);
  return h ^ (h >> 15);
}

/// requires: both nodes have their inputs renumbered
[[nodiscard]] TWILL_CONSTEXPR bool equal(const Node& a, const Node& b) {
  if (a.kind != b.kind || a.arity != b.arity) return false;
  const int arity = a.arity;
  for (int i = 0; i < arity; ++i)
    if (a.inputs.items[i] != b.inputs.items[i]) return false;
  return a.dtype == b.dtype && a.primitive == b.primitive && a.reduction == b.reduction && a.axis == b.axis &&
         a.index == b.index && a.value == b.value && a.over == b.over &&
         (a.kind != Kind::operation || graph::is_same(*a.operation, *b.operation)) && a.slot == b.slot &&
         a.shape == b.shape && (a.kind != Kind::transpose || a.permutation == b.permutation);
}

/// Nodes found so far, by hash.
class NodeTable {
public:
  constexpr explicit NodeTable(std::size_t nodes) {
    std::size_t capacity = 16;
    while (capacity < nodes * 2) capacity *= 2;
    slots_.resize(capacity, -1);
    mask_ = capacity - 1;
  }
  /// The number of an equal node among `nodes`, or `fresh`, which is then remembered.
  TWILL_CONSTEXPR int find_or_insert(const List<Node>& nodes, const Node& node, int fresh) {
    std::size_t slot = hash(node) & mask_;
    for (int known = slots_.items[slot]; known >= 0; known = slots_.items[slot]) {
      if (equal(nodes.items[known], node)) return known;
      slot = (slot + 1) & mask_;
    }
    slots_.items[slot] = fresh;
    return fresh;
  }

private:
  List<int> slots_{};
  std::size_t mask_ = 0; ///< of the bits that choose a slot
};

/// The plain number that a node broadcasts, if it does not depend on an extent.
[[nodiscard]] TWILL_CONSTEXPR const Node* number_behind(const List<Node>& nodes, int id) {
  const Node* node = &nodes.items[id];
  while (node->kind == Kind::broadcast || node->kind == Kind::reshape) node = &nodes.items[node->inputs.items[0]];
  return node->kind == Kind::constant && node->over.is_one() ? node : nullptr;
}

/// The operand that an arithmetic node merely repeats (x * 1, x + 0, x / 1, x - 0), or -1.
[[nodiscard]] TWILL_CONSTEXPR int neutral_operand(const List<Node>& nodes, const Node& node) {
  if (node.kind != Kind::primitive || node.arity != 2) return -1;
  const bool multiplicative = node.primitive == Primitive::multiply || node.primitive == Primitive::divide;
  const bool additive = node.primitive == Primitive::add || node.primitive == Primitive::subtract;
  if (!multiplicative && !additive) return -1;
  const double neutral = multiplicative ? 1 : 0;
  const Node* right = number_behind(nodes, node.inputs.items[1]);
  if (right != nullptr && right->value == neutral) return node.inputs.items[0];
  if (node.primitive == Primitive::divide || node.primitive == Primitive::subtract) return -1;
  const Node* left = number_behind(nodes, node.inputs.items[0]);
  return left != nullptr && left->value == neutral ? node.inputs.items[1] : -1;
}

/// An existing node that computes the same as `node`, or -1; may shorten the chain of views under `node`.
[[nodiscard]] TWILL_CONSTEXPR int replacement(const List<Node>& nodes, Node& node) {
  if (node.kind == Kind::stop_gradient || node.kind == Kind::rule || (node.kind == Kind::after && node.arity == 1))
    return node.inputs.items[0];
  if (const int operand = neutral_operand(nodes, node); operand >= 0) return operand;
  if (node.kind == Kind::reshape) {
    const Node* operand = &nodes.items[node.inputs.items[0]];
    if (operand->kind == Kind::reshape) node.inputs.items[0] = operand->inputs.items[0];
    operand = &nodes.items[node.inputs.items[0]];
    return operand->shape == node.shape ? node.inputs.items[0] : -1;
  }
  if (node.kind == Kind::transpose) {
    const Node& operand = nodes.items[node.inputs.items[0]];
    if (operand.kind != Kind::transpose) return -1;
    bool identity = true;
    for (int axis = 0; axis < node.shape.rank; ++axis) {
      auto& source = node.permutation.items[axis];
      source = operand.permutation.items[source];
      identity = identity && source == axis;
    }
    node.inputs.items[0] = operand.inputs.items[0];
    return identity ? node.inputs.items[0] : -1;
  }
  return -1;
}

}}}}} // namespace twill::v0::compile::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace compile { inline namespace TWILL_ISA {

/// Rewrites the graph without dead, repeated and neutral nodes, each in a slot of its own.
TWILL_CONSTEXPR void simplify(Graph& graph) {
  assign_slots(graph);
  const List<char> needed = needed_nodes(graph);
  List<Node> kept{};
  kept.reserve(graph.nodes.size());
  List<int> renumbered(graph.nodes.size(), -1);
  detail::NodeTable table{graph.nodes.size()};
  const std::size_t count = graph.nodes.size();
  for (std::size_t i = 0; i < count; ++i) {
    if (needed.items[i] == 0) continue;
    Node node = graph.nodes.items[i];
    const int arity = node.arity;
    for (int k = 0; k < arity; ++k) {
      int& input = node.inputs.items[k];
      input = renumbered.items[input];
    }
    int id = detail::replacement(kept, node);
    if (id < 0) {
      const int fresh = static_cast<int>(kept.size());
      id = is_pure(node.kind) ? table.find_or_insert(kept, node, fresh) : fresh;
      if (id == fresh) kept.push_back(node);
    }
    renumbered.items[i] = id;
  }
  graph.nodes = static_cast<List<Node>&&>(kept);
  for (int& output : graph.outputs) output = renumbered.items[output];
  List<graph::TapInfo> taps{};
  for (graph::TapInfo tap : graph.taps) {
    if (tap.is_copied) continue;
    tap.node = renumbered.items[tap.node];
    taps.push_back(tap);
  }
  graph.taps.swap(taps);
  for (auto& info : graph.inputs) info.node = renumbered.items[info.node];
  for (auto& info : graph.parameters) info.node = renumbered.items[info.node];
}

}}}} // namespace twill::v0::compile::TWILL_ISA
