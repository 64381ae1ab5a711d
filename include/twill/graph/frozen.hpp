#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Frozen graphs: traced graphs as constexpr data, and back. Programs that need a graph at run time take the compiler's:
// a second trace could differ, since C++ leaves open in which order operands of an expression are evaluated. Read next:
// compile/traced.hpp.

#include <twill/core/config.hpp>
#include <twill/graph/graph.hpp>

#include <array>
#include <cstddef>
#include <span>

namespace twill { inline namespace v0 { namespace graph {

// The lists of records of a graph: `list(type, name)`.
// clang-format off
#define TWILL_GRAPH_LISTS(list) \
  list(Node, nodes) \
  list(InputInfo, inputs) \
  list(ParameterInfo, parameters) \
  list(RunScalarInfo, run_scalars) \
  list(Symbol, symbols) \
  list(Requirement, requirements) \
  list(IntegerBounds, bounds) \
  list(int, outputs) \
  list(char, channels_last_outputs) \
  list(TapInfo, taps) \
  list(Name, scopes) \
  list(LoopInfo, loops) \
  list(RegionInfo, regions) \
  list(int, stage_boundaries) \
  list(int, carries) \
  list(std::int64_t, attributes) \
  list(MergedSymbol, merged_symbols)
// clang-format on

/// The number of records of each kind in a graph.
struct GraphSizes {
#define TWILL_LIST(type, name) std::size_t name = 0;
  TWILL_GRAPH_LISTS(TWILL_LIST)
#undef TWILL_LIST

  /// Whether a graph of these sizes fits into `room`.
  [[nodiscard]] TWILL_CONSTEXPR bool fit(const GraphSizes& room) const {
#define TWILL_LIST(type, name)                                                                                         \
  if (name > room.name) return false;
    TWILL_GRAPH_LISTS(TWILL_LIST)
#undef TWILL_LIST
    return true;
  }
};

[[nodiscard]] TWILL_CONSTEXPR GraphSizes sizes_of(const Graph& graph) {
  GraphSizes sizes{};
#define TWILL_LIST(type, name) sizes.name = graph.name.size();
  TWILL_GRAPH_LISTS(TWILL_LIST)
#undef TWILL_LIST
  return sizes;
}

/// A frozen graph as run-time code reads it.
struct GraphView {
  GraphState state{};
#define TWILL_LIST(type, name) std::span<const type> name{};
  TWILL_GRAPH_LISTS(TWILL_LIST)
#undef TWILL_LIST
};

/// The graph as it was when it was frozen.
[[nodiscard]] Graph thaw(const GraphView& view);

/// A graph with room for S. Empty lists hold one unused record, because an array has to.
template <GraphSizes S> struct FrozenGraph {
  template <class T, std::size_t N> using Array = std::array<T, N == 0 ? 1 : N>;

  GraphState state{};
#define TWILL_LIST(type, name) Array<type, S.name> name{};
  TWILL_GRAPH_LISTS(TWILL_LIST)
#undef TWILL_LIST

  constexpr FrozenGraph() = default;
  /// Copies a graph, or another frozen one, with these numbers of records.
  template <class From>
  constexpr FrozenGraph(const From& from, const GraphState& other, const GraphSizes& count) : state{other} {
#define TWILL_LIST(type, name) copy_records(from.name, count.name, name);
    TWILL_GRAPH_LISTS(TWILL_LIST)
#undef TWILL_LIST
  }

  [[nodiscard]] constexpr GraphView view() const {
    GraphView view{};
    view.state = state;
#define TWILL_LIST(type, name) view.name = {name.data(), S.name};
    TWILL_GRAPH_LISTS(TWILL_LIST)
#undef TWILL_LIST
    return view;
  }
};

}}} // namespace twill::v0::graph

#if TWILL_HEADER_ONLY
#include <twill/graph/frozen.ipp>
#endif
