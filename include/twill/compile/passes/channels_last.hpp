#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Channels-last layout of images between operations that want it. Such an operation is traced with its result
// transposed to (batch, channels, ...) and its operand transposed back; this pass carries the first transposition
// through elementwise nodes, broadcasts and reductions until it meets the second and both vanish. A transposition that
// is left becomes a view again where it is needed. Values passed from one program to another, such as activations for a
// backward pass, may be channels-last, too. One pass, linear in the nodes; other graphs are left alone. Read next:
// compile/passes/reading.hpp.

#include <twill/compile/passes/simplify.hpp>
#include <twill/core/config.hpp>

#include <cstddef>
#include <cstdint>

namespace twill { inline namespace v0 { namespace compile { namespace detail { inline namespace TWILL_ISA {

/// The axis of (batch, channels, ...) that is axis `axis` of a channels-last array of this rank.
[[nodiscard]] constexpr int axis_of_first(int axis, int rank) { return axis == 0 ? 0 : axis + 1 < rank ? axis + 1 : 1; }
/// The axis of the channels-last array that is axis `axis` of (batch, channels, ...).
[[nodiscard]] constexpr int axis_of_last(int axis, int rank) { return axis == 0 ? 0 : axis == 1 ? rank - 1 : axis - 1; }

[[nodiscard]] TWILL_CONSTEXPR bool permutes_by(const Node& node, int (*axis_of)(int, int)) {
  const int rank = node.shape.rank;
  if (node.kind != Kind::transpose || rank < 3) return false;
  for (int axis = 0; axis < rank; ++axis)
    if (node.permutation.items[axis] != axis_of(axis, rank)) return false;
  return true;
}

/// Whether a node is computed channels-last. An input may be, from another program; if not, this costs nothing.
[[nodiscard]] TWILL_CONSTEXPR bool lies_channels_last(const List<Node>& nodes, int id) {
  const Node* node = &nodes.items[id];
  if (node->kind == Kind::result) node = &nodes.items[node->inputs.items[0]];
  return node->kind == Kind::input || (node->kind == Kind::operation && node->operation->channels_last);
}

class ChannelsLast {
public:
  constexpr explicit ChannelsLast(const Graph& graph)
      : old_{&graph.nodes}, inputs_{&graph.inputs}, place_(graph.nodes.size(), -1), is_last_(graph.nodes.size(), 0) {
    nodes_.reserve(graph.nodes.size() + graph.nodes.size() / 4);
    other_view_.reserve(graph.nodes.size() + graph.nodes.size() / 4);
    copy_.reserve(graph.nodes.size() + graph.nodes.size() / 4);
    const int count = graph.size();
    for (int i = 0; i < count; ++i) add(i);
  }

  /// For each old node whether it is computed channels-last although it was traced otherwise.
  [[nodiscard]] constexpr const List<char>& found() const { return is_last_; }

  TWILL_CONSTEXPR void put_into(Graph& graph) {
    for (std::size_t i = 0; i < graph.outputs.size(); ++i) {
      int& output = graph.outputs.items[i];
      const bool hands_out_last = i < graph.channels_last_outputs.size() && graph.channels_last_outputs.items[i] != 0;
      output = hands_out_last ? last(output) : first(output);
    }
    graph.channels_last_outputs.clear();
    for (auto& tap : graph.taps) tap.node = first(tap.node);
    for (auto& info : graph.inputs) {
      info.node = place_.items[info.node];
      if (info.is_channels_last) info.shape = nodes_.items[info.node].shape;
      info.is_channels_last = false;
    }
    for (auto& info : graph.parameters) info.node = place_.items[info.node];
    graph.nodes = static_cast<List<Node>&&>(nodes_);
  }

private:
  TWILL_CONSTEXPR int emit(const Node& node) {
    nodes_.push_back(node);
    other_view_.push_back(-1);
    copy_.push_back(-1);
    return static_cast<int>(nodes_.size()) - 1;
  }

  [[nodiscard]] static TWILL_CONSTEXPR Extents permuted(const Extents& shape, int (*axis_of)(int, int)) {
    Extents result{};
    result.rank = shape.rank;
    for (int axis = 0; axis < shape.rank; ++axis) result.axes.items[axis] = shape.axes.items[axis_of(axis, shape.rank)];
    return result;
  }

  /// The view of a new node whose axis d is that node's axis `axis_of(d, rank)`; each node has at most one.
  TWILL_CONSTEXPR int view(int id, int (*axis_of)(int, int)) {
    if (other_view_.items[id] >= 0) return other_view_.items[id];
    const Node& source = nodes_.items[id];
    Node node{};
    node.dtype = source.dtype;
    node.slot = source.slot;
    node.shape = permuted(source.shape, axis_of);
    node.arity = 1;
    if (source.kind == Kind::broadcast && nodes_.items[source.inputs.items[0]].shape.rank == 0) {
      node.kind = Kind::broadcast; // a number has any layout
      node.inputs.items[0] = source.inputs.items[0];
    } else {
      node.kind = Kind::transpose;
      node.inputs.items[0] = id;
      const int rank = source.shape.rank;
      for (int axis = 0; axis < rank && axis < max_rank; ++axis) // the second keeps g++ from a warning
        node.permutation.items[axis] = static_cast<std::int8_t>(axis_of(axis, rank));
    }
    const int made = emit(node);
    other_view_.items[id] = made;
    return made;
  }

