#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Collective operations on the ranks along an axis, as nodes of a traced function; their gradients are such nodes, too.
// There are two conventions. `all_reduce`, `all_gather` and `reduce_scatter` are adjoint to each other if each rank has
// its own loss and their sum counts. The pairs copy_to and reduce_from, split_to and gather_from are for values equal
// on all ranks under a loss that all compute alike (Shoeybi et al., Megatron-LM, 2019, section 3): they are copied or
// split before ranks differ, reduced or gathered after. Read next: nn/tensor_parallel.hpp.

#include <twill/core/call_site.hpp>
#include <twill/core/config.hpp>
#include <twill/graph/functions.hpp>
#include <twill/graph/operation.hpp>
#include <twill/graph/ranks.hpp>
#include <twill/graph/shape_functions.hpp>
#include <twill/ops/gather.hpp>

#include <cstdint>

namespace twill { inline namespace v0 { namespace graph { namespace detail { inline namespace TWILL_ISA {

TWILL_CONSTEXPR void all_reduce_vjp(Graph& graph, int node, const Cotangents& cotangents, InputGradients& gradients);
TWILL_CONSTEXPR void all_gather_vjp(Graph& graph, int node, const Cotangents& cotangents, InputGradients& gradients);
TWILL_CONSTEXPR void reduce_scatter_vjp(Graph& graph, int node, const Cotangents& cotangents,
                                        InputGradients& gradients);
TWILL_CONSTEXPR void copy_to_vjp(Graph& graph, int node, const Cotangents& cotangents, InputGradients& gradients);
TWILL_CONSTEXPR void reduce_from_vjp(Graph& graph, int node, const Cotangents& cotangents, InputGradients& gradients);
TWILL_CONSTEXPR void split_to_vjp(Graph& graph, int node, const Cotangents& cotangents, InputGradients& gradients);
TWILL_CONSTEXPR void gather_from_vjp(Graph& graph, int node, const Cotangents& cotangents, InputGradients& gradients);

}}}}} // namespace twill::v0::graph::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace graph { inline namespace TWILL_ISA {

// Attributes of all: the name and the size of the axis of ranks, the reduction. A gathered result, or an input to be
// scattered, has a first axis with a part for each rank.

/// The sum of all ranks' values, on each of them.
inline constexpr Operation all_reduce_operation{.name = "all_reduce",
                                                .vjp = &detail::all_reduce_vjp,
                                                .wants_dense = true,
                                                .collective = kernel::Collective::all_reduce};
/// All ranks' parts, one after the other along the first axis, on each of them.
inline constexpr Operation all_gather_operation{.name = "all_gather",
                                                .vjp = &detail::all_gather_vjp,
                                                .wants_dense = true,
                                                .collective = kernel::Collective::all_gather};
/// The sum of all ranks' values; each rank keeps its part.
inline constexpr Operation reduce_scatter_operation{.name = "reduce_scatter",
                                                    .vjp = &detail::reduce_scatter_vjp,
                                                    .wants_dense = true,
                                                    .collective = kernel::Collective::reduce_scatter};
/// The rule of a value that passes unchanged, without a kernel.
inline constexpr Operation copy_to_rule{.name = "copy_to", .vjp = &detail::copy_to_vjp};
/// The sum over ranks, whose gradient passes unchanged.
inline constexpr Operation reduce_from_operation{.name = "reduce_from",
                                                 .vjp = &detail::reduce_from_vjp,
                                                 .wants_dense = true,
                                                 .collective = kernel::Collective::all_reduce};
/// This rank's (outer, 1, inner) of (outer, ranks, inner); input 1, of one element, is the rank.
inline constexpr Operation split_to_operation{.name = "split_to", .vjp = &detail::split_to_vjp, .wants_dense = true};
/// All ranks' parts, whose gradient is this rank's part.
inline constexpr Operation gather_from_operation{.name = "gather_from",
                                                 .vjp = &detail::gather_from_vjp,
                                                 .wants_dense = true,
                                                 .collective = kernel::Collective::all_gather};

