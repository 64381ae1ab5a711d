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

/// For each node the innermost loop in whose steps it is computed, -1 for those outside.
class LoopsOfNodes {
public:
  constexpr LoopsOfNodes() = default;
  TWILL_CONSTEXPR explicit LoopsOfNodes(const Graph& graph)
      : computed_(graph.nodes.size(), -1), around_(graph.loops.size(), -1) {
    if (graph.loops.empty()) return;
    List<int> loops(graph.nodes.size(), -1); // of each node's value: that of a loop's results is outside of it
    for (int id = 0; id < graph.size(); ++id) {
      const Node& node = graph.nodes.items[id];
      const int own = graph.loop_of(node);
      int innermost = own;
      for (int k = 0; k < node.arity && node.kind != Kind::leave; ++k) {
        const Node& input = graph.nodes.items[node.inputs.items[k]];
        const bool is_result = input.kind == Kind::stack || input.kind == Kind::leave;
        const int loop = is_result ? around(graph.loop_of(input)) : loops.items[node.inputs.items[k]];
        innermost = together(innermost, loop);
      }
      loops.items[id] = innermost;
    }
    for (int id = 0; id < graph.size(); ++id) {
      const Node& node = graph.nodes.items[id];
      const bool is_at_border = node.kind == Kind::carry || node.kind == Kind::leave;
      computed_.items[id] = is_at_border ? around(graph.loop_of(node)) : loops.items[id];
    }
  }

  /// The loop of a node. Carries are set before their loop, stacks are written in it, and left values copied after it.
  [[nodiscard]] constexpr int computed(int id) const { return computed_.items[id]; }
  /// The loop around a loop, -1 for none: one on whose steps a node of the loop depends.
  [[nodiscard]] constexpr int around(int loop) const { return around_.items[loop]; }
  /// Whether a loop, or the outside, -1, is `inner` or around it. A loop around another has the lower number.
  [[nodiscard]] TWILL_CONSTEXPR bool holds(int loop, int inner) const {
    while (inner > loop) inner = around(inner);
    return inner == loop;
  }
  /// The loop around `inner`, or itself, that is directly inside of `loop`, or of the first that holds both.
  [[nodiscard]] TWILL_CONSTEXPR int outermost_beside(int loop, int inner) const {
    while (inner >= 0 && !holds(around(inner), loop)) inner = around(inner);
    return inner;
  }

private:
  /// The inner one of two loops in whose steps a node is computed, -1 for none.
  TWILL_CONSTEXPR int together(int a, int b) {
    if (a == b || b < 0) return a;
    if (a < 0) return b;
    put_inside(a > b ? a : b, a > b ? b : a);
    return a > b ? a : b;
  }
  TWILL_CONSTEXPR void put_inside(int inner, int outer) {
    while (inner >= 0 && around_.items[inner] != outer) {
      int& around = around_.items[inner];
      if (around > outer) {
        inner = around;
        continue;
      }
      inner = outer;
      outer = around;
      around = inner;
      if (outer < 0) return;
    }
  }

  List<int> computed_{};
  List<int> around_{};
};

/// The nodes in an order in which those of a loop are together, after everything that any of them needs.
class LoopsTogether {
public:
  constexpr explicit LoopsTogether(const Graph& graph)
      : graph_{&graph},
        loops_{graph},
        placed_(graph.nodes.size(), 0),
        waiting_(graph.loops.size(), List<int>{}),
        is_begun_(graph.loops.size(), 0) {
    order_.reserve(graph.nodes.size());
    for (int id = 0; id < graph.size(); ++id) {
      if (const int loop = loops_.computed(id); loop >= 0)
        waiting_.items[loop].push_back(id);
      else
        place(id, -1);
    }
    begin_inside(-1);
  }

  [[nodiscard]] constexpr const List<int>& order() const { return order_; }

private:
  /// Places a node of a loop, or of the outside, -1.
  TWILL_CONSTEXPR void place(int id, int loop) {
    bring_inputs(id, loop, -1);
    placed_.items[id] = 1;
    order_.push_back(id);
  }
  /// Places the loops in a loop, or beside it, that compute inputs of a node; not those in `but_not`.
  TWILL_CONSTEXPR void bring_inputs(int id, int loop, int but_not) {
    const Node& node = graph_->nodes.items[id];
    for (int k = 0; k < node.arity; ++k) {
      const int input = node.inputs.items[k];
      const int other = loops_.computed(input);
      if (placed_.items[input] == 0 && other >= 0 && !(but_not >= 0 && loops_.holds(but_not, other)))
        begin(loops_.outermost_beside(loop, other));
    }
  }
  TWILL_CONSTEXPR void begin(int loop) {
    if (loop < 0 || is_begun_.items[loop] != 0) return;
    is_begun_.items[loop] = 1;
    // First the nodes of other loops that it needs, so that nothing comes between its own.
    const int loops = static_cast<int>(waiting_.size());
    for (int inner = loop; inner < loops; ++inner)
      if (loops_.holds(loop, inner))
        for (int id : waiting_.items[inner]) bring_inputs(id, loop, loop);
    for (int id : waiting_.items[loop]) place(id, loop);
    begin_inside(loop);
  }
  TWILL_CONSTEXPR void begin_inside(int loop) {
    const int loops = static_cast<int>(waiting_.size());
    for (int inner = loop + 1; inner < loops; ++inner)
      if (loops_.around(inner) == loop) begin(inner);
  }

  const Graph* graph_;
  LoopsOfNodes loops_;
  List<char> placed_;
  List<List<int>> waiting_;
  List<char> is_begun_;
  List<int> order_{};
};

}}}} // namespace twill::v0::compile::TWILL_ISA
