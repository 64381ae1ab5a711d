#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Gradients of recomputed parts. A part's nodes are copied after the backward pass of what follows it. The copies read
// the part's inputs through `after` nodes, which keep them apart from the originals and let them wait for the gradient
// of the part's result. The gradient of the copies follows. Loops are built again. Copies of parts inside the part are
// parts in turn, which are read forwards only, and copied once more. Read next: graph/gradient.hpp.

#include <twill/core/config.hpp>
#include <twill/graph/derivatives.hpp>
#include <twill/graph/loop_copies.hpp>

#include <cstddef>

namespace twill { inline namespace v0 { namespace graph { namespace detail {

class RegionGradient {
public:
  constexpr RegionGradient(Graph& graph, const RegionInfo& region, const List<char>& active,
                           const List<int>& cotangents)
      : graph_{&graph},
        region_{region},
        active_{&active},
        cotangents_{&cotangents},
        needed_(static_cast<std::size_t>(region.end - region.begin), 0),
        copies_(static_cast<std::size_t>(region.end - region.begin), -1),
        starts_(static_cast<std::size_t>(region.end - region.begin) + 1, -1) {}

  /// The gradients of the part's inputs, those from after the part included. The part's shares are added in the order
  /// of a part that is not computed again, so the bits are the same.
  [[nodiscard]] TWILL_CONSTEXPR List<Seed> result() {
    find_needed();
    const int outer = graph_->open_region;
    for (int id = region_.begin; id < region_.end; ++id) {
      if (!is_needed(id)) continue;
      graph_->open_region = region_of_copies(graph_->node(id).region);
      name_outside(id);
    }
    for (int id = region_.begin; id < region_.end;) id = visit(id);
    starts_.items[region_.end - region_.begin] = graph_->size();
    mark_parts();
    graph_->open_region = outer;
    List<Seed> seeds{};
    for (int id = region_.begin; id < region_.end; ++id)
      if (is_result(id)) seeds.push_back({copies_.items[id - region_.begin], cotangents_->items[id]});
    List<int> variables{};
    for (const Alias& alias : aliases_) {
      variables.push_back(alias.copy);
      if (const int given = cotangents_->data()[alias.source]; given >= 0 && is_active(alias.source))
        seeds.push_back({alias.copy, given});
    }
    const List<int> found = gradients(*graph_, seeds, variables);
    List<Seed> given{};
    for (std::size_t i = 0; i < aliases_.size(); ++i)
      if (found[i] >= 0 && is_active(aliases_[i].source)) given.push_back({aliases_[i].source, found[i]});
    return given;
  }

private:
  struct Alias {
    int source = -1;
    int copy = -1;
  };

  [[nodiscard]] TWILL_CONSTEXPR bool is_active(int id) const {
    return is_floating(graph_->node(id).dtype) && active_->data()[id] != 0;
  }
  [[nodiscard]] constexpr bool is_needed(int id) const { return needed_.data()[id - region_.begin] != 0; }

  /// Marks the nodes that the part's results read.
  TWILL_CONSTEXPR void find_needed() {
    for (int id = region_.end; id-- > region_.begin;)
      if (is_result(id)) {
        needed_.items[id - region_.begin] = 1;
        waits_for_ = cotangents_->items[id];
      }
    mark_what_is_read(*graph_, region_.begin, region_.end, needed_);
  }
  [[nodiscard]] constexpr bool holds(const LoopInfo& loop) const {
    return loop.begin >= region_.begin && loop.end >= 0 && loop.results_end <= region_.end;
  }
  [[nodiscard]] TWILL_CONSTEXPR bool is_needed(const LoopInfo& loop) const {
    for (int id = loop.end; id < loop.results_end; ++id)
      if (is_needed(id)) return true;
    return false;
  }

  /// Whether the part computes the node and a node outside has used it. A weight is the result of no part.
  [[nodiscard]] TWILL_CONSTEXPR bool is_result(int id) const {
    return cotangents_->items[id] >= 0 && graph_->node(id).arity > 0;
  }

  /// The number of the part that holds the copies of a part's nodes: parts inside parts stay apart.
  TWILL_CONSTEXPR int region_of_copies(int region) {
    for (const Alias& known : regions_)
      if (known.source == region) return known.copy;
    regions_.push_back({region, ++graph_->regions_named});
    return graph_->regions_named;
  }

  /// Whether the node reads a buffer, which has its next value by the time of the copies.
  [[nodiscard]] TWILL_CONSTEXPR bool reads_buffer(const Node& node) const {
    if (node.kind != Kind::cast) return false;
    const Node& source = graph_->node(node.input(0));
    return source.kind == Kind::parameter &&
           graph_->parameters[static_cast<std::size_t>(source.index)].role == Role::buffer;
  }

