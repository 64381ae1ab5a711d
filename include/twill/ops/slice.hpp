#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Slices of a traced value along an axis, with a step, which may be negative, and chunks. The transpose of a slice is
// to place elements into a larger array, `place_operation`, which pads as well; each is the gradient of the other. Read
// next: ops/concatenate.hpp, ops/split.hpp.

#include <twill/compile/program_type.hpp>
#include <twill/core/call_site.hpp>
#include <twill/core/config.hpp>
#include <twill/graph/functions.hpp>
#include <twill/graph/operation.hpp>
#include <twill/graph/shape_functions.hpp>
#include <twill/kernel/blocks.hpp>
#include <twill/tensor/layout.hpp>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace twill { inline namespace v0 { namespace graph { namespace detail { inline namespace TWILL_ISA {

TWILL_CONSTEXPR void slice_vjp(Graph& graph, int node, const Cotangents& cotangents, InputGradients& gradients);
TWILL_CONSTEXPR void place_vjp(Graph& graph, int node, const Cotangents& cotangents, InputGradients& gradients);

}}}}} // namespace twill::v0::graph::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace graph { inline namespace TWILL_ISA {

/// y[o, j, i] = x[o, first + j * step, i]; attributes: first (-1: the last one), step.
inline constexpr Operation slice_operation{
    .name = "slice", .vjp = &detail::slice_vjp, .wants_dense = true, .batching = Batching::first_axis};

/// y[o, first + j * step, i] = x[o, j, i], a number elsewhere; attributes: first, step, the number's bits as a double.
inline constexpr Operation place_operation{
    .name = "place", .vjp = &detail::place_vjp, .wants_dense = true, .batching = Batching::first_axis};

}}}} // namespace twill::v0::graph::TWILL_ISA

namespace twill { inline namespace v0 { namespace graph { namespace detail { inline namespace TWILL_ISA {

TWILL_CONSTEXPR void slice_vjp(Graph& graph, int node, const Cotangents& cotangents, InputGradients& gradients) {
  const Node self = graph.node(node);
  const Extents shape = graph.node(self.input(0)).shape;
  gradients.set(0, add_operation(place_operation, {Value{graph, cotangents[0]}}, self.dtype, shape,
                                 {graph.attribute(self, 0), graph.attribute(self, 1), 0}));
}

TWILL_CONSTEXPR void place_vjp(Graph& graph, int node, const Cotangents& cotangents, InputGradients& gradients) {
  const Node self = graph.node(node);
  const Extents shape = graph.node(self.input(0)).shape;
  gradients.set(0, add_operation(slice_operation, {Value{graph, cotangents[0]}}, self.dtype, shape,
                                 {graph.attribute(self, 0), graph.attribute(self, 1)}));
}

struct Part {
  std::int64_t first = 0;
  std::int64_t count = 0;
};

/// The part of an axis in a slice, by Python's rules.
[[nodiscard]] TWILL_CONSTEXPR Part part_of(const twill::slice& range, std::int64_t extent) {
  const bool forward = range.step > 0;
  const std::int64_t low = forward ? 0 : -1;
  const std::int64_t high = forward ? extent : extent - 1;
  const auto clamp = [&](std::int64_t bound) {
    if (bound < 0) bound += extent;
    return bound < low ? low : bound > high ? high : bound;
  };
  const std::int64_t begin = range.begin ? clamp(*range.begin) : (forward ? low : high);
  const std::int64_t end = range.end ? clamp(*range.end) : (forward ? high : low);
  const std::int64_t distance = forward ? end - begin : begin - end;
  const std::int64_t step = forward ? range.step : -range.step;
  const std::int64_t count = distance > 0 ? (distance + step - 1) / step : 0;
  return {count > 0 ? begin : 0, count};
}

[[nodiscard]] TWILL_CONSTEXPR Value cut(Value x, int axis, std::int64_t first, std::int64_t step, Extent count) {
  const Value parts = around_axis(x, axis);
  const Value y =
      add_operation(slice_operation, {parts}, x.dtype(), with_extent(parts.shape(), 1, count), {first, step});
  return reshape(y, with_extent(x.shape(), axis, count));
}

}}}}} // namespace twill::v0::graph::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace graph { inline namespace TWILL_ISA {

/// Part of an axis, like NumPy's x[begin:end:step]: `slice_axis(x, 1, {.begin = 2, .step = 3})`.
/// errors: an axis that is unknown until run time, except where all of it is taken in order or in reverse; a zero step
[[nodiscard]] TWILL_CONSTEXPR Value slice_axis(Value x, int axis, const twill::slice& range,
                                               CallSite site = CallSite::here()) {
  const int position = checked_axis(x, axis, site);
  if (range.step == 0) x.graph().refuse(Problem::slice_has_a_step_of_zero, axis, 0, site);
  const bool is_whole = !range.begin && !range.end;
  if (is_whole && range.step == 1) return x;
  if (x.rank() == 0 || x.graph().fault.any()) return x;
  if (is_whole && range.step == -1) return detail::cut(x, position, -1, -1, x.shape()[position]);
  const std::int64_t extent = x.size(position, site);
  const detail::Part part = detail::part_of(range, extent);
  if (range.step == 1 && part.count == extent) return x;
  return detail::cut(x, position, part.first, range.step, {part.count, 0});
}

