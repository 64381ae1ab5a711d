#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Reading of values through views. Broadcasts, transposes and reshapes cost nothing when the consumer folds them into
// its strides; this file follows such a chain to the memory underneath. `legalise` first inserts copies where no
// strides could express it. Read next: compile/passes/group.hpp.

#include <twill/compile/passes/loops.hpp>
#include <twill/core/config.hpp>

#include <array>
#include <cstdint>

namespace twill { inline namespace v0 { namespace compile { inline namespace TWILL_ISA {

/// The place in an `AxisMap` of the steps of the outermost loop; those of loops inside follow.
inline constexpr std::size_t step_axis = max_rank;
/// The places of an `AxisMap`.
inline constexpr std::size_t walk_axes = step_axis + graph::most_nested_loops;

/// For each dimension of a grid, and last for the steps of loops, the axis of some shape along which it moves, -1 for
/// none.
using AxisMap = graph::Few<std::int8_t, walk_axes>;

inline constexpr AxisMap no_axes = [] {
  AxisMap axes{};
  for (std::int8_t& axis : axes) axis = -1;
  return axes;
}();

/// The place in an `AxisMap` of the steps of a loop.
[[nodiscard]] TWILL_CONSTEXPR std::size_t step_axis_of(const Graph& graph, int loop) {
  return step_axis + static_cast<std::size_t>(graph.loops.items[loop].depth);
}

/// The grid walks through the memory of node `root`, seen as a contiguous tensor of shape `view`.
struct Reading {
  int root = -1;
  const Extents* view = nullptr; ///< of a node: a copy of a shape would take most of the constant evaluation
  AxisMap axis_of = no_axes;
};

/// The axes of a shape that are not one, in order.
[[nodiscard]] TWILL_CONSTEXPR AxisMap proper_axes(const Extents& shape) {
  AxisMap map = no_axes;
  int position = 0;
  const int axes = shape.rank;
  for (int i = 0; i < axes; ++i)
    if (shape.axes.items[i].factor != 1 || shape.axes.items[i].symbols != 0)
      map.items[position++] = static_cast<std::int8_t>(i);
  return map;
}

/// True for a node whose value is in memory, or can be put there by the kernel that computes it.
[[nodiscard]] TWILL_CONSTEXPR bool can_be_stored(Kind kind) {
  return kind == Kind::input || kind == Kind::parameter || kind == Kind::primitive || kind == Kind::cast ||
         kind == Kind::reduce || kind == Kind::operation || kind == Kind::result || kind == Kind::carry ||
         kind == Kind::stack || kind == Kind::leave;
}

/// A reshape that only adds or drops extents of one.
[[nodiscard]] TWILL_CONSTEXPR bool only_moves_ones(const Extents& from, const Extents& to) {
  const int left_end = from.rank;
  const int right_end = to.rank;
  for (int left = 0, right = 0;; ++left, ++right) {
    while (left != left_end && from.axes.items[left].factor == 1 && from.axes.items[left].symbols == 0) ++left;
    while (right != right_end && to.axes.items[right].factor == 1 && to.axes.items[right].symbols == 0) ++right;
    if (left == left_end || right == right_end) return left == left_end && right == right_end;
    if (from.axes.items[left].factor != to.axes.items[right].factor ||
        from.axes.items[left].symbols != to.axes.items[right].symbols)
      return false;
  }
}

/// The node below those that only say when it may be read.
[[nodiscard]] TWILL_CONSTEXPR int behind_after(const Node* nodes, int id) {
  while (nodes[id].kind == Kind::after) id = nodes[id].inputs.items[0];
  return id;
}

/// Follows the views under node `id`; `axis_of` gives the axes along which the grid moves.
[[nodiscard]] TWILL_CONSTEXPR Reading read_through(const Graph& graph, int id, AxisMap axis_of) {
  const Node* const nodes = graph.nodes.items;
  for (;;) {
    const Node& node = nodes[id];
    if ((graph::view_kinds >> static_cast<int>(node.kind) & 1u) == 0) return {id, &node.shape, axis_of};
    const int source = node.inputs.items[0];
    const Extents& below = nodes[source].shape;
    if (node.kind == Kind::reshape) {
      if (!only_moves_ones(below, node.shape)) return {behind_after(nodes, source), &node.shape, axis_of};
      const AxisMap from = proper_axes(node.shape);
      const AxisMap to = proper_axes(below);
      for (std::size_t d = 0; d < walk_axes; ++d) {
        const std::int8_t axis = axis_of.items[d];
        if (axis < 0) continue;
        std::int8_t found = -1;
        for (int i = 0; i < max_rank && from.items[i] >= 0; ++i)
          if (from.items[i] == axis) found = to.items[i];
        axis_of.items[d] = found;
      }
    } else if (node.kind == Kind::broadcast && below.rank == 0) {
      axis_of = no_axes;
    } else if (node.kind == Kind::broadcast) {
      const int added = node.shape.rank - below.rank;
      for (std::size_t d = 0; d < walk_axes; ++d) {
        const int position = axis_of.items[d] - added;
        if (axis_of.items[d] < 0) continue;
        const bool moves =
            position >= 0 && (below.axes.items[position].factor != 1 || below.axes.items[position].symbols != 0);
        axis_of.items[d] = static_cast<std::int8_t>(moves ? position : -1);
      }
    } else if (node.kind == Kind::slice) {
      for (std::int8_t& axis : axis_of.items)
        if (axis >= 0) ++axis;
      if (!below[0].is_one()) axis_of.items[step_axis_of(graph, node.index)] = 0;
    } else if (node.kind == Kind::transpose) {
      for (std::size_t d = 0; d < walk_axes; ++d)
        if (axis_of.items[d] >= 0) axis_of.items[d] = node.permutation.items[axis_of.items[d]];
    }
    id = source;
  }
}

/// The node whose memory is at the end of a chain of views.
[[nodiscard]] TWILL_CONSTEXPR int root_of(const Graph& graph, int id) {
  const Node* const nodes = graph.nodes.items;
  while ((graph::view_kinds >> static_cast<int>(nodes[id].kind) & 1u) != 0) {
    const Node& node = nodes[id];
    id = node.inputs.items[0];
    if (node.kind == Kind::reshape && !only_moves_ones(nodes[id].shape, node.shape)) return behind_after(nodes, id);
  }
  return id;
}

}}}} // namespace twill::v0::compile::TWILL_ISA

