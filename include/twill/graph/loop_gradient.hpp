#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Gradients of loops. The gradient is a loop in the opposite direction. Its body is a copy of the step, which reads
// carries and the results of operations and reductions as they were and computes only elementwise values again, and the
// gradient of that copy. It reads what loops inside have kept, so these do not run again. Gradients of values from
// outside the body are summed in carries. The backward loop is an ordinary one, so it has a gradient too. Read next:
// graph/gradient.hpp.

#include <twill/core/config.hpp>
#include <twill/graph/derivatives.hpp>
#include <twill/graph/loop_copies.hpp>

#include <cstddef>

namespace twill { inline namespace v0 { namespace graph { namespace detail {

/// Differentiates one loop of a graph.
class LoopGradient {
public:
  constexpr LoopGradient(Graph& graph, int loop, const List<char>& active, const List<int>& cotangents)
      : graph_{&graph},
        own_{loop},
        info_{graph.loops.items[loop]},
        active_{&active},
        cotangents_{&cotangents},
        copies_(static_cast<std::size_t>(info_.end - info_.begin), -1),
        kept_(static_cast<std::size_t>(info_.end - info_.begin), -1),
        loops_{loop} {
    List<int> read{};
    for (int id = info_.end; id < info_.results_end; ++id) {
      const Node& node = graph.node(id);
      if (node.kind == Kind::stack) {
        stacks_.push_back(id);
        read.push_back(node.input(0));
      } else if (node.kind == Kind::leave) {
        leaves_.push_back(id);
        read.push_back(graph.node(node.input(1)).input(1));
      }
    }
    body_ = loop_body(graph, loop, info_.begin, info_.end, read);
  }

  /// The gradients of the values that the loop reads, as they were before it.
  [[nodiscard]] TWILL_CONSTEXPR List<Seed> result() {
    LoopBuilder loop{*graph_, info_.count, !info_.reversed};
    const int begin = graph_->size();
    copy_body(loop);
    List<Seed> seeds{};
    List<int> carries{};
    List<int> sources{}; // the nodes whose gradients the carries end as
    for (int leave : leaves_) {
      const Node node = graph_->node(leave);
      const int carry = node.input(0);
      if (!is_active(carry)) continue;
      const int given = cotangent(leave);
      const Value initial = given >= 0 ? Value{*graph_, given} : zeros_like(carry);
      carries.push_back(loop.carry(initial).id());
      sources.push_back(carry);
      seeds.push_back({copy_of(graph_->node(node.input(1)).input(1)), carries.back()});
    }
    for (int stack : stacks_)
      if (const int given = cotangent(stack); given >= 0 && is_active(graph_->node(stack).input(0)))
        seeds.push_back({copy_of(graph_->node(stack).input(0)), loop.slice({*graph_, given}).id()});
    List<int> variables{};
    for (int source : sources) variables.push_back(copy_of(source));
    for (int slice : slices_) variables.push_back(copy_of(slice));
    for (const Alias& alias : aliases_) variables.push_back(alias.copy);
    const List<int> found = gradients(*graph_, seeds, variables);
    return finish(loop, begin, found, carries, sources);
  }

private:
  /// A value from outside the loop, and its node in the copy of the body.
  struct Alias {
    int source = -1;
    int copy = -1;
  };

  [[nodiscard]] constexpr int cotangent(int id) const { return cotangents_->items[id]; }
  [[nodiscard]] TWILL_CONSTEXPR bool is_active(int id) const {
    return is_floating(graph_->node(id).dtype) && active_->data()[id] != 0;
  }
  [[nodiscard]] TWILL_CONSTEXPR Value zeros_like(int id) const {
    const Node node = graph_->node(id);
    return filled(*graph_, node.dtype, node.shape, 0);
  }

  /// The node of the copy for a node of the body or outside it.
  TWILL_CONSTEXPR int copy_of(int id) {
    if (body_.holds(id)) return copies_.items[id - info_.begin];
    if (!is_active(id)) return id;
    for (const Alias& alias : aliases_)
      if (alias.source == id) return alias.copy;
    aliases_.push_back({id, graph_->add(node_over(Kind::after, {*graph_, id}))});
    return aliases_.back().copy;
  }

  TWILL_CONSTEXPR void copy_body(LoopBuilder& loop) {
    builder_ = &loop;
    for (int stack : stacks_)
      if (const int id = graph_->node(stack).input(0); body_.holds(id) && is_kept_of_steps(graph_->node(id).kind))
        kept_.items[id - info_.begin] = loop.slice({*graph_, stack}).id();
    for (int id = info_.begin; id < info_.end;) id = visit(id);
  }

