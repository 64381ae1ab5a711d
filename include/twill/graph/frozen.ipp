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
  detail::PlaceInTrace place{};
  const Operation* const* operation = view.operations.data();
  for (const std::int64_t *word = view.words.data(), *const end = word + view.words.size(); word != end;) {
    Node node{};
    const bool has_operation = (static_cast<std::uint64_t>(*word) & detail::packed_operation) != 0;
    word = detail::unpack(word, place, node);
    if (has_operation) node.operation = *operation++;
    graph.nodes.push_back(node);
  }
#define TWILL_LIST(type, name) copy(view.name, graph.name);
  TWILL_GRAPH_LISTS(TWILL_LIST)
#undef TWILL_LIST
  return graph;
}

}}} // namespace twill::v0::graph
