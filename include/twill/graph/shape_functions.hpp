#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Functions of traced values that change only the shape: broadcasting, reshaping, transposing. None of them costs a
// kernel where the consumer can read through a view. Read next: graph/operators.hpp.

#include <twill/core/call_site.hpp>
#include <twill/core/config.hpp>
#include <twill/graph/value.hpp>

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <span>

namespace twill { inline namespace v0 { namespace graph {

/// The value as a larger shape, aligned at the right; extents of one repeat.
[[nodiscard]] TWILL_CONSTEXPR Value broadcast_to(Value value, const Extents& target) {
  const Node& source = value.node();
  if (source.shape == target) return value;
  Node node{};
  node.kind = Kind::broadcast;
  node.dtype = source.dtype;
  node.shape = target;
  if (value.graph().make_canonical(node.shape) && source.shape == node.shape) return value;
  node.arity = 1;
  node.inputs[0] = value.id();
  return {value.graph(), value.graph().add(node)};
}

namespace detail {
/// "batch and time", as far as the extents have names.
[[nodiscard]] TWILL_CONSTEXPR Name names_of(const Graph& graph, Extent a, Extent b) {
  Name names{};
  for (const Extent extent : {a, b}) {
    const int symbol = extent.single_symbol();
    if (symbol < 0 || graph.symbols[static_cast<std::size_t>(symbol)].name.size == 0) continue;
    if (names.size > 0) names.append(" and ");
    names.append(graph.symbols[static_cast<std::size_t>(symbol)].name.view());
  }
  return names;
}
} // namespace detail

/// The common shape of two operands by NumPy's rules; refuses extents that neither agree nor are one.
[[nodiscard]] TWILL_CONSTEXPR Extents broadcast_shape(Graph& graph, const Extents& left, const Extents& right,
                                                      CallSite site) {
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
        graph.refuse(Problem::two_symbols_must_be_equal, axis, axis, site,
                     Named::dimension(detail::names_of(graph, a, b).view()));
      else
        graph.refuse(Problem::broadcast_extents_differ, a.is_static() ? a.factor : -1, b.is_static() ? b.factor : -1,
                     site);
    }
    result[axis] = graph.canonical(a.is_one() ? b : a);
  }
  return result;
}

/// Gives the elements another shape, in row-major order; never copies. One extent may be -1: it follows from the
/// others.
[[nodiscard]] TWILL_CONSTEXPR Value reshape(Value value, const Extents& target, CallSite site = CallSite::here()) {
  Extents shape = value.graph().canonical(target);
  const Node& source = value.node();
  for (int axis = 0; axis < shape.rank; ++axis) {
    if (shape[axis].factor >= 0) continue;
    Extent others = shape.elements();
    others.factor /= shape[axis].factor; // a further one leaves it negative
    const Extent found = shape[axis].factor == -1 && others.factor > 0 ? quotient(source.shape.elements(), others) : -1;
    if (found.factor < 0) {
      value.graph().refuse(Problem::reshape_changes_the_number_of_elements, source.shape.elements().factor,
                           others.factor, site);
      return value;
    }
    shape[axis] = found;
  }
  if (source.shape == shape) return value;
  const Extent before = source.shape.elements();
  const Extent after = shape.elements();
  if (!(before == after)) {
    value.graph().refuse(Problem::reshape_changes_the_number_of_elements, before.factor, after.factor, site);
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
                                              CallSite site = CallSite::here()) {
  const Node& source = value.node();
  Node node{};
  node.kind = Kind::transpose;
  node.dtype = source.dtype;
  node.arity = 1;
  node.inputs[0] = value.id();
  unsigned seen = 0;
  for (int axis : axes) {
    const int position = checked_axis(value, axis, site);
    seen |= 1u << position;
    node.permutation[static_cast<std::size_t>(node.shape.rank)] = static_cast<std::int8_t>(position);
    node.shape.append(source.shape[position]);
  }
  if (node.shape.rank != source.shape.rank || seen + 1 != 1u << source.shape.rank)
    value.graph().refuse(Problem::transpose_needs_each_axis_once, node.shape.rank, source.shape.rank, site);
  return {value.graph(), value.graph().add(node)};
}

namespace detail {

/// Axis d of the result is axis `source_of(d)` of the operand.
template <class F> [[nodiscard]] constexpr Value reordered(Value value, F source_of) {
  const Node& source = value.node();
  const int rank = source.shape.rank;
  Node node{};
  node.kind = Kind::transpose;
  node.dtype = source.dtype;
  node.arity = 1;
  node.inputs[0] = value.id();
  for (int axis = 0; axis < rank; ++axis) {
    node.permutation[static_cast<std::size_t>(axis)] = static_cast<std::int8_t>(source_of(axis));
    node.shape.append(source.shape[source_of(axis)]);
  }
  return {value.graph(), value.graph().add(node)};
}

} // namespace detail

/// Exchanges the last two axes.
[[nodiscard]] TWILL_CONSTEXPR Value transpose(Value value, CallSite site = CallSite::here()) {
  const int rank = value.rank();
  if (rank < 2) {
    value.graph().refuse(Problem::axis_is_outside_the_rank, 1, rank, site);
    return value;
  }
  return detail::reordered(value, [rank](int axis) {
    return axis == rank - 1 ? rank - 2 : axis == rank - 2 ? rank - 1 : axis;
  });
}

/// Inserts an axis of extent one in front of `axis` (negative: counted in the result).
[[nodiscard]] TWILL_CONSTEXPR Value unsqueeze(Value value, int axis, CallSite site = CallSite::here()) {
  const Extents source = value.shape();
  const int position = axis < 0 ? axis + source.rank + 1 : axis;
  if (position < 0 || position > source.rank) {
    value.graph().refuse(Problem::axis_is_outside_the_rank, axis, source.rank + 1, site);
    return value;
  }
  Extents shape{};
  for (int i = 0; i <= source.rank; ++i) {
    if (i == position) shape.append({});
    if (i < source.rank) shape.append(source[i]);
  }
  return reshape(value, shape, site);
}

/// Merges the axes from `first` to `last` into one; negative ones count from the end.
[[nodiscard]] TWILL_CONSTEXPR Value flatten(Value value, int first = 1, int last = -1,
                                            CallSite site = CallSite::here()) {
  const Extents source = value.shape();
  const int from = checked_axis(value, first, site);
  const int to = checked_axis(value, last, site);
  if (from > to) {
    value.graph().refuse(Problem::axis_is_outside_the_rank, first, to + 1, site);
    return value;
  }
  Extents shape{};
  for (int axis = 0; axis < source.rank; ++axis) {
    if (axis <= from || axis > to)
      shape.append(source[axis]);
    else
      shape[from] = shape[from] * source[axis];
  }
  return reshape(value, shape, site);
}

/// Splits one axis (negative: from the end) into several, whose extents multiply to its own.
[[nodiscard]] TWILL_CONSTEXPR Value unflatten(Value value, int axis, std::initializer_list<std::int64_t> extents,
                                              CallSite site = CallSite::here()) {
  const Extents source = value.shape();
  const int position = checked_axis(value, axis, site);
  Extents shape{};
  for (int i = 0; i < source.rank; ++i) {
    if (i != position)
      shape.append(source[i]);
    else
      for (std::int64_t extent : extents) shape.append({extent, 0});
  }
  return reshape(value, shape, site);
}

/// Drops an axis of extent 1 (negative: from the end).
[[nodiscard]] TWILL_CONSTEXPR Value squeeze(Value value, int axis, CallSite site = CallSite::here()) {
  const Extents source = value.shape();
  const int position = checked_axis(value, axis, site);
  if (source.rank == 0) return value;
  if (!source[position].is_one())
    value.graph().refuse(Problem::squeezed_axis_must_have_extent_one, axis, source[position].factor, site);
  Extents shape{};
  for (int i = 0; i < source.rank; ++i)
    if (i != position) shape.append(source[i]);
  return value.graph().fault.any() ? value : reshape(value, shape, site);
}

template <int A, int B> constexpr Value Value::transpose(CallSite site) const {
  const int a = checked_axis(*this, A, site);
  const int b = checked_axis(*this, B, site);
  return detail::reordered(*this, [&](int axis) { return axis == a ? b : axis == b ? a : axis; });
}
template <class> constexpr Value Value::transpose(CallSite) const {
  return detail::reordered(*this, [last = rank() - 1](int axis) { return last - axis; });
}
template <int... Order> constexpr Value Value::permute(CallSite site) const {
  return graph::transpose(*this, {Order...}, site);
}
template <std::integral... Numbers> constexpr Value Value::reshape(Numbers... extents) const {
  return graph::reshape(*this, {static_cast<std::int64_t>(extents)...});
}
template <int First, int Last> constexpr Value Value::flatten(CallSite site) const {
  return rank() == 0 ? graph::unsqueeze(*this, 0, site) : graph::flatten(*this, First, Last, site);
}
template <int Axis> constexpr Value Value::unsqueeze(CallSite site) const {
  return graph::unsqueeze(*this, Axis, site);
}
template <int Axis> constexpr Value Value::squeeze(CallSite site) const { return graph::squeeze(*this, Axis, site); }

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