  // ---- what LoopCopies asks for ------------------------------------------------------------------------------------
  friend class LoopCopies;
  [[nodiscard]] constexpr bool copies(int id) const { return body_.holds(id); }
  [[nodiscard]] TWILL_CONSTEXPR int now(int id) { return copy_of(id); }
  TWILL_CONSTEXPR void set(int id, int copy) { copies_.items[id - info_.begin] = copy; }
  static constexpr void start(int) {}
  [[nodiscard]] TWILL_CONSTEXPR Value entering(int id) { return {*graph_, copy_of(graph_->node(id).input(0))}; }
  [[nodiscard]] TWILL_CONSTEXPR int next(int close) { return copy_of(graph_->node(close).input(1)); }
  [[nodiscard]] static constexpr int stacked(int, int stack) { return stack; }

  /// Copies a node of the body, or a loop inside as a whole; returns the node after it.
  TWILL_CONSTEXPR int visit(int id) {
    for (std::size_t i = loops_.first_inside(); i < graph_->loops.size(); ++i) {
      const LoopInfo& inner = graph_->loops.items[i];
      if (inner.begin == id && inner.end >= 0 && inner.end < info_.end && body_.holds(inner.results_end - 1))
        return loops_.copy(*graph_, static_cast<int>(i), *this);
    }
    if (!body_.holds(id)) return id + 1;
    Node node = graph_->node(id);
    if (node.kind == Kind::carry) {
      const int kept = kept_.items[id - info_.begin];
      if (kept < 0) graph_->refuse_node(Problem::scan_keeps_a_value_of_more_than_8_axes, id);
      set(id, kept < 0 ? id : kept);
    } else if (node.kind == Kind::slice && node.index == own_) {
      set(id, builder_->slice({*graph_, node.input(0)}).id());
      if (is_active(node.input(0))) slices_.push_back(id);
    } else {
      if (node.kind == Kind::slice) node.index = loops_.now(node.index);
      for (int k = 0; k < node.arity; ++k) node.inputs.items[k] = copy_of(node.input(k));
      set(id, graph_->add(node));
    }
    return id + 1;
  }

  /// Reads kept values in place of their copies.
  TWILL_CONSTEXPR void read_what_is_kept(int begin, List<int>& found) const {
    List<int> instead(static_cast<std::size_t>(graph_->size() - begin), -1);
    for (int id = info_.begin; id < info_.end; ++id)
      if (const int kept = kept_.items[id - info_.begin]; kept >= 0 && kept != copies_.items[id - info_.begin])
        instead.items[copies_.items[id - info_.begin] - begin] = kept;
    const auto replace = [&](int& id) {
      if (id >= begin && instead.items[id - begin] >= 0) id = instead.items[id - begin];
    };
    for (int id = begin; id < graph_->size(); ++id) {
      Node& node = graph_->nodes.items[id];
      if (node.kind == Kind::result) continue;
      for (int k = 0; k < node.arity; ++k) replace(node.inputs.items[k]);
    }
    for (int& id : found) replace(id);
  }

  TWILL_CONSTEXPR List<Seed> finish(LoopBuilder& loop, int begin, List<int> found, List<int>& carries,
                                    const List<int>& sources) {
    read_what_is_kept(begin, found);
    List<int> next{};
    List<int> ends{}; // the nodes outside that get the last carries ...
    List<int> results{};
    List<int> sliced{}; // ... and the stacks
    std::size_t variable = 0;
    for (int source : sources) {
      next.push_back(found[variable] >= 0 ? found[variable] : zeros_like(source).id());
      ends.push_back(graph_->node(source).input(0));
      ++variable;
    }
    for (int slice : slices_)
      if (const int gradient = found[variable++]; gradient >= 0) {
        results.push_back(gradient);
        sliced.push_back(graph_->node(slice).input(0));
      }
    for (const Alias& alias : aliases_)
      if (const int gradient = found[variable++]; gradient >= 0) {
        const Value total = loop.carry(zeros_like(alias.source));
        carries.push_back(total.id());
        next.push_back((total + Value{*graph_, gradient}).id());
        ends.push_back(alias.source);
      }
    loop.finish(carries, next, results);
    List<Seed> given{};
    for (std::size_t c = 0; c < carries.size(); ++c)
      if (is_active(ends[c])) given.push_back({ends[c], carries[c]});
    for (std::size_t k = 0; k < results.size(); ++k) given.push_back({sliced[k], results[k]});
    return given;
  }

  Graph* graph_;
  int own_; ///< the loop
  LoopInfo info_;
  const List<char>* active_;
  const List<int>* cotangents_;
  LoopBody body_{};
  List<int> copies_; ///< of each node of the body
  List<int> kept_;   ///< the slice of its kept value, where there is one
  List<int> stacks_{};
  List<int> leaves_{};
  List<int> slices_{}; ///< of values that have a gradient
  List<Alias> aliases_{};
  LoopCopies loops_;               ///< those inside
  LoopBuilder* builder_ = nullptr; ///< of the gradient's loop
};

}}}} // namespace twill::v0::graph::detail

#include <twill/graph/gradient.hpp> // at the end: the sweep over all nodes and this rule call each other
