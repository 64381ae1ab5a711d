#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Copies of loops, for transforms that make nodes of a graph again: a loop with the steps of another, whose body holds
// what becomes of that one's body. Loops inside are copied as loops inside. Which nodes are copied, and as what, the
// transform says. Read next: graph/loop_gradient.hpp, graph/region_gradient.hpp, graph/batching.hpp.

#include <twill/core/config.hpp>
#include <twill/graph/loop.hpp>

#include <cstddef>

namespace twill { inline namespace v0 { namespace graph { namespace detail {

/// The loops of one transform that have been copied. A transform has these members, where `id` is a node of a loop:
///   bool copies(int id)              whether the copy of the loop has it
///   int now(int id)                  the node that stands for any node
///   void set(int id, int copy)       remembers its copy
///   void start(int id)               comes before a node is made for it: its part
///   Value entering(int id)           what the copy of a carry begins with, or of a slice goes through
///   int next(int close)              what the copy of a carry becomes
///   int stacked(int id, int stack)   what stands for a stack of the results
///   int visit(int id)                copies another node, or a loop as a whole; returns the node after it
class LoopCopies {
public:
  /// `around`: the loop whose body is copied, -1 for a part of a graph.
  constexpr explicit LoopCopies(int around) : open_{around} {}

  /// The loop that stands for a loop.
  [[nodiscard]] constexpr int now(int loop) const {
    for (const Copy& known : copies_)
      if (known.from == loop) return known.to;
    return loop;
  }

  /// The first loop that may be inside of those that are being copied: one inside has a higher number, and may begin
  /// with the same node.
  [[nodiscard]] constexpr std::size_t first_inside() const { return static_cast<std::size_t>(open_ + 1); }

  /// Copies a loop; returns the node after it.
  template <class Transform> constexpr int copy(Graph& graph, int loop, Transform& transform) {
    const LoopInfo info = graph.loops.items[loop];
    LoopBuilder builder{graph, info.count, info.reversed};
    copies_.push_back({loop, builder.loop()});
    const int outer = open_;
    open_ = loop;
    const int scope = graph.scope();
    List<int> old{};
    List<int> carries{};
    for (int id = info.begin; id < info.end && !graph.fault.any();) {
      const Node node = graph.node(id); // a copy: emitting moves the nodes
      const bool is_memory = node.kind == Kind::cast && graph.node(node.input(0)).dtype == node.dtype;
      if (!transform.copies(id) || (graph.loop_of(node) != loop && !is_memory)) {
        id = transform.visit(id);
        continue;
      }
      transform.start(id);
      graph.set_scope(node.scope);
      if (is_memory) { // of a carry: the builder makes its own
        transform.set(id, transform.now(node.input(0)));
      } else if (node.kind == Kind::carry) {
        const int carry = builder.carry(transform.entering(id)).id();
        old.push_back(id);
        carries.push_back(carry);
        transform.set(id, carry);
      } else {
        transform.set(id, builder.slice(transform.entering(id)).id());
      }
      ++id;
    }
    graph.set_scope(scope);
    open_ = outer;
    if (graph.fault.any()) {
      graph.open_loop = graph.loops.items[builder.loop()].around;
      return info.results_end;
    }
    List<int> next(old.size(), -1);
    List<int> stacks{};
    List<int> results{};
    for (int id = info.end; id < info.results_end; ++id) {
      const Node node = graph.node(id);
      for (std::size_t c = 0; c < old.size(); ++c)
        if (node.kind == Kind::close && node.input(0) == old[c]) next[c] = transform.next(id);
      if (node.kind != Kind::stack || !transform.copies(id)) continue;
      stacks.push_back(id);
      results.push_back(transform.now(node.input(0)));
    }
    transform.start(info.end);
    builder.finish(carries, next, results);
    for (std::size_t k = 0; k < stacks.size(); ++k) transform.set(stacks[k], transform.stacked(stacks[k], results[k]));
    for (int id = info.end; id < info.results_end; ++id)
      for (std::size_t c = 0; c < old.size(); ++c)
        if (graph.node(id).kind == Kind::leave && graph.node(id).input(0) == old[c]) transform.set(id, carries[c]);
    return info.results_end;
  }

private:
  struct Copy {
    int from = 0;
    int to = 0;
  };

  List<Copy> copies_{};
  int open_; ///< the innermost that is being copied
};

}}}} // namespace twill::v0::graph::detail