/// A call of a group of ranks, whose result has this shape.
[[nodiscard]] TWILL_CONSTEXPR Value on_ranks(const Operation& operation, Value x, const kernel::AxisId& ranks,
                                             const Extents& shape, Reduction reduction = Reduction::sum,
                                             CallSite site = {}) {
  if (x.graph().open_loop >= 0) x.graph().refuse(Problem::ranks_work_together_outside_of_scans_only, 0, 0, site);
  return add_operation(operation, {x}, x.dtype(), shape,
                       {ranks.low, ranks.high, ranks.size, static_cast<std::int64_t>(reduction)});
}

}}}} // namespace twill::v0::graph::TWILL_ISA

namespace twill { inline namespace v0 { namespace graph { namespace detail { inline namespace TWILL_ISA {

[[nodiscard]] TWILL_CONSTEXPR kernel::AxisId ranks_of(const Graph& graph, const Node& node) {
  return {graph.attribute(node, 0), graph.attribute(node, 1), graph.attribute(node, 2)};
}

/// The shape (ranks, …) for (…).
[[nodiscard]] TWILL_CONSTEXPR Extents parts_of(const kernel::AxisId& ranks, const Extents& part) {
  Extents shape{};
  shape.append({ranks.size, 0});
  for (int i = 0; i < part.rank; ++i) shape.append(part[i]);
  return shape;
}
[[nodiscard]] TWILL_CONSTEXPR Extents part_of(const Extents& parts) {
  Extents shape{};
  for (int i = 1; i < parts.rank; ++i) shape.append(parts[i]);
  return shape;
}

/// The part of this rank, (outer, 1, inner), of (outer, ranks, inner).
[[nodiscard]] TWILL_CONSTEXPR Value own_part(Value parts, const kernel::AxisId& ranks) {
  Graph& graph = parts.graph();
  Extents one{};
  for (int i = 0; i < 3; ++i) one.append({});
  const Value which = reshape(rank_along(graph, ranks), one);
  return add_operation(split_to_operation, {parts, which}, parts.dtype(), with_extent(parts.shape(), 1, {}),
                       {ranks.low, ranks.high, ranks.size, 0});
}

/// The parts of all ranks, (outer, ranks, inner), from (outer, 1, inner).
[[nodiscard]] TWILL_CONSTEXPR Value all_parts(const Operation& operation, Value part, const kernel::AxisId& ranks,
                                              CallSite site = {}) {
  Extents flat{};
  flat.append(part.shape()[0]);
  flat.append(part.shape()[2]);
  const Value gathered = on_ranks(operation, reshape(part, flat), ranks, parts_of(ranks, flat), Reduction::sum, site);
  return transpose(gathered, {1, 0, 2});
}

TWILL_CONSTEXPR void all_reduce_vjp(Graph& graph, int node, const Cotangents& cotangents, InputGradients& gradients) {
  const Node self = graph.node(node);
  if (static_cast<Reduction>(graph.attribute(self, 3)) != Reduction::sum)
    return graph.refuse_node(Problem::operation_has_no_gradient, node, Named::operation(self.operation->name));
  gradients.set(0, on_ranks(all_reduce_operation, {graph, cotangents[0]}, ranks_of(graph, self), self.shape));
}

TWILL_CONSTEXPR void all_gather_vjp(Graph& graph, int node, const Cotangents& cotangents, InputGradients& gradients) {
  const Node self = graph.node(node);
  gradients.set(0,
                on_ranks(reduce_scatter_operation, {graph, cotangents[0]}, ranks_of(graph, self), part_of(self.shape)));
}

TWILL_CONSTEXPR void reduce_scatter_vjp(Graph& graph, int node, const Cotangents& cotangents,
                                        InputGradients& gradients) {
  const Node self = graph.node(node);
  const kernel::AxisId ranks = ranks_of(graph, self);
  gradients.set(0, on_ranks(all_gather_operation, {graph, cotangents[0]}, ranks, parts_of(ranks, self.shape)));
}

/// The value unchanged, whose gradients are summed over all ranks; `attributes` are those of the axis.
[[nodiscard]] TWILL_CONSTEXPR Value copied_to(Value x, int attributes) {
  Node node{};
  node.kind = Kind::rule;
  node.operation = &copy_to_rule;
  node.dtype = x.dtype();
  node.shape = x.shape();
  node.index = attributes;
  node.arity = 1;
  node.inputs[0] = x.id();
  return {x.graph(), x.graph().add(node)};
}

TWILL_CONSTEXPR void copy_to_vjp(Graph& graph, int node, const Cotangents& cotangents, InputGradients& gradients) {
  const Node self = graph.node(node);
  gradients.set(0, on_ranks(reduce_from_operation, {graph, cotangents[0]}, ranks_of(graph, self), self.shape));
}

TWILL_CONSTEXPR void reduce_from_vjp(Graph& graph, int node, const Cotangents& cotangents, InputGradients& gradients) {
  gradients.set(0, copied_to({graph, cotangents[0]}, graph.node(node).index));
}

TWILL_CONSTEXPR void split_to_vjp(Graph& graph, int node, const Cotangents& cotangents, InputGradients& gradients) {
  const Node self = graph.node(node);
  gradients.set(0, all_parts(gather_from_operation, {graph, cotangents[0]}, ranks_of(graph, self)));
}

TWILL_CONSTEXPR void gather_from_vjp(Graph& graph, int node, const Cotangents& cotangents, InputGradients& gradients) {
  const Node self = graph.node(node);
  const kernel::AxisId ranks = ranks_of(graph, self);
  Extents parts{};
  parts.append({});
  parts.append({ranks.size, 0});
  parts.append(part_of(self.shape).elements());
  const Value own = own_part(reshape(Value{graph, cotangents[0]}, parts), ranks);
  gradients.set(0, reshape(own, part_of(self.shape)));
}

/// The axis of x as (outer, ranks, inner) parts. errors: ranks that do not divide it
[[nodiscard]] TWILL_CONSTEXPR Value in_parts(Value x, int axis, const kernel::AxisId& ranks, CallSite site) {
  Extents shape = x.shape();
  const Extent extent = shape[axis];
  if (extent.factor % ranks.size != 0) {
    x.graph().refuse(Problem::ranks_do_not_divide_the_axis, ranks.size, extent.factor, site);
    return x;
  }
  Extents around{};
  Extent outer{};
  Extent inner{extent.factor / ranks.size, extent.symbols};
  for (int i = 0; i < axis; ++i) outer = outer * shape[i];
  for (int i = axis + 1; i < shape.rank; ++i) inner = inner * shape[i];
  around.append(outer);
  around.append({ranks.size, 0});
  around.append(inner);
  return reshape(x, around, site);
}

/// The shape with the extent of an axis times the ranks, or divided by them.
[[nodiscard]] TWILL_CONSTEXPR Extents whole_of(Extents shape, int axis, const kernel::AxisId& ranks) {
  shape[axis].factor *= ranks.size;
  return shape;
}
[[nodiscard]] TWILL_CONSTEXPR Extents share_of(Extents shape, int axis, const kernel::AxisId& ranks) {
  shape[axis].factor /= ranks.size;
  return shape;
}

/// The parts of all ranks along an axis of x.
[[nodiscard]] TWILL_CONSTEXPR Value gathered(const Operation& operation, Value x, int axis, const kernel::AxisId& ranks,
                                             CallSite site) {
  const int position = checked_axis(x, axis, site);
  if (x.rank() == 0 || x.graph().fault.any()) return x;
  const Extents shape = x.shape();
  Extents around{};
  Extent outer{};
  Extent inner{};
  for (int i = 0; i < shape.rank; ++i) (i < position ? outer : inner) = (i < position ? outer : inner) * shape[i];
  around.append(outer);
  around.append({});
  around.append(inner);
  return reshape(all_parts(operation, reshape(x, around, site), ranks, site), whole_of(shape, position, ranks), site);
}

}}}}} // namespace twill::v0::graph::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace graph { inline namespace TWILL_ISA {