  /// An old node as (batch, channels, ...), and channels-last.
  TWILL_CONSTEXPR int first(int old) {
    const int id = place_.items[old];
    return is_last_.items[old] != 0 ? view(id, &axis_of_last) : id;
  }
  TWILL_CONSTEXPR int last(int old) {
    const int id = place_.items[old];
    return is_last_.items[old] != 0 ? id : view(id, &axis_of_first);
  }

  /// Operands that one operation would have copied for itself are copied once for all: an image is an operand of the
  /// convolution and of the gradient by its weights.
  TWILL_CONSTEXPR int dense(int id) {
    if (nodes_.items[id].kind != Kind::transpose) return id;
    if (copy_.items[id] >= 0) return copy_.items[id];
    Node copy{};
    copy.kind = Kind::cast;
    copy.dtype = nodes_.items[id].dtype;
    copy.slot = nodes_.items[id].slot;
    copy.shape = nodes_.items[id].shape;
    copy.arity = 1;
    copy.inputs.items[0] = id;
    const int made = emit(copy);
    copy_.items[id] = made;
    return made;
  }

  TWILL_CONSTEXPR void add(int old) {
    Node node = old_->items[old];
    int& place = place_.items[old];
    char& is_last = is_last_.items[old];
    const int rank = node.shape.rank;
    if (node.kind == Kind::transpose) {
      const int source = node.inputs.items[0];
      const bool source_is_last = is_last_.items[source] != 0;
      if (source_is_last && permutes_by(node, &axis_of_first)) {
        place = place_.items[source];
        return;
      }
      if (!source_is_last && permutes_by(node, &axis_of_last) && lies_channels_last(*old_, source)) {
        place = place_.items[source];
        is_last = 1;
        return;
      }
    }
    if (node.kind == Kind::input && is_handed_in_last(node)) {
      node.shape = permuted(node.shape, &axis_of_first);
      is_last = 1;
    } else if (carries(node)) {
      for (int k = 0; k < node.arity; ++k) node.inputs.items[k] = last(node.inputs.items[k]);
      node.shape = permuted(node.shape, &axis_of_first);
      if (node.kind == Kind::reduce) node.axis = static_cast<std::int8_t>(axis_of_last(node.axis, rank));
      is_last = 1;
    } else {
      for (int k = 0; k < node.arity; ++k) node.inputs.items[k] = first(node.inputs.items[k]);
      if (node.kind == Kind::operation && node.operation->channels_last)
        for (int k = 0; k < node.arity; ++k) node.inputs.items[k] = dense(node.inputs.items[k]);
    }
    place = emit(node);
  }

  /// An unread input may have been taken off the list.
  [[nodiscard]] TWILL_CONSTEXPR bool is_handed_in_last(const Node& input) const {
    const auto number = static_cast<std::size_t>(input.index);
    return number < inputs_->size() && inputs_->items[number].is_channels_last;
  }

  /// Whether a node is to be computed channels-last because one of its operands is.
  [[nodiscard]] TWILL_CONSTEXPR bool carries(const Node& node) const {
    const bool moves = node.kind == Kind::operation && node.operation->moves;
    if (node.kind != Kind::primitive && node.kind != Kind::cast && node.kind != Kind::reduce &&
        node.kind != Kind::broadcast && !moves)
      return false;
    for (int k = 0; k < node.arity; ++k) {
      const int input = node.inputs.items[k];
      if (is_last_.items[input] != 0 && old_->items[input].shape.rank == node.shape.rank) return true;
    }
    return false;
  }

  const List<Node>* old_;
  const List<graph::InputInfo>* inputs_;
  List<Node> nodes_{};
  List<int> other_view_{}; ///< for each new node its view in the other order, -1 for none
  List<int> copy_{};       ///< for each new node that is a view its copy, -1 for none
  List<int> place_;        ///< for each old node the new one
  List<char> is_last_;     ///< whether that one is channels-last where the old one was not
};

}}}}} // namespace twill::v0::compile::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace compile { inline namespace TWILL_ISA {

/// Whether there is anything to carry.
[[nodiscard]] TWILL_CONSTEXPR bool wants_channels_last(const Graph& graph) {
  for (const Node& node : graph.nodes)
    if (node.kind == Kind::operation && node.operation->channels_last) return true;
  for (const graph::InputInfo& info : graph.inputs)
    if (info.is_channels_last) return true;
  return false;
}

/// Rewrites the graph so that nodes between operations on images are computed channels-last.
TWILL_CONSTEXPR void carry_channels_last(Graph& graph) {
  if (wants_channels_last(graph)) detail::ChannelsLast{graph}.put_into(graph);
}

/// For each node whether `carry_channels_last` computes it channels-last although it was traced otherwise.
[[nodiscard]] TWILL_CONSTEXPR List<char> carried_channels_last(const Graph& graph) {
  if (!wants_channels_last(graph)) return List<char>(graph.nodes.size(), 0);
  return detail::ChannelsLast{graph}.found();
}

}}}} // namespace twill::v0::compile::TWILL_ISA