namespace twill { inline namespace v0 { namespace compile { namespace detail { inline namespace TWILL_ISA {

/// Adds a copy of a node, as a conversion to its own type; for a number, in a slot.
TWILL_CONSTEXPR int add_copy(List<Node>& nodes, int source, int slot = 0) {
  Node copy{};
  copy.slot = nodes.items[source].slot >= 0 ? nodes.items[source].slot : static_cast<std::int8_t>(slot);
  copy.kind = Kind::cast;
  copy.dtype = nodes.items[source].dtype;
  copy.shape = nodes.items[source].shape;
  copy.arity = 1;
  copy.inputs[0] = source;
  nodes.push_back(copy);
  return static_cast<int>(nodes.size()) - 1;
}

/// Adds a copy of a node at the place of its source in the function.
TWILL_CONSTEXPR int add_copy_in_place(List<Node>& nodes, int source) {
  const int copy = add_copy(nodes, source);
  nodes.data()[copy].scope = nodes.data()[source].scope;
  nodes.data()[copy].region = nodes.data()[source].region;
  return copy;
}

/// True where a chain of views leaves the elements in row-major order.
[[nodiscard]] TWILL_CONSTEXPR bool is_row_major(const List<Node>& nodes, int id) {
  for (const Node* node = &nodes.items[id]; is_view(node->kind); node = &nodes.items[node->inputs[0]])
    if (node->kind == Kind::transpose || node->kind == Kind::broadcast) return false;
  return true;
}

}}}}} // namespace twill::v0::compile::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace compile { inline namespace TWILL_ISA {

