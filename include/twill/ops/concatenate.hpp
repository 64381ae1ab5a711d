#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Concatenation of traced values along an axis, each written once into its place, and padding: margins of a number, or
// of the value's own elements reflected at the edges without repeating them. The gradient of a concatenation splits the
// result's gradient again; a margin of numbers passes none, and reflected elements add theirs. Read next:
// ops/slice.hpp.

#include <twill/core/call_site.hpp>
#include <twill/core/config.hpp>
#include <twill/ops/slice.hpp>

#include <bit>
#include <cstdint>
#include <initializer_list>
#include <span>

namespace twill { inline namespace v0 { namespace graph { namespace detail { inline namespace TWILL_ISA {

TWILL_CONSTEXPR void concatenate_vjp(Graph& graph, int node, const Cotangents& cotangents, InputGradients& gradients) {
  const Node self = graph.node(node);
  std::int64_t first = 0;
  for (int i = 0; i < self.arity; ++i) {
    const Extents shape = graph.node(self.input(i)).shape;
    if (gradients.wants(i))
      gradients.set(i, add_operation(slice_operation, {Value{graph, cotangents[0]}}, self.dtype, shape, {first, 1}));
    first += shape[1].factor;
  }
}

}}}}} // namespace twill::v0::graph::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace graph { inline namespace TWILL_ISA {

/// Up to max_inputs parts along the middle of three axes; attribute: their number.
inline constexpr Operation concatenate_operation{
    .name = "concatenate", .vjp = &detail::concatenate_vjp, .wants_dense = true, .batching = Batching::first_axis};

/// Up to max_inputs parts of one type with equal extents except along the axis.
[[nodiscard]] TWILL_CONSTEXPR Value join(const Value* parts, int count, int axis) {
  Graph& graph = parts[0].graph();
  Extents shape = parts[0].shape();
  std::int64_t length = 0;
  Node node{};
  node.kind = Kind::operation;
  node.operation = &concatenate_operation;
  node.dtype = parts[0].dtype();
  for (int i = 0; i < count; ++i) {
    length += parts[i].shape()[axis].factor;
    node.inputs[node.arity++] = detail::around_axis(parts[i], axis).id();
  }
  shape[axis] = {length, 0};
  node.index = graph.add_attributes({count});
  node.shape = detail::with_extent(graph.node(node.input(0)).shape, 1, {length, 0});
  return reshape({graph, graph.add(node)}, shape);
}

/// The values joined in order along an axis, a list in braces or any array of them; element types are promoted.
/// errors: other extents differ, the axis is unknown until run time
[[nodiscard]] TWILL_CONSTEXPR Value concatenate(std::span<const Value> values, int axis = 0,
                                                CallSite site = CallSite::here()) {
  const Value first = values.front();
  Graph& graph = first.graph();
  const int position = checked_axis(first, axis, site);
  DType dtype = first.dtype();
  for (const Value& value : values) {
    dtype = promote(dtype, value.dtype());
    if (value.rank() != first.rank()) {
      graph.refuse(Problem::joined_values_have_different_ranks, first.rank(), value.rank(), site);
      return first;
    }
    for (int i = 0; i < first.rank(); ++i)
      if (i != position && !unify(graph, first.shape()[i], value.shape()[i]))
        graph.refuse(Problem::joined_values_have_different_extents, first.shape()[i].factor, value.shape()[i].factor,
                     site);
    static_cast<void>(first.rank() == 0 ? 0 : value.size(position, site));
  }
  if (first.rank() == 0 || graph.fault.any()) return first;
  Value pending[max_inputs];
  int count = 0;
  for (const Value& value : values) {
    if (count == max_inputs) {
      pending[0] = join(pending, count, position);
      count = 1;
    }
    pending[count++] = cast(value, dtype);
  }
  return count == 1 ? pending[0] : join(pending, count, position);
}
[[nodiscard]] TWILL_CONSTEXPR Value concatenate(std::initializer_list<Value> values, int axis = 0,
                                                CallSite site = CallSite::here()) {
  return concatenate(std::span<const Value>{values.begin(), values.size()}, axis, site);
}

