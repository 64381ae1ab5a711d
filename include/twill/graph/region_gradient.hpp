#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Gradients of recomputed parts. A part's nodes are copied after the backward pass of what follows it. The copies read
// the part's inputs through `after` nodes, which keep them apart from the originals and let them wait for the gradient
// of the part's result. The gradient of the copies follows. Read next: graph/gradient.hpp.

#include <twill/core/config.hpp>
#include <twill/graph/derivatives.hpp>

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
        copies_(static_cast<std::size_t>(region.end - region.begin), -1) {}

  /// The gradients of the part's inputs, those from after the part included. The part's shares are added in the order
  /// of a part that is not computed again, so the bits are the same.
  [[nodiscard]] TWILL_CONSTEXPR List<Seed> result() {
    List<char> needed(copies_.size(), 0);
    for (int id = region_.end; id-- > region_.begin;) {
      char& own = needed.items[id - region_.begin];
      if (is_result(id)) {
        own = 1;
        waits_for_ = cotangents_->items[id];
      }
      if (own == 0) continue;
      const Node& node = graph_->node(id);
      for (int k = 0; k < node.arity; ++k)
        if (node.input(k) >= region_.begin) needed.items[node.input(k) - region_.begin] = 1;
    }
    const int outer = graph_->open_region;
    for (int id = region_.begin; id < region_.end; ++id) {
      if (needed.items[id - region_.begin] == 0) continue;
      graph_->open_region = region_of_copies(graph_->node(id).region);
      copy(id);
    }
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

  TWILL_CONSTEXPR void copy(int id) {
    Node node = graph_->node(id);
    int& place = copies_.items[id - region_.begin];
    if (node.kind == Kind::parameter || node.kind == Kind::input || reads_buffer(node)) {
      place = outside(id);
      return;
    }
    if (node.kind == Kind::carry || node.kind == Kind::slice) graph_->refuse_node(Problem::checkpoint_of_a_scan, id);
    for (int k = 0; k < node.arity; ++k) {
      const int input = node.input(k);
      node.inputs.items[k] = input >= region_.begin ? copies_.items[input - region_.begin] : outside(input);
    }
    place = graph_->add(node);
    if (!graph_->taps.empty()) graph_->tap_copy(id, place);
  }

  Graph* graph_;
  RegionInfo region_;
  const List<char>* active_;
  const List<int>* cotangents_;
  List<int> copies_; ///< of each node of the part
  List<Alias> aliases_{};
  List<Alias> regions_{}; ///< numbers of parts, and of those of their copies
  int waits_for_ = -1;    ///< the gradient that has to be there first
};

}}}} // namespace twill::v0::graph::detail

#include <twill/graph/gradient.hpp> // at the end: the sweep over all nodes and this rule call each other