/// The node under a chain of views.
[[nodiscard]] TWILL_CONSTEXPR int view_root(const List<Node>& nodes, int id) {
  while (is_view(nodes.items[id].kind)) id = nodes.items[id].inputs[0];
  return id;
}

/// Inserts copies so that every output is a computed node of its own, every operand of an operation is in memory, and
/// no reshape that mixes axes is on top of another view. Moves assignments to the end and the nodes of a loop together.
TWILL_CONSTEXPR void legalise(Graph& graph) {
  List<Node> nodes{};
  nodes.reserve(graph.nodes.size() + graph.outputs.size());
  List<int> renumbered(graph.nodes.size(), -1);
  List<int> renumbered_taps(graph.taps.size(), -1);
  const auto kind_of = [&](int id) { return nodes.items[id].kind; };
  const auto add = [&](std::size_t i) {
    Node node = graph.nodes.items[i];
    for (int k = 0; k < node.arity; ++k) {
      int& input = node.inputs.items[k];
      input = renumbered.items[input];
      const bool mixes_axes = node.kind == Kind::reshape && !only_moves_ones(nodes.items[input].shape, node.shape);
      const bool wants_memory = mixes_axes ? !can_be_stored(kind_of(behind_after(nodes.data(), input)))
                                           : node.kind == Kind::operation &&
                                                 (!can_be_stored(kind_of(view_root(nodes, input))) ||
                                                  (node.operation->wants_dense && !detail::is_row_major(nodes, input)));
      if (wants_memory) input = detail::add_copy(nodes, input, node.slot);
    }
    nodes.push_back(node);
    renumbered.items[i] = static_cast<int>(nodes.size()) - 1;
  };
  const auto add_all = [&](bool assignments) {
    if (graph.loops.empty() || assignments) {
      const std::size_t count = graph.nodes.size();
      for (std::size_t i = 0; i < count; ++i)
        if ((graph.nodes.items[i].kind == Kind::assign) == assignments) add(i);
      return;
    }
    const LoopsTogether together{graph};
    for (int id : together.order())
      if (graph.nodes.items[id].kind != Kind::assign) add(static_cast<std::size_t>(id));
  };
  add_all(false);
  for (std::size_t k = 0; k < graph.outputs.size(); ++k) {
    int& output = graph.outputs[k];
    output = renumbered.items[output];
    bool repeated = false;
    for (std::size_t other = 0; other < k; ++other) repeated = repeated || graph.outputs[other] == output;
    const Kind kind = kind_of(output);
    if (repeated || !can_be_stored(kind) || kind == Kind::input || kind == Kind::parameter)
      output = detail::add_copy(nodes, output);
  }
  // Readers of a tapped value keep reading it: the value in memory is a copy, unless the value itself has to be there.
  List<char> is_output(nodes.size(), 0);
  for (int output : graph.outputs) is_output[static_cast<std::size_t>(output)] = 1;
  for (std::size_t k = 0; k < graph.taps.size(); ++k) {
    int& tapped = graph.taps[k].node;
    tapped = renumbered[static_cast<std::size_t>(tapped)];
    const Node& node = nodes[static_cast<std::size_t>(tapped)];
    if (is_output[static_cast<std::size_t>(tapped)] != 0 || node.kind == Kind::operation || node.kind == Kind::result)
      continue;
    const int source = tapped;
    for (std::size_t other = 0; other < k && tapped == source; ++other)
      if (renumbered_taps[other] == source) tapped = graph.taps[other].node;
    if (tapped == source) tapped = detail::add_copy_in_place(nodes, source);
    renumbered_taps[k] = source;
  }
  // Last, because all other readers mean the parameter's value before the run.
  add_all(true);
  for (auto& info : graph.inputs) info.node = renumbered.items[info.node];
  for (auto& info : graph.parameters) info.node = renumbered.items[info.node];
  graph.nodes = static_cast<List<Node>&&>(nodes);
}

}}}} // namespace twill::v0::compile::TWILL_ISA