/// Values of one shape along a new axis before `axis`, a list in braces or any array of them.
[[nodiscard]] TWILL_CONSTEXPR Value stack(std::span<const Value> values, int axis = 0,
                                          CallSite site = CallSite::here()) {
  List<Value> wider{};
  for (const Value& value : values) wider.push_back(unsqueeze(value, axis, site));
  const int position = axis < 0 ? axis + wider[0].rank() : axis;
  Value joined = wider[0];
  for (std::size_t i = 1; i < wider.size();) {
    Value parts[max_inputs] = {joined};
    int count = 1;
    while (i < wider.size() && count < max_inputs) parts[count++] = wider[i++];
    for (int k = 1; k < count; ++k) {
      if (parts[k].rank() != joined.rank() || parts[k].dtype() != joined.dtype()) {
        joined.graph().refuse(Problem::joined_values_have_different_ranks, joined.rank(), parts[k].rank(), site);
        return joined;
      }
      for (int d = 0; d < joined.rank(); ++d)
        if (d != position && !unify(joined.graph(), joined.shape()[d], parts[k].shape()[d]))
          joined.graph().refuse(Problem::joined_values_have_different_extents, joined.shape()[d].factor,
                                parts[k].shape()[d].factor, site);
    }
    if (joined.graph().fault.any()) return joined;
    joined = join(parts, count, position);
  }
  return joined;
}
[[nodiscard]] TWILL_CONSTEXPR Value stack(std::initializer_list<Value> values, int axis = 0,
                                          CallSite site = CallSite::here()) {
  return stack(std::span<const Value>{values.begin(), values.size()}, axis, site);
}

/// The elements moved by `shift` places along an axis; elements that leave at the end enter at the front.
[[nodiscard]] TWILL_CONSTEXPR Value roll(Value x, std::int64_t shift, int axis, CallSite site = CallSite::here()) {
  const int position = checked_axis(x, axis, site);
  if (x.rank() == 0) return x;
  const std::int64_t extent = x.size(position, site);
  if (extent < 2 || shift % extent == 0 || x.graph().fault.any()) return x;
  const std::int64_t moved = (shift % extent + extent) % extent;
  return concatenate({narrow(x, position, extent - moved, moved, site), narrow(x, position, 0, extent - moved, site)},
                     position, site);
}

}}}} // namespace twill::v0::graph::TWILL_ISA

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

template <> struct KernelOf<&graph::concatenate_operation> {
  template <class T, class TeamType> static void run(const TeamType& team, const kernel::Launch& launch) {
    const auto parts = static_cast<std::size_t>(launch.attributes[0]);
    const Dims& to = launch.shapes[parts];
    if (to.elements() == 0) return;
    T* target = static_cast<T*>(launch.operands[parts].data);
    for (std::size_t i = 0; i < parts; ++i) {
      const std::int64_t run = launch.shapes[i][1] * to[2];
      move_blocks(team, static_cast<const T*>(launch.operands[i].data), target,
                  kernel::Blocks{.outer = to[0],
                                 .run = run,
                                 .from_outer = run,
                                 .from_count = run,
                                 .to_outer = to[1] * to[2],
                                 .to_count = run});
      target += run;
    }
  }
};

}}} // namespace twill::v0::TWILL_ISA

