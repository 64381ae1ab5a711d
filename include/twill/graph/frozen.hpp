#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Frozen graphs: traced graphs as constexpr data, and back. Programs that need a graph at run time take the compiler's:
// a second trace could differ, since C++ leaves open in which order operands of an expression are evaluated. Nodes are
// packed into numbers: compilers keep each member of a constant class, used or not, as a tree. Read next:
// compile/traced.hpp.

#include <twill/core/config.hpp>
#include <twill/graph/graph.hpp>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

namespace twill { inline namespace v0 { namespace graph {

// The lists of records of a graph besides its nodes: `list(type, name)`.
// clang-format off
#define TWILL_GRAPH_LISTS(list) \
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

/// The number of records of each kind in a graph, and of the numbers and operations that its nodes are packed into.
struct GraphSizes {
  std::size_t words = 0;
  std::size_t operations = 0;
#define TWILL_LIST(type, name) std::size_t name = 0;
  TWILL_GRAPH_LISTS(TWILL_LIST)
#undef TWILL_LIST

  /// Whether a graph of these sizes fits into `room`.
  [[nodiscard]] TWILL_CONSTEXPR bool fit(const GraphSizes& room) const {
    if (words > room.words || operations > room.operations) return false;
#define TWILL_LIST(type, name)                                                                                         \
  if (name > room.name) return false;
    TWILL_GRAPH_LISTS(TWILL_LIST)
#undef TWILL_LIST
    return true;
  }
};

/// Those of the lists alone.
[[nodiscard]] TWILL_CONSTEXPR GraphSizes sizes_of(const Graph& graph) {
  GraphSizes sizes{};
#define TWILL_LIST(type, name) sizes.name = graph.name.size();
  TWILL_GRAPH_LISTS(TWILL_LIST)
#undef TWILL_LIST
  return sizes;
}

namespace detail {

/// The scope and the part of a node, which most nodes share with the one before them.
struct PlaceInTrace {
  int scope = 0;
  int region = 0;
};

/// Members of a packed node that have a word only where they are not the usual.
enum PackedMember : std::uint64_t {
  packed_place = std::uint64_t{1} << 52,
  packed_index = std::uint64_t{1} << 53,
  packed_value = std::uint64_t{1} << 54,
  packed_over = std::uint64_t{1} << 55,
  packed_operation = std::uint64_t{1} << 56, ///< it has one, which is beside the words
};

/// The most words of a node: the first, place, index, value, divisor, inputs, permutation and two for each axis.
inline constexpr std::size_t most_words = 5 + max_inputs + 1 + 2 * max_rank;

/// Twice the number, one more where symbols follow.
[[nodiscard]] TWILL_CONSTEXPR std::int64_t* pack(const Extent& extent, std::int64_t* to) {
  *to++ = 2 * extent.factor + (extent.symbols != 0 ? 1 : 0);
  if (extent.symbols != 0) *to++ = static_cast<std::int64_t>(extent.symbols);
  return to;
}
[[nodiscard]] TWILL_CONSTEXPR const std::int64_t* unpack(const std::int64_t* from, Extent& extent) {
  const std::int64_t number = *from++;
  extent.factor = number >> 1;
  if ((number & 1) != 0) extent.symbols = static_cast<std::uint64_t>(*from++);
  return from;
}

/// Writes a node, except for its operation; returns the end of its words.
[[nodiscard]] TWILL_CONSTEXPR std::int64_t* pack(const Node& node, PlaceInTrace& before, std::int64_t* to) {
  const auto value = std::bit_cast<std::int64_t>(node.value);
  const int rank = node.shape.rank;
  const int arity = node.arity;
  std::uint64_t head = static_cast<std::uint64_t>(node.kind) | static_cast<std::uint64_t>(node.dtype) << 8 |
                       static_cast<std::uint64_t>(node.primitive) << 16 |
                       static_cast<std::uint64_t>(node.reduction) << 24 | static_cast<std::uint64_t>(arity) << 28 |
                       static_cast<std::uint64_t>(rank) << 32 |
                       static_cast<std::uint64_t>(static_cast<std::uint8_t>(node.axis)) << 36 |
                       static_cast<std::uint64_t>(static_cast<std::uint8_t>(node.slot)) << 44;
  if (node.operation != nullptr) head |= packed_operation;
  std::int64_t* const first = to++;
  if (node.scope != before.scope || node.region != before.region) {
    head |= packed_place;
    before = {node.scope, node.region};
    *to++ = std::int64_t{node.region} << 32 | static_cast<std::uint32_t>(node.scope);
  }
  if (node.index != 0) {
    head |= packed_index;
    *to++ = node.index;
  }
  if (value != 0) {
    head |= packed_value;
    *to++ = value;
  }
  if (!node.over.is_one()) {
    head |= packed_over;
    to = pack(node.over, to);
  }
  for (int i = 0; i < arity; ++i) *to++ = node.inputs.items[i];
  for (int axis = 0; axis < rank; ++axis) to = pack(node.shape.axes.items[axis], to);
  if (node.kind == Kind::transpose) {
    std::int64_t permutation = 0;
    for (int axis = 0; axis < rank; ++axis) permutation |= std::int64_t{node.permutation.items[axis]} << 8 * axis;
    *to++ = permutation;
  }
  *first = static_cast<std::int64_t>(head);
  return to;
}

/// Reads a node, except for its operation; returns the end of its words.
[[nodiscard]] TWILL_CONSTEXPR const std::int64_t* unpack(const std::int64_t* from, PlaceInTrace& before, Node& node) {
  const auto head = static_cast<std::uint64_t>(*from++);
  node.kind = static_cast<Kind>(head & 255U);
  node.dtype = static_cast<DType>(head >> 8 & 255U);
  node.primitive = static_cast<Primitive>(head >> 16 & 255U);
  node.reduction = static_cast<Reduction>(head >> 24 & 15U);
  node.arity = static_cast<std::uint8_t>(head >> 28 & 15U);
  node.shape.rank = static_cast<int>(head >> 32 & 15U);
  node.axis = static_cast<std::int8_t>(head >> 36 & 255U);
  node.slot = static_cast<std::int8_t>(head >> 44 & 255U);
  if ((head & packed_place) != 0) {
    before = {static_cast<int>(*from & 0xFFFFFFFF), static_cast<int>(*from >> 32)};
    ++from;
  }
  node.scope = before.scope;
  node.region = before.region;
  if ((head & packed_index) != 0) node.index = static_cast<int>(*from++);
  if ((head & packed_value) != 0) node.value = std::bit_cast<double>(*from++);
  if ((head & packed_over) != 0) from = unpack(from, node.over);
  for (int i = 0; i < node.arity; ++i) node.inputs.items[i] = static_cast<int>(*from++);
  for (int axis = 0; axis < node.shape.rank; ++axis) from = unpack(from, node.shape.axes.items[axis]);
  if (node.kind == Kind::transpose) {
    for (int axis = 0; axis < node.shape.rank; ++axis)
      node.permutation.items[axis] = static_cast<std::int8_t>(*from >> 8 * axis & 255);
    ++from;
  }
  return from;
}

} // namespace detail

/// A frozen graph as run-time code reads it.
struct GraphView {
  GraphState state{};
  std::span<const std::int64_t> words{};
  std::span<const Operation* const> operations{};
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
  Array<std::int64_t, S.words> words{};               ///< of the nodes, one after another
  Array<const Operation*, S.operations> operations{}; ///< of nodes that have one, in their order
  Array<int, S.outputs> result_words{};               ///< the first word of each output
#define TWILL_LIST(type, name) Array<type, S.name> name{};
  TWILL_GRAPH_LISTS(TWILL_LIST)
#undef TWILL_LIST

