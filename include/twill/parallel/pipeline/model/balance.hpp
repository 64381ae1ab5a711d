#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Balanced stages, `Balanced<Model, Stages, nn::Size<"batch", 32>>`: cuts of a model that make its slowest stage
// fastest, by the arithmetic known to the graph and the bytes that pass the cuts: an exact partition of a chain by
// dynamic programming over places with few bytes (Bokhari, Partitioning Problems in Parallel, Pipelined, and
// Distributed Computing, 1988). `stage_reports` shows results. Read next: parallel/pipeline/model/cut.hpp.

#include <twill/compile/passes/divisions.hpp>
#include <twill/core/config.hpp>
#include <twill/nn/fit.hpp>
#include <twill/parallel/pipeline/model/cut.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace twill { inline namespace v0 { namespace parallel { namespace pipeline { inline namespace TWILL_ISA {

/// The cost of sending a byte, in arithmetic operations: it is written once and read once, see `compile::Work`.
inline constexpr std::int64_t operations_per_byte_sent = 16;

/// The numbers of a trace's symbols: the given ones, 32 for others.
template <class... Dimensions> struct SizesOr32 {
  /// The numbers of a graph's symbols, in its order.
  static constexpr graph::SymbolValues of(const graph::Graph& graph) {
    graph::SymbolValues values = nn::Sizes<Dimensions...>::of(graph);
    for (std::int64_t& value : values)
      if (value < 0) value = 32;
    return values;
  }
};

}}}}} // namespace twill::v0::parallel::pipeline::TWILL_ISA

namespace twill { inline namespace v0 { namespace parallel { namespace pipeline { namespace detail {
inline namespace TWILL_ISA {

/// The first of `candidates` over which a value has to be sent: the later nodes cannot make it themselves.
[[nodiscard]] constexpr int first_place(const graph::Graph& graph, int root, const compile::Cuts& candidates) {
  const Crossing crossing{graph, root};
  int below = 0;
  int first = candidates.count() - 1;
  while (first - below > 1) {
    const int middle = (below + first) / 2;
    (crossing.values(candidates.node(middle)).empty() ? below : first) = middle;
  }
  return first;
}

/// The cuts, of `candidates` from `first` on, that make the slowest stage fastest.    requires: there are enough
[[nodiscard]] constexpr List<int> balanced(const compile::Cuts& candidates, int stages, int first = 1) {
  const int last = candidates.count() - 1;
  const auto cost = [&](int from, int to) {
    return candidates.work(from, to) + operations_per_byte_sent * (candidates.crossing(from) + candidates.crossing(to));
  };
  // slowest(k, to): of the first k + 1 stages when they end at a cut;    from(k, to): where the last of them begins
  const int width = last + 1;
  List<std::int64_t> slowest(static_cast<std::size_t>(stages * width), -1);
  List<int> from(static_cast<std::size_t>(stages * width), 0);
  for (int to = 1; to <= last; ++to) slowest.items[to] = cost(0, to);
  for (int k = 1; k < stages; ++k)
    for (int to = k + first; to <= last; ++to) {
      std::int64_t& best = slowest.items[k * width + to];
      for (int begin = to; begin-- > k + first - 1;) {
        if (best >= 0 && candidates.work(begin, to) >= best) break; // and no earlier one is better
        const std::int64_t own = cost(begin, to);
        const std::int64_t before = slowest.items[(k - 1) * width + begin];
        const std::int64_t worst = own > before ? own : before;
        if (best >= 0 && worst >= best) continue;
        best = worst;
        from.items[k * width + to] = begin;
      }
    }
  List<int> reversed{};
  for (int k = stages - 1, to = last; k > 0; --k) {
    to = from.items[k * width + to];
    reversed.push_back(to);
  }
  List<int> cuts{};
  for (std::size_t i = reversed.size(); i-- > 0;) cuts.push_back(reversed[i]);
  return cuts;
}

}}}}}} // namespace twill::v0::parallel::pipeline::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace parallel { namespace pipeline { inline namespace TWILL_ISA {