  TWILL_CONSTEXPR int outside(int id) {
    const Node& source = graph_->node(id);
    if (source.kind == Kind::constant || source.kind == Kind::run_scalar || source.kind == Kind::iota) return id;
    for (const Alias& alias : aliases_)
      if (alias.source == id) return alias.copy;
    Node node = node_over(Kind::after, {*graph_, id});
    node.arity = 2;
    node.inputs[1] = waits_for_;
    aliases_.push_back({id, graph_->add(node)});
    return aliases_.back().copy;
  }

  /// Names what a node reads from outside of the part, before all copies: copies of parts hold nothing else.
  TWILL_CONSTEXPR void name_outside(int id) {
    const Node node = graph_->node(id); // a copy: naming moves the nodes
    if (node.kind == Kind::parameter || node.kind == Kind::input || reads_buffer(node)) {
      copies_.items[id - region_.begin] = outside(id);
      return;
    }
    for (int k = 0; k < node.arity; ++k)
      if (node.input(k) < region_.begin) static_cast<void>(outside(node.input(k)));
  }

  /// The node that stands for a node of the part, or for one outside.
  [[nodiscard]] TWILL_CONSTEXPR int now(int id) {
    return id >= region_.begin ? copies_.items[id - region_.begin] : outside(id);
  }

  // ---- what LoopCopies asks for ------------------------------------------------------------------------------------
  friend class LoopCopies;
  [[nodiscard]] constexpr bool copies(int id) const { return is_needed(id) && copies_.data()[id - region_.begin] < 0; }
  TWILL_CONSTEXPR void set(int id, int copy) {
    copies_.items[id - region_.begin] = copy;
    if (graph_->node(id).kind == Kind::stack || graph_->node(id).kind == Kind::leave)
      if (!graph_->taps.empty()) graph_->tap_copy(id, copy);
  }
  TWILL_CONSTEXPR void start(int id) {
    starts_.items[id - region_.begin] = graph_->size();
    graph_->open_region = region_of_copies(graph_->node(id).region);
  }
  [[nodiscard]] TWILL_CONSTEXPR Value entering(int id) { return {*graph_, now(graph_->node(id).input(0))}; }
  [[nodiscard]] TWILL_CONSTEXPR int next(int close) { return now(graph_->node(close).input(1)); }
  [[nodiscard]] static constexpr int stacked(int, int stack) { return stack; }

  /// Copies a node that is needed, or a loop as a whole; returns the node after it.
  TWILL_CONSTEXPR int visit(int id) {
    for (std::size_t i = loops_.first_inside(); i < graph_->loops.size(); ++i) {
      const LoopInfo info = graph_->loops[i];
      if (info.begin != id || !holds(info) || !is_needed(info)) continue;
      starts_.items[id - region_.begin] = graph_->size();
      return loops_.copy(*graph_, static_cast<int>(i), *this);
    }
    if (copies(id)) {
      start(id);
      copy(id);
    } else {
      starts_.items[id - region_.begin] = graph_->size();
    }
    return id + 1;
  }

  TWILL_CONSTEXPR void copy(int id) {
    Node node = graph_->node(id);
    int& place = copies_.items[id - region_.begin];
    if (node.kind == Kind::slice) node.index = loops_.now(node.index);
    for (int k = 0; k < node.arity; ++k) node.inputs.items[k] = now(node.input(k));
    place = graph_->add(node);
    if (!graph_->taps.empty()) graph_->tap_copy(id, place);
  }

  /// Marks the copies of the parts inside the part.
  TWILL_CONSTEXPR void mark_parts() {
    const std::size_t count = graph_->regions.size();
    for (std::size_t i = 0; i < count; ++i) {
      RegionInfo part = graph_->regions[i];
      const bool is_inside = part.begin >= region_.begin && part.end <= region_.end;
      const bool is_all = part.begin == region_.begin && part.end == region_.end;
      if (!is_inside || is_all || !part.is_recomputed) continue;
      part.begin = starts_.items[part.begin - region_.begin];
      part.end = starts_.items[part.end - region_.begin];
      if (part.begin < part.end) graph_->regions.push_back(part);
    }
  }

  Graph* graph_;
  RegionInfo region_;
  const List<char>* active_;
  const List<int>* cotangents_;
  List<char> needed_; ///< whether a result reads it, for each node of the part
  List<int> copies_;  ///< of each node
  List<int> starts_;  ///< the first copy from each node on, and after the last; -1 inside of results of loops
  List<Alias> aliases_{};
  List<Alias> regions_{}; ///< numbers of parts, and of those of their copies
  LoopCopies loops_{-1};
  int waits_for_ = -1; ///< the gradient that has to be there first
};

}}}} // namespace twill::v0::graph::detail

#include <twill/graph/gradient.hpp> // at the end: the sweep over all nodes and this rule call each other
