#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Functions of traced values that change only the shape: broadcasting, reshaping, transposing. None of them costs a
// kernel where the consumer can read through a view. Read next: graph/operators.hpp.

#include <twill/core/config.hpp>
#include <twill/graph/value.hpp>

#include <initializer_list>
#include <span>

namespace twill { inline namespace v0 { namespace graph {

/// The value as a larger shape, aligned at the right; extents of one repeat.
[[nodiscard]] TWILL_CONSTEXPR Value broadcast_to(Value value, const Extents& target) {
  const Extents shape = value.graph().canonical(target);
  const Node& source = value.node();
  if (source.shape == shape) return value;
  Node node{};
  node.kind = Kind::broadcast;
  node.dtype = source.dtype;
  node.shape = shape;
  node.arity = 1;
  node.inputs[0] = value.id();
  return {value.graph(), value.graph().add(node)};
}

/// The common shape of two operands by NumPy's rules; refuses extents that neither agree nor are one.
[[nodiscard]] TWILL_CONSTEXPR Extents broadcast_shape(Graph& graph, const Extents& left, const Extents& right,
                                                      int line) {
  if (left == right || right.rank == 0) return graph.canonical(left);
  if (left.rank == 0) return graph.canonical(right);
  Extents result{};
  result.rank = left.rank > right.rank ? left.rank : right.rank;
  for (int axis = 0; axis < result.rank; ++axis) {
    const int in_left = axis - (result.rank - left.rank);
    const int in_right = axis - (result.rank - right.rank);
    const Extent a = in_left < 0 ? Extent{} : left[in_left];
    const Extent b = in_right < 0 ? Extent{} : right[in_right];
    if (!a.is_one() && !b.is_one() && !unify(graph, a, b)) {
      if (!a.is_static() && !b.is_static())
        graph.refuse(Problem::two_symbols_must_be_equal, axis, axis, line);
      else
        graph.refuse(Problem::broadcast_extents_differ, a.is_static() ? a.factor : -1, b.is_static() ? b.factor : -1,
                     line);
    }
    result[axis] = graph.canonical(a.is_one() ? b : a);
  }
  return result;
}

/// Gives the elements another shape, in row-major order; never copies.
[[nodiscard]] TWILL_CONSTEXPR Value reshape(Value value, const Extents& target, int line = __builtin_LINE()) {
  const Extents shape = value.graph().canonical(target);
  const Node& source = value.node();
  if (source.shape == shape) return value;
  const Extent before = source.shape.elements();
  const Extent after = shape.elements();
  if (!(before == after)) {
    value.graph().refuse(Problem::reshape_changes_the_number_of_elements, before.factor, after.factor, line);
    return value;
  }
  Node node{};
  node.kind = Kind::reshape;
  node.dtype = source.dtype;
  node.shape = shape;
  node.arity = 1;
  node.inputs[0] = value.id();
  return {value.graph(), value.graph().add(node)};
}

/// Axis d of the result is axis `axes[d]` of the operand.
[[nodiscard]] TWILL_CONSTEXPR Value transpose(Value value, std::initializer_list<int> axes,
                                              int line = __builtin_LINE()) {
  const Node& source = value.node();
  Node node{};
  node.kind = Kind::transpose;
  node.dtype = source.dtype;
  node.arity = 1;
  node.inputs[0] = value.id();
  unsigned seen = 0;
  for (int axis : axes) {
    const int position = checked_axis(value, axis, line);
    seen |= 1u << position;
    node.permutation[static_cast<std::size_t>(node.shape.rank)] = static_cast<std::int8_t>(position);
    node.shape.append(source.shape[position]);
  }
  if (node.shape.rank != source.shape.rank || seen + 1 != 1u << source.shape.rank)
    value.graph().refuse(Problem::transpose_needs_each_axis_once, node.shape.rank, source.shape.rank, line);
  return {value.graph(), value.graph().add(node)};
}

/// Exchanges the last two axes.
[[nodiscard]] TWILL_CONSTEXPR Value transpose(Value value, int line = __builtin_LINE()) {
  const Node& source = value.node();
  const int rank = source.shape.rank;
  if (rank < 2 || rank > max_rank) { // the second is never true; g++ 12 warns of overflow without it
    value.graph().refuse(Problem::axis_is_outside_the_rank, 1, rank, line);
    return value;
  }
  Node node{};
  node.kind = Kind::transpose;
  node.dtype = source.dtype;
  node.arity = 1;
  node.inputs[0] = value.id();
  node.shape = source.shape;
  for (int axis = 0; axis < rank; ++axis)
    node.permutation[static_cast<std::size_t>(axis)] = static_cast<std::int8_t>(axis);
  node.permutation[static_cast<std::size_t>(rank - 1)] = static_cast<std::int8_t>(rank - 2);
  node.permutation[static_cast<std::size_t>(rank - 2)] = static_cast<std::int8_t>(rank - 1);
  node.shape[rank - 1] = source.shape[rank - 2];
  node.shape[rank - 2] = source.shape[rank - 1];
  return {value.graph(), value.graph().add(node)};
}

/// Inserts an axis of extent one in front of `axis` (negative: counted in the result).
[[nodiscard]] TWILL_CONSTEXPR Value unsqueeze(Value value, int axis, int line = __builtin_LINE()) {
  const Extents source = value.shape();
  const int position = axis < 0 ? axis + source.rank + 1 : axis;
  if (position < 0 || position > source.rank) {
    value.graph().refuse(Problem::axis_is_outside_the_rank, axis, source.rank + 1, line);
    return value;
  }
  Extents shape{};
  for (int i = 0; i <= source.rank; ++i) {
    if (i == position) shape.append({});
    if (i < source.rank) shape.append(source[i]);
  }
  return reshape(value, shape, line);
}

/// Merges every axis from `first` on into one.
[[nodiscard]] TWILL_CONSTEXPR Value flatten(Value value, int first = 1, int line = __builtin_LINE()) {
  const Extents source = value.shape();
  Extents shape{};
  Extent tail{};
  for (int axis = 0; axis < source.rank; ++axis) {
    if (axis < first)
      shape.append(source[axis]);
    else
      tail = tail * source[axis];
  }
  shape.append(tail);
  return reshape(value, shape, line);
}

/// Splits one axis (negative: from the end) into several, whose extents multiply to its own.
[[nodiscard]] TWILL_CONSTEXPR Value unflatten(Value value, int axis, std::initializer_list<std::int64_t> extents,
                                              int line = __builtin_LINE()) {
  const Extents source = value.shape();
  const int position = checked_axis(value, axis, line);
  Extents shape{};
  for (int i = 0; i < source.rank; ++i) {
    if (i != position)
      shape.append(source[i]);
    else
      for (std::int64_t extent : extents) shape.append({extent, 0});
  }
  return reshape(value, shape, line);
}

}}} // namespace twill::v0::graph

namespace twill { inline namespace v0 { namespace graph { namespace detail { inline namespace TWILL_ISA {

/// The value as (outer, axis, inner).
[[nodiscard]] TWILL_CONSTEXPR Value around_axis(Value x, int axis) {
  const Extents shape = x.shape();
  Extents around{};
  around.rank = 3;
  for (int i = 0; i < shape.rank; ++i) {
    Extent& part = around[i < axis ? 0 : i == axis ? 1 : 2];
    part = part * shape[i];
  }
  return reshape(x, around);
}

/// The shape with another extent along an axis.
[[nodiscard]] TWILL_CONSTEXPR Extents with_extent(Extents shape, int axis, Extent extent) {
  shape[axis] = extent;
  return shape;
}

}}}}} // namespace twill::v0::graph::detail::TWILL_ISA