/// M in a number of stages of about equal work, for batches of these sizes: one `nn::Size` for each dimension named by
/// the model, 32 if there is none. Its own marks do not count.
template <nn::Model M, int Stages, class... Dimensions> struct Balanced {
  static_assert(Stages >= 1 && Stages <= most_stages, "twill: Balanced makes between 1 and 64 stages");
  using cut_type = M;
  /// The cuts of the model, found at compile time.
  template <FloatingScalar T> static constexpr CutPlaces places() {
    graph::Graph graph = nn::ModelStage<M, T, true>::make_graph();
    const int root = nn::ModelStage<M, T, true>::build(graph).id();
    CutPlaces found{};
    found.fault = graph.fault;
    if (found.fault.any()) return found;
    const compile::Cuts candidates{graph, root, SizesOr32<Dimensions...>::of(graph)};
    const int first = detail::first_place(graph, root, candidates);
    const int places = candidates.count() - 1 - first;
    if (places < Stages - 1) {
      found.fault = {graph::Problem::model_has_fewer_places_to_cut_than_stages_need, places, Stages - 1, {}};
      return found;
    }
    for (const int cut : detail::balanced(candidates, Stages, first))
      found.nodes.items[found.count++] = candidates.node(cut);
    return found;
  }
};

/// One stage in numbers, for batches of the given sizes.
struct StageReport {
  std::int64_t multiply_adds = 0; ///< of matrix products and convolutions, in a forward pass
  std::int64_t operations = 0;    ///< in total, two for a multiply-add
  std::int64_t bytes = 0;         ///< of tensors that it writes
  std::int64_t weight_bytes = 0;  ///< of the parameters that it reads
  std::int64_t sent_bytes = 0;    ///< to the next stage
};

}}}}} // namespace twill::v0::parallel::pipeline::TWILL_ISA

namespace twill { inline namespace v0 { namespace parallel { namespace pipeline { namespace detail {
inline namespace TWILL_ISA {

template <CutKind C, FloatingScalar T, std::size_t I, class... Dimensions>
[[nodiscard]] constexpr StageReport stage_report() {
  using Source = CutStage<C, I, T>;
  graph::Graph graph = Source::make_graph();
  graph.outputs = Source::build(graph).results;
  const graph::SymbolValues symbols = SizesOr32<Dimensions...>::of(graph);
  const compile::Work work = compile::work_of(graph, symbols);
  StageReport report{0, work.operations, work.bytes, 0, 0};
  const List<char> needed = compile::needed_nodes(graph);
  for (int id = 0; id < graph.size(); ++id)
    if (const graph::Node& node = graph.node(id);
        needed.items[id] != 0 && node.kind == graph::Kind::operation && node.operation->multiply_adds != nullptr)
      report.multiply_adds += node.operation->multiply_adds(graph, node).evaluate(symbols);
  for (const graph::ParameterInfo& info : graph.parameters)
    report.weight_bytes += compile::bytes_of(info.dtype, info.shape, symbols);
  if (static_cast<int>(I) < cut_places<C, T>.count)
    for (const int id : graph.outputs)
      report.sent_bytes += compile::bytes_of(graph.node(id).dtype, graph.node(id).shape, symbols);
  return report;
}

}}}}}} // namespace twill::v0::parallel::pipeline::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace parallel { namespace pipeline { inline namespace TWILL_ISA {

/// The work of each stage of a cut model: `stage_reports<Balanced<Gpt, 4>, float, nn::Size<"batch", 8>>`.
template <CutKind C, FloatingScalar T, class... Dimensions>
inline constexpr auto stage_reports = []<std::size_t... I>(std::index_sequence<I...>) {
  return std::array<StageReport, sizeof...(I)>{detail::stage_report<C, T, I, Dimensions...>()...};
}
(std::make_index_sequence<static_cast<std::size_t>(cut_places<C, T>.count) + 1>{});

}}}}} // namespace twill::v0::parallel::pipeline::TWILL_ISA