namespace twill { inline namespace v0 { namespace graph { inline namespace TWILL_ISA {

/// How many elements to add before an axis and after it.
struct Margin {
  std::int64_t before = 0; ///< at the front
  std::int64_t after = 0;  ///< at the end
};

/// The value with elements equal to a number before and after one axis. errors: a negative margin
[[nodiscard]] TWILL_CONSTEXPR Value pad(Value x, int axis, Margin margin, double number = 0,
                                        CallSite site = CallSite::here()) {
  const int position = checked_axis(x, axis, site);
  if (x.rank() == 0) return x;
  if (margin.before < 0 || margin.after < 0)
    x.graph().refuse(Problem::margin_is_negative, margin.before, margin.after, site);
  const std::int64_t extent = x.size(position, site);
  if (x.graph().fault.any() || (margin.before == 0 && margin.after == 0)) return x;
  const Extent wider{margin.before + extent + margin.after, 0};
  const Value parts = detail::around_axis(x, position);
  const Value y = add_operation(place_operation, {parts}, x.dtype(), detail::with_extent(parts.shape(), 1, wider),
                                {margin.before, 1, std::bit_cast<std::int64_t>(number)});
  return reshape(y, detail::with_extent(x.shape(), position, wider));
}

/// The margin with reflected elements of the axis: 2 1 | 0 1 2 | 1 0. errors: a margin not below the extent
[[nodiscard]] TWILL_CONSTEXPR Value pad_reflect(Value x, int axis, Margin margin, CallSite site = CallSite::here()) {
  const int position = checked_axis(x, axis, site);
  if (x.rank() == 0) return x;
  const std::int64_t extent = x.size(position, site);
  if (margin.before < 0 || margin.after < 0)
    x.graph().refuse(Problem::margin_is_negative, margin.before, margin.after, site);
  if (margin.before >= extent || margin.after >= extent)
    x.graph().refuse(Problem::margin_reaches_beyond_the_axis,
                     margin.before > margin.after ? margin.before : margin.after, extent, site);
  if (x.graph().fault.any()) return x;
  const auto reflected = [&](std::int64_t first, std::int64_t length) {
    return flip(narrow(x, position, first, length, site), {position}, site);
  };
  Value y = x;
  if (margin.before > 0) y = concatenate({reflected(1, margin.before), y}, position, site);
  if (margin.after > 0) y = concatenate({y, reflected(extent - 1 - margin.after, margin.after)}, position, site);
  return y;
}

/// The margin with copies of the first and of the last element of the axis: 0 0 | 0 1 2 | 2 2.
/// errors: a negative margin, an axis without elements
[[nodiscard]] TWILL_CONSTEXPR Value pad_replicate(Value x, int axis, Margin margin, CallSite site = CallSite::here()) {
  const int position = checked_axis(x, axis, site);
  if (x.rank() == 0) return x;
  const std::int64_t extent = x.size(position, site);
  if (margin.before < 0 || margin.after < 0)
    x.graph().refuse(Problem::margin_is_negative, margin.before, margin.after, site);
  if (extent < 1) x.graph().refuse(Problem::margin_reaches_beyond_the_axis, margin.before + margin.after, extent, site);
  if (x.graph().fault.any()) return x;
  const auto copies = [&](std::int64_t of, std::int64_t count) {
    return broadcast_to(narrow(x, position, of, 1, site), detail::with_extent(x.shape(), position, {count, 0}));
  };
  Value y = x;
  if (margin.before > 0) y = concatenate({copies(0, margin.before), y}, position, site);
  if (margin.after > 0) y = concatenate({y, copies(extent - 1, margin.after)}, position, site);
  return y;
}

/// The margin with the elements of the axis from its other end: 1 2 | 0 1 2 | 0 1.
/// errors: a negative margin, one larger than the extent
[[nodiscard]] TWILL_CONSTEXPR Value pad_circular(Value x, int axis, Margin margin, CallSite site = CallSite::here()) {
  const int position = checked_axis(x, axis, site);
  if (x.rank() == 0) return x;
  const std::int64_t extent = x.size(position, site);
  if (margin.before < 0 || margin.after < 0)
    x.graph().refuse(Problem::margin_is_negative, margin.before, margin.after, site);
  const std::int64_t larger = margin.before > margin.after ? margin.before : margin.after;
  if (larger > extent) x.graph().refuse(Problem::margin_reaches_beyond_the_axis, larger, extent, site);
  if (x.graph().fault.any()) return x;
  Value y = x;
  if (margin.before > 0)
    y = concatenate({narrow(x, position, extent - margin.before, margin.before, site), y}, position, site);
  if (margin.after > 0) y = concatenate({y, narrow(x, position, 0, margin.after, site)}, position, site);
  return y;
}

}}}} // namespace twill::v0::graph::TWILL_ISA
