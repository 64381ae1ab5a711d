#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Batching rules of nodes: a node of one example as a node of many, whose first axis counts the examples. Operands have
// that axis or are shared by all. A shared operand is repeated only where its rule needs it: a product with shared
// weights is one larger product, a convolution with shared weights one of a larger batch, a look-up in a shared table
// one of more places. Rules of operations are few, because operations are alike; `Operation::batching` names them. Read
// next: graph/batching.hpp.

#include <twill/core/config.hpp>
#include <twill/graph/graph.hpp>
#include <twill/graph/operators.hpp>

#include <cstdint>

namespace twill { inline namespace v0 { namespace graph { namespace detail {

/// The shape with a first axis of examples.
[[nodiscard]] TWILL_CONSTEXPR Extents with_batch(Extent batch, const Extents& shape) {
  Extents result{};
  result.append(batch);
  for (int axis = 0; axis < shape.rank; ++axis) result.append(shape[axis]);
  return result;
}

/// An axis moved to another place; the others keep their order.
[[nodiscard]] TWILL_CONSTEXPR Value with_axis_moved(Value x, int from, int to) {
  if (from == to) return x;
  return reordered(x, [&](int axis) {
    if (axis == to) return from;
    const int others = axis < to ? axis : axis - 1;
    return others < from ? others : others + 1;
  });
}

/// One node of an example, and its operands among the nodes of many.
class BatchedNode {
public:
  constexpr BatchedNode(Graph& graph, Extent batch, int id)
      : graph_{&graph}, batch_{batch}, id_{id}, node_{graph.node(id)} {}

  /// Sets an operand: a node with a first axis of examples, or one that all examples share.
  constexpr void set(int i, int operand, bool is_batched) {
    operands_.items[i] = operand;
    is_batched_.items[i] = is_batched;
  }

  /// The node of all examples; where the rule merges first axes, `unfolded` splits them again.
  [[nodiscard]] TWILL_CONSTEXPR Value made() {
    switch (node_.kind) {
    case Kind::reduce:
      return copy_over({*graph_, operands_[0]}, node_.axis + 1);
    case Kind::broadcast:
      return repeated();
    case Kind::reshape:
      return reshape({*graph_, operands_[0]}, with_batch(batch_, node_.shape));
    case Kind::transpose:
      return reordered({*graph_, operands_[0]},
                       [&](int axis) { return axis == 0 ? 0 : node_.permutation[at(axis - 1)] + 1; });
    case Kind::rule:
      if (node_.operation->batching == Batching::by_formula) return {*graph_, operands_[0]};
      if (node_.operation->batching == Batching::none) return refused();
      return stacked();
    case Kind::operation:
      return operation();
    default: // elementwise ones, positions of draws, and views that change nothing
      return stacked();
    }
  }

  /// A result of the node with an axis of examples, which the rule may have merged with the first axis of the example.
  [[nodiscard]] TWILL_CONSTEXPR Value unfolded(Value result, const Extents& example) const {
    return is_folded() ? reshape(result, with_batch(batch_, example)) : result;
  }
  /// The shape of a further result of the node.
  [[nodiscard]] TWILL_CONSTEXPR Extents shape_of_result(const Extents& example) const {
    return is_folded() ? folded_shape(example) : with_batch(batch_, example);
  }

