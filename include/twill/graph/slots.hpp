#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Device slots: numbers 0, 1, … on which a function puts its parts; a run maps them to devices. A value is computed in
// the slot of its operands, and only a move (ops/move.hpp) brings it to another one. A weight is stored in the slot of
// its first use. Numbers, positions and random draws, and values made of these alone, are computed wherever they are
// read. Until something is moved, everything is in slot 0 and nothing here runs. Read next:
// compile/passes/slot_assignment.hpp.

#include <twill/core/config.hpp>
#include <twill/core/list.hpp>
#include <twill/graph/node.hpp>
#include <twill/graph/parameter.hpp>

#include <cstddef>
#include <cstdint>

namespace twill { inline namespace v0 { namespace graph {

inline constexpr int max_slots = 16;

inline constexpr std::int8_t anywhere = -1; ///< the slot of values that are computed wherever they are read
inline constexpr std::int8_t unplaced = -2; ///< of an unused weight, and of values made of such weights alone

/// The different slots of two operands of one node.
struct SlotClash {
  int left = -1;
  int right = -1;

  [[nodiscard]] constexpr bool any() const { return left >= 0; }
};

/// The slots of the nodes of a graph, while it is being traced.
class Placement {
public:
  /// The number of slots, used or not.
  [[nodiscard]] constexpr int count() const { return count_; }
  [[nodiscard]] constexpr bool has_several() const { return count_ > 1; }

  /// Makes room for a slot. The first one besides slot 0 places all nodes that there are.
  TWILL_CONSTEXPR SlotClash add(int slot, List<Node>& nodes, List<ParameterInfo>& parameters) {
    SlotClash clash{};
    if (slot < count_) return clash;
    const bool is_first = count_ == 1;
    count_ = slot + 1;
    for (int id = 0; is_first && id < static_cast<int>(nodes.size()) && !clash.any(); ++id)
      clash = place(id, nodes, parameters);
    return clash;
  }

  /// Gives a node the slot of its operands. Moves and inputs name their own.
  static TWILL_CONSTEXPR SlotClash place(int id, List<Node>& nodes, List<ParameterInfo>& parameters) {
    Node& node = nodes.items[id];
    switch (node.kind) {
    case Kind::input:
      return {};
    case Kind::parameter:
      node.slot = unplaced;
      return {};
    case Kind::constant:
    case Kind::run_scalar:
    case Kind::iota:
      node.slot = anywhere;
      return {};
    default:
      break;
    }
    if (node.kind == Kind::operation && node.operation->moves) return {};
    const int read = read_inputs(node);
    std::int8_t slot = node.kind == Kind::carry ? unplaced : anywhere;
    for (int k = 0; k < read; ++k) {
      const std::int8_t own = nodes.items[node.input(k)].slot;
      if (own >= 0 && slot >= 0 && own != slot) return {slot, own};
      if (own >= 0 || (own == unplaced && slot < 0)) slot = own;
    }
    node.slot = slot;
    SlotClash clash{};
    for (int k = 0; slot >= 0 && k < read && !clash.any(); ++k)
      if (nodes.items[node.input(k)].slot == unplaced) clash = settle(node.input(k), slot, nodes, parameters);
    return clash;
  }

  /// Gives a slot to a node that has none, and to the weights that it is made of.
  static TWILL_CONSTEXPR SlotClash settle(int id, int slot, List<Node>& nodes, List<ParameterInfo>& parameters) {
    List<int> open{id};
    while (!open.empty()) {
      Node& node = nodes.items[open.back()];
      open.pop_back();
      if (node.slot >= 0 && node.slot != slot) return {node.slot, slot};
      if (node.slot != unplaced) continue;
      node.slot = static_cast<std::int8_t>(slot);
      if (node.kind == Kind::parameter) parameters.items[node.index].slot = slot;
      for (int k = 0; k < read_inputs(node); ++k) open.push_back(node.input(k));
    }
    return {};
  }

private:
  /// The number of inputs that have to be in the node's slot: an `after` may wait for values in other slots.
  [[nodiscard]] static constexpr int read_inputs(const Node& node) { return node.kind == Kind::after ? 1 : node.arity; }

  int count_ = 1;
};

}}} // namespace twill::v0::graph