  /// Copies a graph as far as it fits, and notes its sizes.
  constexpr FrozenGraph(const Graph& graph, GraphSizes& sizes) : state{graph} {
    sizes = sizes_of(graph);
    const bool fits = sizes.fit(S);
    const List<int> first_words = pack_nodes(graph.nodes, sizes);
    if (!fits) return;
    for (std::size_t i = 0; i < sizes.outputs; ++i) result_words.data()[i] = first_words.items[graph.outputs.items[i]];
    copy_lists(graph, sizes);
  }
  /// Copies another frozen graph with these numbers of records.
  template <GraphSizes From>
  constexpr FrozenGraph(const FrozenGraph<From>& from, const GraphSizes& sizes) : state{from.state} {
    copy_records(from.words, sizes.words, words);
    copy_records(from.operations, sizes.operations, operations);
    copy_records(from.result_words, sizes.outputs, result_words);
    copy_lists(from, sizes);
  }

  [[nodiscard]] constexpr GraphView view() const {
    GraphView view{};
    view.state = state;
    view.words = {words.data(), S.words};
    view.operations = {operations.data(), S.operations};
#define TWILL_LIST(type, name) view.name = {name.data(), S.name};
    TWILL_GRAPH_LISTS(TWILL_LIST)
#undef TWILL_LIST
    return view;
  }

  /// The node of output K; its scope, region and operation are not known.
  [[nodiscard]] constexpr Node result(std::size_t k) const {
    Node node{};
    detail::PlaceInTrace place{};
    static_cast<void>(detail::unpack(words.data() + result_words[k], place, node));
    return node;
  }

private:
  template <class From> constexpr void copy_lists(const From& from, const GraphSizes& sizes) {
#define TWILL_LIST(type, name) copy_records(from.name, sizes.name, name);
    TWILL_GRAPH_LISTS(TWILL_LIST)
#undef TWILL_LIST
  }

  /// Packs nodes as long as they fit; counts all words and operations. Returns the first word of each node.
  constexpr List<int> pack_nodes(const List<Node>& nodes, GraphSizes& sizes) {
    const std::size_t count = nodes.size();
    List<int> first_words(count, 0);
    detail::PlaceInTrace place{};
    std::int64_t aside[detail::most_words]{};
    std::int64_t* const all = words.data();
    std::size_t used = 0;
    for (std::size_t id = 0; id < count; ++id) {
      const Node& node = nodes.items[id];
      first_words.items[id] = static_cast<int>(used);
      if (used + detail::most_words <= S.words) {
        used = static_cast<std::size_t>(detail::pack(node, place, all + used) - all);
      } else {
        const std::int64_t* const end = detail::pack(node, place, aside);
        for (const std::int64_t* word = aside; word != end; ++word, ++used)
          if (used < S.words) all[used] = *word;
      }
      if (node.operation == nullptr) continue;
      if (sizes.operations < S.operations) operations.data()[sizes.operations] = node.operation;
      ++sizes.operations;
    }
    sizes.words = used;
    return first_words;
  }
};

}}} // namespace twill::v0::graph

#if TWILL_HEADER_ONLY
#include <twill/graph/frozen.ipp>
#endif
