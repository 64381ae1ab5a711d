#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Nodes of loops: which nodes run in every step. A node belongs to a loop when it depends on one of its carries or
// slices; it has no mark. All others run once, and common subexpressions need no rule of their own. Read next:
// compile/passes/reading.hpp.

#include <twill/compile/passes/simplify.hpp>
#include <twill/core/config.hpp>

#include <cstddef>

namespace twill { inline namespace v0 { namespace compile { inline namespace TWILL_ISA {

/// For each node the loop in whose steps it is computed, -1 for those outside.
struct LoopsOfNodes {
  List<int> computed{}; ///< carries are set before the loop, stacks are written in it
  List<int> read{};     ///< readers of the node are computed in this loop; -1 for the results of loops

  constexpr LoopsOfNodes() = default;
};

[[nodiscard]] TWILL_CONSTEXPR LoopsOfNodes loops_of_nodes(const Graph& graph) {
  LoopsOfNodes loops{};
  loops.computed = List<int>(graph.nodes.size(), -1);
  if (graph.loops.empty()) return loops;
  loops.read = List<int>(graph.nodes.size(), -1);
  for (int id = 0; id < graph.size(); ++id) {
    const Node& node = graph.nodes.items[id];
    int& computed = loops.computed.items[id];
    int& read = loops.read.items[id];
    if (node.kind == Kind::carry) {
      read = graph.carries.items[node.index];
    } else if (node.kind == Kind::stack) {
      computed = node.index;
    } else if (node.kind == Kind::close) {
      computed = graph.carries.items[node.index];
    } else if (node.kind != Kind::leave) {
      if (node.kind == Kind::slice) read = node.index;
      for (int k = 0; k < node.arity; ++k)
        if (const int other = loops.read.items[node.inputs.items[k]]; other >= 0) read = other;
      computed = read;
    }
  }
  return loops;
}

/// The nodes in an order in which those of a loop are together, after everything that any of them needs.
class LoopsTogether {
public:
  constexpr explicit LoopsTogether(const Graph& graph)
      : graph_{&graph},
        loops_{loops_of_nodes(graph)},
        placed_(graph.nodes.size(), 0),
        waiting_(graph.loops.size(), List<int>{}) {
    order_.reserve(graph.nodes.size());
    for (int id = 0; id < graph.size(); ++id) {
      if (const int loop = loops_.computed.items[id]; loop >= 0)
        waiting_.items[loop].push_back(id);
      else
        place(id);
    }
    for (std::size_t loop = 0; loop < waiting_.size(); ++loop) release(static_cast<int>(loop));
  }

  [[nodiscard]] constexpr const List<int>& order() const { return order_; }

private:
  TWILL_CONSTEXPR void place(int id) {
    const Node& node = graph_->nodes.items[id];
    for (int k = 0; k < node.arity; ++k)
      if (const int input = node.inputs.items[k]; placed_.items[input] == 0) release(loops_.computed.items[input]);
    placed_.items[id] = 1;
    order_.push_back(id);
  }
  TWILL_CONSTEXPR void release(int loop) {
    List<int> members{};
    members.swap(waiting_.items[loop]);
    // First the nodes of other loops that the members need, so that nothing comes between them.
    for (int id : members)
      for (int k = 0; k < graph_->nodes.items[id].arity; ++k) {
        const int input = graph_->nodes.items[id].inputs.items[k];
        const int other = loops_.computed.items[input];
        if (other >= 0 && other != loop && placed_.items[input] == 0) release(other);
      }
    for (int id : members) place(id);
  }

  const Graph* graph_;
  LoopsOfNodes loops_;
  List<char> placed_;
  List<List<int>> waiting_;
  List<int> order_{};
};

}}}} // namespace twill::v0::compile::TWILL_ISA
