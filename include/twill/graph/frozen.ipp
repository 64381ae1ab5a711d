#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of graph/frozen.hpp.

#include <twill/graph/frozen.hpp>

namespace twill::inline v0::graph {

TWILL_BODY Graph thaw(const GraphView& view) {
  Graph graph{};
  static_cast<GraphState&>(graph) = view.state;
  const auto copy = [](const auto& from, auto& to) {
    to.clear();
    to.append(from.data(), from.data() + from.size());
  };
  copy(view.nodes, graph.nodes);
  copy(view.inputs, graph.inputs);
  copy(view.parameters, graph.parameters);
  copy(view.knobs, graph.knobs);
  copy(view.symbols, graph.symbols);
  copy(view.requirements, graph.requirements);
  copy(view.bounds, graph.bounds);
  copy(view.outputs, graph.outputs);
  copy(view.channels_last_outputs, graph.channels_last_outputs);
  copy(view.taps, graph.taps);
  copy(view.scopes, graph.scopes);
  copy(view.loops, graph.loops);
  copy(view.regions, graph.regions);
  copy(view.stage_boundaries, graph.stage_boundaries);
  copy(view.carries, graph.carries);
  copy(view.attributes, graph.attributes);
  copy(view.merged_symbols, graph.merged_symbols);
  return graph;
}

} // namespace twill::inline v0::graph
