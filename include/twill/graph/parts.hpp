#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Parts of a forward pass that are chosen for recomputation after the trace: ranges of nodes, written into the graph
// between the trace of the model and that of its gradient. They become what `checkpoint` would have made of them. Parts
// that the author marked inside one are computed again with it. Read next: compile/passes/divisions.hpp.

#include <twill/core/config.hpp>
#include <twill/graph/graph.hpp>

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