/// `length` elements of an axis from `start` on (negative: from the end), like PyTorch's narrow.
[[nodiscard]] TWILL_CONSTEXPR Value narrow(Value x, int axis, std::int64_t start, std::int64_t length,
                                           CallSite site = CallSite::here()) {
  const int position = checked_axis(x, axis, site);
  if (x.rank() == 0) return x;
  const std::int64_t extent = x.size(position, site);
  const std::int64_t first = start < 0 ? start + extent : start;
  if (first < 0 || length < 0 || first + length > extent)
    x.graph().refuse(Problem::slice_reaches_outside_of_the_axis, first + length, extent, site);
  if (x.graph().fault.any()) return x;
  return slice_axis(x, position, {.begin = first, .end = first + length}, site);
}

/// Element `index` of an axis (negative: from the end); the axis disappears.
[[nodiscard]] TWILL_CONSTEXPR Value select(Value x, int axis, std::int64_t index, CallSite site = CallSite::here()) {
  const int position = checked_axis(x, axis, site);
  const Value one = narrow(x, position, index, 1, site);
  Extents shape{};
  for (int i = 0; i < x.rank(); ++i)
    if (i != position) shape.append(x.shape()[i]);
  return x.graph().fault.any() ? one : reshape(one, shape, site);
}

/// Pieces of ceil(extent / Chunks) elements, the last one smaller, like PyTorch's chunk.
/// errors: an axis so short that there are fewer pieces
template <std::size_t Chunks>
[[nodiscard]] constexpr std::array<Value, Chunks> chunk(Value x, int axis, CallSite site = CallSite::here()) {
  const int position = checked_axis(x, axis, site);
  const std::int64_t extent = x.rank() == 0 ? 0 : x.size(position, site);
  constexpr auto chunks = static_cast<std::int64_t>(Chunks);
  const std::int64_t length = (extent + chunks - 1) / chunks;
  if (length * (chunks - 1) >= extent) x.graph().refuse(Problem::axis_has_fewer_chunks, chunks, extent, site);
  std::array<Value, Chunks> parts{};
  for (std::int64_t i = 0; i < chunks; ++i)
    parts[static_cast<std::size_t>(i)] =
        x.graph().fault.any() ? x : slice_axis(x, position, {.begin = i * length, .end = (i + 1) * length}, site);
  return parts;
}

/// The elements in reverse order along axes.
[[nodiscard]] TWILL_CONSTEXPR Value flip(Value x, std::initializer_list<int> axes, CallSite site = CallSite::here()) {
  for (int axis : axes) x = slice_axis(x, axis, {.step = -1}, site);
  return x;
}

}}}} // namespace twill::v0::graph::TWILL_ISA

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

template <> struct KernelOf<&graph::slice_operation> {
  template <class T, class TeamType> static void run(const TeamType& team, const kernel::Launch& launch) {
    const Dims& from = launch.shapes[0];
    const Dims& to = launch.shapes[1];
    if (to.elements() == 0) return;
    const std::int64_t first = launch.attributes[0] < 0 ? launch.attributes[0] + from[1] : launch.attributes[0];
    move_blocks(team, static_cast<const T*>(launch.operands[0].data) + first * from[2],
                static_cast<T*>(launch.operands[1].data),
                kernel::Blocks{.outer = to[0],
                               .count = to[1],
                               .run = to[2],
                               .from_outer = from[1] * from[2],
                               .from_count = launch.attributes[1] * from[2],
                               .to_outer = to[1] * to[2],
                               .to_count = to[2]});
  }
};

template <> struct KernelOf<&graph::place_operation> {
  template <class T, class TeamType> static void run(const TeamType& team, const kernel::Launch& launch) {
    const Dims& from = launch.shapes[0];
    const Dims& to = launch.shapes[1];
    T* const target = static_cast<T*>(launch.operands[1].data);
    const std::int64_t first = launch.attributes[0] < 0 ? launch.attributes[0] + to[1] : launch.attributes[0];
    if (from.elements() != to.elements())
      fill_elements(team, target,
                    kernel::Filling<T>{to.elements(), static_cast<T>(std::bit_cast<double>(launch.attributes[2]))});
    if (from.elements() == 0) return;
    move_blocks(team, static_cast<const T*>(launch.operands[0].data), target + first * to[2],
                kernel::Blocks{.outer = from[0],
                               .count = from[1],
                               .run = from[2],
                               .from_outer = from[1] * from[2],
                               .from_count = from[2],
                               .to_outer = to[1] * to[2],
                               .to_count = launch.attributes[1] * to[2]});
  }
};

}}} // namespace twill::v0::TWILL_ISA