/// The reduction of the values of all ranks, on every rank. Gradients, of sums only, are summed.
template <AnyRankAxis A>
[[nodiscard]] constexpr Value all_reduce(Value x, Reduction reduction = Reduction::sum,
                                         CallSite site = CallSite::here()) {
  return A::size == 1 ? x : on_ranks(all_reduce_operation, x, A::id, x.shape(), reduction, site);
}

/// The values of all ranks joined along an axis, in order of rank. The gradient is reduced and scattered.
template <AnyRankAxis A> [[nodiscard]] constexpr Value all_gather(Value x, int axis, CallSite site = CallSite::here()) {
  return A::size == 1 ? x : detail::gathered(all_gather_operation, x, axis, A::id, site);
}

/// This rank's part, along an axis, of the sum of the values of all ranks. The gradient is gathered.
/// errors: ranks that do not divide the axis
template <AnyRankAxis A>
[[nodiscard]] constexpr Value reduce_scatter(Value x, int axis, CallSite site = CallSite::here()) {
  const int position = checked_axis(x, axis, site);
  if (A::size == 1 || x.rank() == 0) return x;
  const Value parts = transpose(detail::in_parts(x, position, A::id, site), {1, 0, 2}, site);
  if (x.graph().fault.any()) return x;
  const Value own =
      on_ranks(reduce_scatter_operation, parts, A::id, detail::part_of(parts.shape()), Reduction::sum, site);
  return reshape(own, detail::share_of(x.shape(), position, A::id), site);
}

