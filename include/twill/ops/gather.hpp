#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Gather and scatter of traced values by tensors of indices. Negative indices count from the end. An index in an input
// of the function that is outside of the axis is refused before a run, see compile/run/integer_bounds.hpp. A computed
// one, and any on a GPU unless the run is watched, reads zeros and adds nothing. Sums follow the order of the indices:
// the bits do not depend on the number of threads. Read next: nn/embedding.hpp.

#include <twill/compile/program_type.hpp>
#include <twill/core/call_site.hpp>
#include <twill/core/config.hpp>
#include <twill/graph/operation.hpp>
#include <twill/graph/reductions.hpp>
#include <twill/graph/shape_functions.hpp>
#include <twill/kernel/blocks.hpp>

#include <cstdint>

namespace twill { inline namespace v0 { namespace graph { namespace detail { inline namespace TWILL_ISA {

TWILL_CONSTEXPR void gather_vjp(Graph& graph, int node, const Cotangents& cotangents, InputGradients& gradients);
TWILL_CONSTEXPR void scatter_vjp(Graph& graph, int node, const Cotangents& cotangents, InputGradients& gradients);

}}}}} // namespace twill::v0::graph::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace graph { inline namespace TWILL_ISA {

/// y[o, j, i] = x[o, index[o, j, i], i]; extents of one in the index repeat.
inline constexpr Operation gather_operation{
    .name = "gather", .vjp = &detail::gather_vjp, .wants_dense = true, .batching = Batching::look_up};

/// y[o, index[o, j, i], i] = the sum of x[o, j, i]; 0 where no index points.
inline constexpr Operation scatter_operation{.name = "scatter_add",
                                             .vjp = &detail::scatter_vjp,
                                             .wants_dense = true,
                                             .batching = Batching::first_axis,
                                             .shared_operand = 1};

}}}} // namespace twill::v0::graph::TWILL_ISA

namespace twill { inline namespace v0 { namespace graph { namespace detail { inline namespace TWILL_ISA {

/// Sums of narrow floats run in float32. `shape` is (outer, extent, inner).
[[nodiscard]] TWILL_CONSTEXPR Value scattered(Value x, Value index, const Extents& shape) {
  const bool is_narrow = x.dtype() == DType::float16 || x.dtype() == DType::bfloat16;
  const Value wide = is_narrow ? cast(x, DType::float32) : x;
  return cast(add_operation(scatter_operation, {wide, index}, wide.dtype(), shape), x.dtype());
}

TWILL_CONSTEXPR void gather_vjp(Graph& graph, int node, const Cotangents& cotangents, InputGradients& gradients) {
  const Node self = graph.node(node);
  const Extents shape = graph.node(self.input(0)).shape;
  if (gradients.wants(0)) gradients.set(0, scattered({graph, cotangents[0]}, {graph, self.input(1)}, shape));
}

TWILL_CONSTEXPR void scatter_vjp(Graph& graph, int node, const Cotangents& cotangents, InputGradients& gradients) {
  const Node self = graph.node(node);
  const Extents shape = graph.node(self.input(0)).shape;
  if (gradients.wants(0))
    gradients.set(0, add_operation(gather_operation, {Value{graph, cotangents[0]}, Value{graph, self.input(1)}},
                                   self.dtype, shape));
}

/// Refuses indices that are not integers, and in a run those outside of an axis of this extent; int64 otherwise.
[[nodiscard]] TWILL_CONSTEXPR Value checked_index(Value index, Extent extent, bool from_end, CallSite site) {
  if (is_floating(index.dtype()) || index.dtype() == DType::boolean)
    index.graph().refuse(Problem::indices_are_not_integers, static_cast<int>(index.dtype()), 0, site);
  index.graph().require_within(index.id(), {.what = "an index", .counts_from_end = from_end, .end = extent});
  return cast(index, DType::int64);
}

/// The shape of an index along an axis: x's with another extent there.
[[nodiscard]] TWILL_CONSTEXPR Value index_along(Value x, Value index, int axis, CallSite site) {
  Graph& graph = x.graph();
  const Extents shape = x.shape();
  if (index.rank() != shape.rank) {
    graph.refuse(Problem::index_has_another_rank, index.rank(), shape.rank, site);
    return index;
  }
  Extents wanted = index.shape();
  for (int i = 0; i < shape.rank; ++i) {
    if (i == axis) continue;
    if (!wanted[i].is_one() && !unify(graph, wanted[i], shape[i]))
      graph.refuse(Problem::index_has_another_extent, wanted[i].factor, shape[i].factor, site);
    wanted[i] = graph.canonical(shape[i]);
  }
  return broadcast_to(checked_index(index, shape[axis], true, site), wanted);
}

}}}}} // namespace twill::v0::graph::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace graph { inline namespace TWILL_ISA {

/// The slices of an axis selected by an index of any shape; the index's axes replace that axis, like NumPy's take.
/// errors: an index that is no integer    throws: IndexError in a run, for an input outside of the axis
[[nodiscard]] TWILL_CONSTEXPR Value take(Value x, Value index, int axis = 0, CallSite site = CallSite::here()) {
  const int position = checked_axis(x, axis, site);
  const Extents shape = x.shape();
  const Extents chosen = index.shape();
  if (shape.rank == 0 || shape.rank - 1 + chosen.rank > max_rank) {
    x.graph().refuse(Problem::axis_is_outside_the_rank, shape.rank - 1 + chosen.rank, max_rank, site);
    return x;
  }
  Extents result{};
  for (int i = 0; i < shape.rank; ++i) {
    if (i != position) result.append(shape[i]);
    for (int k = 0; i == position && k < chosen.rank; ++k) result.append(chosen[k]);
  }
  Extents line_of_indices{};
  line_of_indices.append({});
  line_of_indices.append(chosen.elements());
  line_of_indices.append({});
  const Value flat = reshape(detail::checked_index(index, shape[position], true, site), line_of_indices);
  const Value parts = detail::around_axis(x, position);
  const Extents gathered = detail::with_extent(parts.shape(), 1, chosen.elements());
  return reshape(add_operation(gather_operation, {parts, flat}, x.dtype(), gathered), result);
}

