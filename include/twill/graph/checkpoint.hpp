#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Activation checkpointing: the values of some parts of a function are not kept for the backward pass but computed
// again from the part's inputs (Chen et al., Training Deep Nets with Sublinear Memory Cost, 2016). A part is a range of
// nodes. No kernel crosses its border, recomputed or not, so the same kernels run and the bits agree. Random draws are
// functions of their counters and repeat exactly. Parts inside a part are computed again while the outer one is. Users
// mark parts with `checkpoint`; a search for parts under a budget of memory marks them after the trace of the model.
// Read next: graph/checkpoint_sequential.hpp, graph/region_gradient.hpp.

#include <twill/core/config.hpp>
#include <twill/graph/graph.hpp>
#include <twill/graph/value.hpp>

#include <concepts>
#include <utility>

namespace twill { inline namespace v0 { namespace graph {

/// Whether the backward pass computes the values inside a `checkpoint` again.
enum class Recompute : bool { no, yes };

/// The result of `checkpoint(f)`: f, whose inner values are computed again in the backward pass.
template <class F> struct Checkpointed {
  F function;                           ///< what is computed
  Recompute recompute = Recompute::yes; ///< whether its inner values are kept or computed again

  /// Traces the function as a region of its own.
  template <std::derived_from<Value>... Values>
  [[nodiscard]] constexpr auto operator()(const Value& first, const Values&... rest) const {
    Graph& graph = first.graph();
    const int outer = graph.open_region;
    const int begin = graph.size();
    graph.open_region = ++graph.regions_named;
    auto result = function(first, rest...);
    graph.open_region = outer;
    graph.regions.push_back({begin, graph.size(), recompute == Recompute::yes});
    return result;
  }
};

}}} // namespace twill::v0::graph

namespace twill { inline namespace v0 {

/// f as a part of a model whose inner values are computed again in the backward pass instead of being kept:
/// `x = checkpoint([](auto x) { return block(x); })(x);`. Gradients have the same bits as without. Loops inside are run
/// again as loops. Parts may hold parts: an inner one is computed again for the outer one, without keeping its values,
/// and then for its own gradient.
/// cost: the part once more in the backward pass, and once more for each part around it
template <class F>
[[nodiscard]] constexpr graph::Checkpointed<F> checkpoint(F f, graph::Recompute recompute = graph::Recompute::yes) {
  return {std::move(f), recompute};
}

}} // namespace twill::v0

namespace twill { inline namespace v0 { namespace graph {

/// Nodes from `begin` to before `end`.
struct Part {
  int begin = 0; ///< the first node
  int end = 0;   ///< after the last

  [[nodiscard]] friend constexpr bool operator==(const Part&, const Part&) = default;
};

/// The capacity of `Parts`.
inline constexpr int most_parts = 32;

/// Disjoint parts in order.
struct Parts {
  Few<Part, most_parts> items{}; ///< the first `count` of them
  int count = 0;                 ///< of parts

  [[nodiscard]] friend constexpr bool operator==(const Parts&, const Parts&) = default;
};

/// Marks the parts for recomputation.
/// requires: no part cuts through a loop, or through a part that is marked already
TWILL_CONSTEXPR void compute_again(Graph& graph, const Parts& parts) {
  if (parts.count == 0) return;
  List<RegionInfo> regions{};
  for (const RegionInfo& marked : graph.regions) {
    bool is_inside = false;
    for (int i = 0; i < parts.count; ++i)
      is_inside = is_inside || (parts.items[i].begin <= marked.begin && marked.end <= parts.items[i].end);
    if (!is_inside) regions.push_back(marked);
  }
  for (int i = 0; i < parts.count; ++i) {
    const Part& part = parts.items[i];
    regions.push_back({part.begin, part.end, true});
    ++graph.regions_named;
    for (int id = part.begin; id < part.end; ++id)
      if (Node& node = graph.nodes.data()[id]; node.region == 0) node.region = graph.regions_named;
  }
  graph.regions.swap(regions);
}

}}} // namespace twill::v0::graph
