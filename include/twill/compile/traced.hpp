#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Traces of sources as constexpr data. A source is traced once if its graph fits the usual room, else a second time
// with room for its sizes. Read next: compile/quick.hpp.

#include <twill/compile/program_type.hpp>
#include <twill/compile/signature.hpp>
#include <twill/core/config.hpp>
#include <twill/graph/frozen.hpp>
#include <twill/graph/operation.hpp>

#include <array>
#include <cstddef>

namespace twill { inline namespace v0 { namespace compile { inline namespace TWILL_ISA {

/// Room for the graphs of most sources, or of those that need tables of this size.
[[nodiscard]] TWILL_CONSTEXPR graph::GraphSizes graph_room(const TableSizes& table) {
  const std::size_t n = table.values;
  return {.words = 20 * n, // a node has about seven
          .operations = n,
          .inputs = table.inputs + 8,
          .parameters = table.parameters + 16,
          .run_scalars = table.run_scalars + 32,
          .symbols = graph::max_symbols,
          .requirements = table.requirements + 8,
          .bounds = table.bounds + 8,
          .outputs = table.inputs + 8,
          .channels_last_outputs = table.inputs + 8,
          .taps = 2 * table.taps,
          .scopes = 2 * table.scopes,
          .loops = table.loops + 4,
          .regions = 16 + n / 16,
          .stage_boundaries = 16,
          .carries = 4 * table.loops + 16,
          .attributes = 4 * table.attributes + 64,
          .merged_symbols = 16};
}

/// An operation with a kernel of its own, for one element type.
struct OperationKey {
  const graph::Operation* operation = nullptr;
  DType dtype = DType::float32;
};

/// The operation keys of a trace, each once.
struct OperationKeys {
  static constexpr std::size_t most = 64;
  std::array<OperationKey, most> keys{};
  std::size_t count = 0; ///< above `most` if there are too many

  constexpr explicit OperationKeys(const graph::Graph& graph) {
    for (const graph::Node& node : graph.nodes)
      if (node.kind == graph::Kind::operation) add({node.operation, graph::typing_type(graph, node)});
  }

  TWILL_CONSTEXPR void add(const OperationKey& key) {
    for (std::size_t i = 0; i < count && i < most; ++i)
      if (graph::is_same(*keys[i].operation, *key.operation) && keys[i].dtype == key.dtype) return;
    if (count < most) keys[count] = key;
    ++count;
  }
};

/// A trace that is about to be frozen: its sizes, and the rest where it fits.
template <graph::GraphSizes Room> struct TraceAttempt {
  SignatureSizes signature{};
  graph::GraphSizes sizes{};
  OperationKeys operations;
  graph::FrozenGraph<Room> frozen;

  constexpr explicit TraceAttempt(const graph::Graph& traced)
      : signature{signature_sizes_of(traced)}, operations{traced}, frozen{traced, sizes} {}
};

/// The trace of a source. Naming it traces; a faulty trace is refused here.
template <Source S> struct Traced {
private:
  static constexpr graph::GraphSizes room = graph_room(room_of<S>());
  static constexpr TraceAttempt<room> attempt{S::trace()};

  template <graph::GraphSizes Sizes> static constexpr graph::FrozenGraph<Sizes> freeze() {
    if constexpr (Sizes.fit(room)) {
      return {attempt.frozen, Sizes};
    } else {
      graph::GraphSizes counted{};
      return {S::trace(), counted};
    }
  }

public:
  static constexpr SignatureSizes sizes = attempt.signature;
  static_assert(sizeof(detail::FaultCheck<sizes.fault>) >= 1);
  static constexpr OperationKeys operations = attempt.operations;
  static constexpr graph::FrozenGraph<attempt.sizes> frozen = freeze<attempt.sizes>();

  /// Element type, shape and slot of a result.
  template <std::size_t K> static constexpr graph::InputInfo output() {
    const graph::Node node = frozen.result(K);
    return {node.dtype, node.shape, frozen.outputs[K], false, node.slot < 0 ? 0 : node.slot};
  }
};

/// The trace of a source at run time: that of the compiler.
template <Source S> [[nodiscard]] graph::Graph trace_of() { return graph::thaw(Traced<S>::frozen.view()); }

}}}} // namespace twill::v0::compile::TWILL_ISA