/// The value unchanged, entering a region of the ranks of this axis; its gradients are summed over them.
[[nodiscard]] TWILL_CONSTEXPR Value copied_to(Value x, const kernel::AxisId& ranks) {
  return detail::copied_to(x, x.graph().add_attributes({ranks.low, ranks.high, ranks.size, 0}));
}

/// The value itself, equal on all ranks, entering a region where ranks differ; its gradients are summed.
template <AnyRankAxis A> [[nodiscard]] constexpr Value copy_to(Value x) {
  return A::size == 1 ? x : copied_to(x, A::id);
}

/// The sum of the ranks' values, leaving such a region. The gradient, equal on all ranks, passes.
template <AnyRankAxis A> [[nodiscard]] constexpr Value reduce_from(Value x, CallSite site = CallSite::here()) {
  return A::size == 1 ? x : on_ranks(reduce_from_operation, x, A::id, x.shape(), Reduction::sum, site);
}

/// This rank's part, along an axis, of a value that is equal on all ranks. The gradient is gathered.
/// errors: ranks that do not divide the axis
template <AnyRankAxis A> [[nodiscard]] constexpr Value split_to(Value x, int axis, CallSite site = CallSite::here()) {
  const int position = checked_axis(x, axis, site);
  if (A::size == 1 || x.rank() == 0) return x;
  const Value parts = detail::in_parts(x, position, A::id, site);
  if (x.graph().fault.any()) return x;
  return reshape(detail::own_part(parts, A::id), detail::share_of(x.shape(), position, A::id), site);
}

/// The parts of all ranks along an axis, equal on all ranks afterwards. The gradient is split.
template <AnyRankAxis A>
[[nodiscard]] constexpr Value gather_from(Value x, int axis, CallSite site = CallSite::here()) {
  return A::size == 1 ? x : detail::gathered(gather_from_operation, x, axis, A::id, site);
}

}}}} // namespace twill::v0::graph::TWILL_ISA

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

template <> struct KernelOf<&graph::split_to_operation> {
  template <class T, class TeamType> static void run(const TeamType& team, const kernel::Launch& launch) {
    KernelOf<&graph::gather_operation>::template run<T>(team, launch);
  }
};

}}} // namespace twill::v0::TWILL_ISA
