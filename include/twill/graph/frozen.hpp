#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// A traced graph as constexpr data, and back. Programs that need a graph when they run take the compiler's: traced again, it
// could be another one, since C++ leaves open in which order operands of an expression are evaluated. Read next:
// compile/traced.hpp.

#include <twill/core/config.hpp>
#include <twill/graph/graph.hpp>

#include <array>
#include <cstddef>
#include <span>

namespace twill::inline v0::graph {

/// How many records of each sort a graph has.
struct GraphSizes {
  std::size_t nodes = 0;
  std::size_t inputs = 0;
  std::size_t parameters = 0;
  std::size_t knobs = 0;
  std::size_t symbols = 0;
  std::size_t requirements = 0;
  std::size_t bounds = 0;
  std::size_t outputs = 0;
  std::size_t channels_last_outputs = 0;
  std::size_t taps = 0;
  std::size_t scopes = 0;
  std::size_t loops = 0;
  std::size_t regions = 0;
  std::size_t stage_boundaries = 0;
  std::size_t carries = 0;
  std::size_t attributes = 0;
  std::size_t merged_symbols = 0;

  /// Whether such a graph has room where there is so much of it.
  [[nodiscard]] TWILL_CONSTEXPR bool fit(const GraphSizes& room) const {
    return nodes <= room.nodes && inputs <= room.inputs && parameters <= room.parameters && knobs <= room.knobs &&
           symbols <= room.symbols && requirements <= room.requirements && bounds <= room.bounds &&
           outputs <= room.outputs && channels_last_outputs <= room.channels_last_outputs && taps <= room.taps &&
           scopes <= room.scopes && loops <= room.loops && regions <= room.regions &&
           stage_boundaries <= room.stage_boundaries && carries <= room.carries && attributes <= room.attributes &&
           merged_symbols <= room.merged_symbols;
  }
};

[[nodiscard]] TWILL_CONSTEXPR GraphSizes sizes_of(const Graph& graph) {
  return {graph.nodes.size(),      graph.inputs.size(),           graph.parameters.size(),
          graph.knobs.size(),      graph.symbols.size(),          graph.requirements.size(),
          graph.bounds.size(),     graph.outputs.size(),          graph.channels_last_outputs.size(),
          graph.taps.size(),       graph.scopes.size(),           graph.loops.size(),
          graph.regions.size(),    graph.stage_boundaries.size(), graph.carries.size(),
          graph.attributes.size(), graph.merged_symbols.size()};
}

/// A frozen graph as the run time sees it.
struct GraphView {
  GraphState state{};
  std::span<const Node> nodes{};
  std::span<const InputInfo> inputs{};
  std::span<const ParameterInfo> parameters{};
  std::span<const KnobInfo> knobs{};
  std::span<const Symbol> symbols{};
  std::span<const Requirement> requirements{};
  std::span<const IntegerBounds> bounds{};
  std::span<const int> outputs{};
  std::span<const char> channels_last_outputs{};
  std::span<const TapInfo> taps{};
  std::span<const Name> scopes{};
  std::span<const LoopInfo> loops{};
  std::span<const RegionInfo> regions{};
  std::span<const int> stage_boundaries{};
  std::span<const int> carries{};
  std::span<const std::int64_t> attributes{};
  std::span<const MergedSymbol> merged_symbols{};
};

/// The graph as it was when it was frozen.
[[nodiscard]] Graph thaw(const GraphView& view);

/// A graph with room for S. Empty lists hold one unused record, because an array has to.
template <GraphSizes S> struct FrozenGraph {
  template <class T, std::size_t N> using Array = std::array<T, N == 0 ? 1 : N>;

  GraphState state{};
  Array<Node, S.nodes> nodes{};
  Array<InputInfo, S.inputs> inputs{};
  Array<ParameterInfo, S.parameters> parameters{};
  Array<KnobInfo, S.knobs> knobs{};
  Array<Symbol, S.symbols> symbols{};
  Array<Requirement, S.requirements> requirements{};
  Array<IntegerBounds, S.bounds> bounds{};
  Array<int, S.outputs> outputs{};
  Array<char, S.channels_last_outputs> channels_last_outputs{};
  Array<TapInfo, S.taps> taps{};
  Array<Name, S.scopes> scopes{};
  Array<LoopInfo, S.loops> loops{};
  Array<RegionInfo, S.regions> regions{};
  Array<int, S.stage_boundaries> stage_boundaries{};
  Array<int, S.carries> carries{};
  Array<std::int64_t, S.attributes> attributes{};
  Array<MergedSymbol, S.merged_symbols> merged_symbols{};

  constexpr FrozenGraph() = default;
  /// From a graph, or from another frozen one, which has so many records.
  template <class From>
  constexpr FrozenGraph(const From& from, const GraphState& other, const GraphSizes& count) : state{other} {
    const auto copy = [](const auto& records, std::size_t size, auto& to) {
      const auto* const source = records.data();
      auto* const target = to.data();
      for (std::size_t i = 0; i < size; ++i) target[i] = source[i];
    };
    copy(from.nodes, count.nodes, nodes);
    copy(from.inputs, count.inputs, inputs);
    copy(from.parameters, count.parameters, parameters);
    copy(from.knobs, count.knobs, knobs);
    copy(from.symbols, count.symbols, symbols);
    copy(from.requirements, count.requirements, requirements);
    copy(from.bounds, count.bounds, bounds);
    copy(from.outputs, count.outputs, outputs);
    copy(from.channels_last_outputs, count.channels_last_outputs, channels_last_outputs);
    copy(from.taps, count.taps, taps);
    copy(from.scopes, count.scopes, scopes);
    copy(from.loops, count.loops, loops);
    copy(from.regions, count.regions, regions);
    copy(from.stage_boundaries, count.stage_boundaries, stage_boundaries);
    copy(from.carries, count.carries, carries);
    copy(from.attributes, count.attributes, attributes);
    copy(from.merged_symbols, count.merged_symbols, merged_symbols);
  }

  [[nodiscard]] constexpr GraphView view() const {
    return {state,
            {nodes.data(), S.nodes},
            {inputs.data(), S.inputs},
            {parameters.data(), S.parameters},
            {knobs.data(), S.knobs},
            {symbols.data(), S.symbols},
            {requirements.data(), S.requirements},
            {bounds.data(), S.bounds},
            {outputs.data(), S.outputs},
            {channels_last_outputs.data(), S.channels_last_outputs},
            {taps.data(), S.taps},
            {scopes.data(), S.scopes},
            {loops.data(), S.loops},
            {regions.data(), S.regions},
            {stage_boundaries.data(), S.stage_boundaries},
            {carries.data(), S.carries},
            {attributes.data(), S.attributes},
            {merged_symbols.data(), S.merged_symbols}};
  }
};

} // namespace twill::inline v0::graph

#if TWILL_HEADER_ONLY
#include <twill/graph/frozen.ipp>
#endif