/// The slices of an axis selected by an index of one axis, with PyTorch's name and order of arguments.
[[nodiscard]] TWILL_CONSTEXPR Value index_select(Value x, int axis, Value index, CallSite site = CallSite::here()) {
  if (index.rank() != 1) x.graph().refuse(Problem::index_has_another_rank, index.rank(), 1, site);
  return take(x, index, axis, site);
}

/// y[i, j, k] = x[i, index[i, j, k], k] for axis 1; extents of one in the index broadcast along the other axes.
[[nodiscard]] TWILL_CONSTEXPR Value take_along_axis(Value x, Value index, int axis, CallSite site = CallSite::here()) {
  const int position = checked_axis(x, axis, site);
  const Value along = detail::index_along(x, index, position, site);
  if (x.rank() == 0 || x.graph().fault.any()) return x;
  const Value places = detail::around_axis(along, position);
  const Value y =
      add_operation(gather_operation, {detail::around_axis(x, position), places}, x.dtype(), places.shape());
  return reshape(y, along.shape());
}

/// x with values added at indices along an axis: x[index[i], j] += values[i, j] for axis 0. Values have the shape of
/// the index. Several for one place are added in order.
[[nodiscard]] TWILL_CONSTEXPR Value scatter_add(Value x, int axis, Value index, Value values,
                                                CallSite site = CallSite::here()) {
  const int position = checked_axis(x, axis, site);
  const Value along = detail::index_along(x, index, position, site);
  if (x.rank() == 0 || x.graph().fault.any()) return x;
  const Value aligned = broadcast_to(cast(values, x.dtype()), along.shape());
  const Value sums = detail::scattered(detail::around_axis(aligned, position), detail::around_axis(along, position),
                                       detail::around_axis(x, position).shape());
  return x + reshape(sums, x.shape());
}

/// x with slices added along an axis: x[index[i]] += values[i] for axis 0, like PyTorch's index_add.
[[nodiscard]] TWILL_CONSTEXPR Value index_add(Value x, int axis, Value index, Value values,
                                              CallSite site = CallSite::here()) {
  const int position = checked_axis(x, axis, site);
  if (index.rank() != 1) x.graph().refuse(Problem::index_has_another_rank, index.rank(), 1, site);
  if (x.rank() == 0 || x.graph().fault.any()) return x;
  Extents shape{};
  shape.append({});
  shape.append(index.shape()[0]);
  shape.append({});
  const Value aligned =
      broadcast_to(cast(values, x.dtype()), detail::with_extent(x.shape(), position, index.shape()[0]));
  const Value sums = detail::scattered(detail::around_axis(aligned, position),
                                       reshape(detail::checked_index(index, x.shape()[position], true, site), shape),
                                       detail::around_axis(x, position).shape());
  return x + reshape(sums, x.shape());
}

/// A new last axis that is 1 at the index and 0 elsewhere; all 0 for a computed index outside of [0, classes). It has
/// no kernel of its own.    throws: IndexError in a run, for an input outside of them
[[nodiscard]] TWILL_CONSTEXPR Value one_hot(Value index, std::int64_t classes, DType dtype = DType::int64,
                                            CallSite site = CallSite::here()) {
  Extents shape{};
  shape.append({classes, 0});
  return cast(
      equal(unsqueeze(detail::checked_index(index, {classes, 0}, false, site), -1, site), iota(index.graph(), shape)),
      dtype);
}

}}}} // namespace twill::v0::graph::TWILL_ISA

namespace twill { inline namespace v0 { namespace detail { inline namespace TWILL_ISA {

[[nodiscard]] TWILL_CONSTEXPR kernel::IndexedBlocks indexed_blocks(const Dims& small, const Dims& large,
                                                                   const Dims& index) {
  return {.outer = small[0],
          .places = small[1],
          .extent = large[1],
          .inner = small[2],
          .index_outer = index[0] == 1 ? 0 : index[1] * index[2],
          .index_place = index[2],
          .index_inner = index[2] == 1 ? 0 : 1};
}

}}}} // namespace twill::v0::detail::TWILL_ISA

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

template <> struct KernelOf<&graph::gather_operation> {
  template <class T, class TeamType> static void run(const TeamType& team, const kernel::Launch& launch) {
    gather_blocks(team, static_cast<const T*>(launch.operands[0].data),
                  static_cast<const std::int64_t*>(launch.operands[1].data), static_cast<T*>(launch.operands[2].data),
                  detail::indexed_blocks(launch.shapes[2], launch.shapes[0], launch.shapes[1]));
  }
};

template <> struct KernelOf<&graph::scatter_operation> {
  template <class T, class TeamType> static void run(const TeamType& team, const kernel::Launch& launch) {
    scatter_sums(team, static_cast<const T*>(launch.operands[0].data),
                 static_cast<const std::int64_t*>(launch.operands[1].data), static_cast<T*>(launch.operands[2].data),
                 detail::indexed_blocks(launch.shapes[0], launch.shapes[2], launch.shapes[1]));
  }
};

}}} // namespace twill::v0::TWILL_ISA