  /// A value with a first axis of examples: repeated if it has none.
  [[nodiscard]] static TWILL_CONSTEXPR Value spread(Graph& graph, Extent batch, int id, const Extents& example) {
    while (graph.node(id).kind == Kind::broadcast) id = graph.node(id).input(0);
    return broadcast_to({graph, id}, with_batch(batch, example));
  }

private:
  [[nodiscard]] static constexpr std::size_t at(int i) { return static_cast<std::size_t>(i); }
  [[nodiscard]] constexpr Extents example_of(int i) const { return graph_->node(node_.input(i)).shape; }
  [[nodiscard]] constexpr Value shared(int i) const { return {*graph_, operands_.items[i]}; }
  [[nodiscard]] TWILL_CONSTEXPR Value spread(int i) const {
    return is_batched_.items[i] ? shared(i) : spread(*graph_, batch_, operands_.items[i], example_of(i));
  }
  [[nodiscard]] constexpr bool is_folded() const {
    return node_.kind == Kind::operation && node_.operation->batching == Batching::first_axis;
  }
  [[nodiscard]] TWILL_CONSTEXPR Extents folded_shape(Extents example) const {
    example[0] = batch_ * example[0];
    return example;
  }
  [[nodiscard]] constexpr bool is_flat() const { return node_.shape.rank == 2; }

  TWILL_CONSTEXPR Value refused() {
    graph_->refuse_node(Problem::operation_has_no_batching_rule, id_, Named::operation(node_.operation->name));
    return filled(*graph_, node_.dtype, with_batch(batch_, node_.shape), 0);
  }

  /// The node again, over operands with a first axis each.
  [[nodiscard]] TWILL_CONSTEXPR Value stacked() {
    Node node = node_;
    for (int i = 0; i < node.arity; ++i) {
      const bool only_waits = node.kind == Kind::after && i == 1;
      node.inputs.items[i] = only_waits ? operands_.items[i] : spread(i).id();
    }
    return added(node, with_batch(batch_, node.shape));
  }
  [[nodiscard]] TWILL_CONSTEXPR Value added(Node node, const Extents& shape) {
    node.shape = shape;
    return {*graph_, graph_->add(node)};
  }
  [[nodiscard]] TWILL_CONSTEXPR Value copy_over(Value x, int axis) {
    Node node = node_;
    node.inputs.items[0] = x.id();
    node.axis = static_cast<std::int8_t>(axis);
    return added(node, with_batch(batch_, node.shape));
  }
  /// The node with one or two other operands.
  [[nodiscard]] TWILL_CONSTEXPR Value over(Value left, Value right, const Extents& shape) {
    Node node = node_;
    node.inputs.items[0] = left.id();
    node.inputs.items[1] = right.id();
    return added(node, shape);
  }

  /// A broadcast: new axes come between that of the examples and the operand's.
  [[nodiscard]] TWILL_CONSTEXPR Value repeated() {
    const Extents from = example_of(0);
    Extents aligned{};
    aligned.append(batch_);
    for (int axis = from.rank; axis < node_.shape.rank; ++axis) aligned.append({1, 0});
    for (int axis = 0; axis < from.rank; ++axis) aligned.append(from[axis]);
    return broadcast_to(reshape(shared(0), aligned), with_batch(batch_, node_.shape));
  }

  [[nodiscard]] TWILL_CONSTEXPR Value operation() {
    switch (node_.operation->batching) {
    case Batching::none:
    case Batching::by_formula:
      return refused();
    case Batching::stack:
      return stacked();
    case Batching::first_axis:
      return folded();
    case Batching::look_up:
      return is_batched_[0] ? of_many_tables() : of_one_table();
    case Batching::product:
      return product();
    case Batching::convolution:
      return convolution();
    case Batching::convolution_input_gradient:
      return convolution_input_gradient();
    case Batching::convolution_weight_gradient:
      return convolution_weight_gradient();
    }
    return refused();
  }

  /// An operand whose first axis is merged with that of the examples; one that has one element there, which all calls
  /// read, stays as it is.
  [[nodiscard]] TWILL_CONSTEXPR Value merged(int i, Extent calls, bool may_be_shared) const {
    Extents example = example_of(i);
    const bool is_repeated = example[0].is_one() && (may_be_shared || !calls.is_one());
    if (is_repeated && !is_batched_.items[i]) return shared(i);
    Value x = spread(i);
    if (example[0].is_one() && !calls.is_one()) {
      example[0] = calls;
      x = broadcast_to(x, with_batch(batch_, example));
    }
    return reshape(x, folded_shape(example));
  }

