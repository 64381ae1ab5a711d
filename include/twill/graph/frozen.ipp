#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of graph/frozen.hpp.

#include <twill/graph/frozen.hpp>

namespace twill { inline namespace v0 { namespace graph {

TWILL_BODY Graph thaw(const GraphView& view) {
  Graph graph{};
  static_cast<GraphState&>(graph) = view.state;
  const auto copy = [](const auto& from, auto& to) {
    to.clear();
    to.append(from.data(), from.data() + from.size());
  };
#define TWILL_LIST(type, name) copy(view.name, graph.name);
  TWILL_GRAPH_LISTS(TWILL_LIST)
#undef TWILL_LIST
  return graph;
}

}}} // namespace twill::v0::graph