  /// The node over merged first axes.
  [[nodiscard]] TWILL_CONSTEXPR Value folded() {
    Node node = node_;
    for (int i = 0; i < node.arity; ++i)
      node.inputs.items[i] = merged(i, node_.shape[0], i == node.operation->shared_operand).id();
    return added(node, folded_shape(node.shape));
  }

  /// Look-ups along the middle of three axes, each example in its own table.
  [[nodiscard]] TWILL_CONSTEXPR Value of_many_tables() {
    return reshape(over(merged(0, node_.shape[0], false), merged(1, node_.shape[0], true), folded_shape(node_.shape)),
                   with_batch(batch_, node_.shape));
  }
  /// Look-ups in one table: the places of all examples, one after another.
  [[nodiscard]] TWILL_CONSTEXPR Value of_one_table() {
    Extents places = example_of(1);
    places[1] = batch_ * places[1];
    Extents found = node_.shape;
    found[1] = batch_ * found[1];
    Extents apart{}; // (calls, examples, places, inner)
    apart.append(node_.shape[0]);
    apart.append(batch_);
    apart.append(node_.shape[1]);
    apart.append(node_.shape[2]);
    const Value y = over(shared(0), reshape(with_axis_moved(shared(1), 0, 1), places), found);
    return with_axis_moved(reshape(y, apart), 1, 0);
  }

  /// Whether the last two axes of a stack of matrices are exchanged, and by nothing else.
  [[nodiscard]] TWILL_CONSTEXPR bool is_transposed(Value x) const {
    const Node& node = x.node();
    return node.kind == Kind::transpose && node.shape.rank == 3 && node.permutation[0] == 0 && node.permutation[1] == 2;
  }
  /// The rows of all examples' matrices one after another, (examples rows, columns), where no element has to move for
  /// it; no value otherwise.
  [[nodiscard]] TWILL_CONSTEXPR Value rows_of_all(Value x) const {
    const Extents shape = x.shape();
    Extents rows{};
    rows.append(batch_ * shape[1]);
    rows.append(shape[2]);
    if (is_transposed(x)) {
      if (!shape[1].is_one() && !shape[2].is_one()) return {};
      x = {*graph_, x.node().input(0)};
    }
    return reshape(x, rows);
  }
  /// A stack of matrices with rows and columns exchanged.
  [[nodiscard]] TWILL_CONSTEXPR Value exchanged(Value x) const {
    return is_transposed(x) ? Value{*graph_, x.node().input(0)} : transpose(x);
  }

  /// A product: of two batches a stack of products, otherwise one product with more rows if no factor is copied for it.
  [[nodiscard]] TWILL_CONSTEXPR Value product() {
    if (node_.shape.rank + 2 > max_rank) {
      graph_->refuse_node(Problem::vmap_gives_a_value_of_more_than_8_axes, id_);
      return filled(*graph_, node_.dtype, with_batch(batch_, node_.shape), 0);
    }
    const Extents all = with_batch(batch_, node_.shape);
    if (is_flat() && !is_batched_[1])
      if (const Value rows = rows_of_all(shared(0)); rows.id() >= 0)
        return reshape(over(rows, shared(1), merged_rows(node_.shape[0], node_.shape[1])), all);
    if (is_flat() && !is_batched_[0]) // (A B)^T = B^T A^T
      if (const Value rows = rows_of_all(exchanged(shared(1))); rows.id() >= 0) {
        const Value y = over(rows, transpose(shared(0)), merged_rows(node_.shape[1], node_.shape[0]));
        Extents apart{};
        apart.append(batch_);
        apart.append(node_.shape[1]);
        apart.append(node_.shape[0]);
        return node_.shape[1].is_one() ? reshape(y, all) : transpose(reshape(y, apart));
      }
    return stacked();
  }
  [[nodiscard]] TWILL_CONSTEXPR Extents merged_rows(Extent rows, Extent columns) const {
    Extents shape{};
    shape.append(batch_ * rows);
    shape.append(columns);
    return shape;
  }

  // Convolutions. Examples with weights of their own are groups of channels, of one convolution over all channels.

  /// (examples, batch, …, channels) as (batch, …, examples channels).
  [[nodiscard]] TWILL_CONSTEXPR Value as_channels(Value x, const Extents& example) const {
    return reshape(with_axis_moved(x, 0, example.rank - 1), of_all_channels(example));
  }
  [[nodiscard]] TWILL_CONSTEXPR Extents of_all_channels(Extents example) const {
    example[example.rank - 1] = batch_ * example[example.rank - 1];
    return example;
  }
  /// The inverse of `as_channels`.
  [[nodiscard]] TWILL_CONSTEXPR Value from_channels(Value x, const Extents& example) const {
    Extents apart = example;
    apart[example.rank - 1] = batch_;
    apart.append(example[example.rank - 1]);
    return with_axis_moved(reshape(x, apart), example.rank - 1, 0);
  }
  [[nodiscard]] TWILL_CONSTEXPR Value as_first(Value x, const Extents& example) const {
    return reshape(x, folded_shape(example));
  }
  /// Makes each group one of each example.
  TWILL_CONSTEXPR void multiply_groups() {
    const auto attribute = [&](int i) { return graph_->attribute(node_, i); };
    const std::int64_t groups = batch_.is_static() ? batch_.factor * attribute(6) : 0; // 0: as the shapes say
    node_.index = graph_->add_attributes(
        {attribute(0), attribute(1), attribute(2), attribute(3), attribute(4), attribute(5), groups});
  }
  [[nodiscard]] constexpr bool has_one_group() const { return graph_->attribute(node_, 6) == 1; }

  /// Operands: images, weights.
  [[nodiscard]] TWILL_CONSTEXPR Value convolution() {
    if (!is_batched_[1]) return shared_weights();
    const Value w = as_first(shared(1), example_of(1));
    const bool is_one_image = !is_batched_[0] && has_one_group();
    const Value x = is_one_image ? shared(0) : as_channels(spread(0), example_of(0));
    if (!is_one_image) multiply_groups();
    return from_channels(over(x, w, of_all_channels(node_.shape)), node_.shape);
  }
  /// Operands: the output's gradients, weights.
  [[nodiscard]] TWILL_CONSTEXPR Value convolution_input_gradient() {
    if (!is_batched_[1]) return shared_weights();
    const Value w = as_first(shared(1), example_of(1));
    multiply_groups();
    return from_channels(over(as_channels(spread(0), example_of(0)), w, of_all_channels(node_.shape)), node_.shape);
  }
  [[nodiscard]] TWILL_CONSTEXPR Value shared_weights() {
    const Value y = over(as_first(shared(0), example_of(0)), shared(1), folded_shape(node_.shape));
    return reshape(y, with_batch(batch_, node_.shape));
  }
  /// Operands: images, the output's gradients.
  [[nodiscard]] TWILL_CONSTEXPR Value convolution_weight_gradient() {
    const bool is_one_image = !is_batched_[0] && has_one_group();
    const Value x = is_one_image ? shared(0) : as_channels(spread(0), example_of(0));
    const Value g = as_channels(spread(1), example_of(1));
    if (!is_one_image) multiply_groups();
    return reshape(over(x, g, folded_shape(node_.shape)), with_batch(batch_, node_.shape));
  }

  Graph* graph_;
  Extent batch_;
  int id_;
  Node node_; ///< of the example; a copy, because emitting moves the nodes
  Few<int, max_inputs> operands_{};
  Few<bool, max_inputs> is_batched_{};
};

}}}} // namespace twill::v0::graph::detail
