#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Random tensors in traced functions. A draw is a pure function of (seed, step, number of the draw in the function,
// position of the element in the whole batch), so the backward pass draws the same numbers again instead of keeping
// them, and many devices draw the numbers of one. The generator is core/philox.hpp's. Read next: core/philox.hpp.

#include <twill/core/config.hpp>
#include <twill/graph/functions.hpp>
#include <twill/graph/operators.hpp>
#include <twill/graph/ranks.hpp>
#include <twill/graph/shape_functions.hpp>

namespace twill { inline namespace v0 { namespace graph {

/// The run-time scalar that holds the seed of random draws.
inline constexpr std::string_view seed_scalar = "random.seed";
/// The run-time scalar that tells one step's draws from another's; a run fills in both.
inline constexpr std::string_view step_scalar = "random.step";

namespace detail {

/// Draws for every step of the loop whose body is being traced; each step sees its own. The steps come second, because
/// the first axis may be split.
TWILL_CONSTEXPR Value draws_of_steps(Graph& graph, const Extents& shape);

/// Positions in the whole of the elements of this rank's part, whose draws they take: rows of `inner` elements, from
/// the split axis on; all ranks have equally many, in order of rank.
TWILL_CONSTEXPR Value positions_in_whole(Graph& graph, Value position, const Extents& shape) {
  const int axis = graph.split.axis < 0 ? graph.split.axis + shape.rank : graph.split.axis;
  std::int64_t inner = 1;
  for (int i = axis < 0 ? 0 : axis; i < shape.rank; ++i) inner *= position.size(i);
  const Value before = floor_divide(position, inner) * ((graph.split.ranks.size - 1) * inner);
  return position + before + broadcast_to(rank_along(graph, graph.split.ranks) * inner, shape);
}

} // namespace detail

/// Uniform float32 numbers in [0, 1). The first axis is the one along which a batch may be split.
[[nodiscard]] TWILL_CONSTEXPR Value random_uniform(Graph& graph, const Extents& shape) {
  if (graph.open_loop >= 0) return detail::draws_of_steps(graph, shape);
  const auto spread = [&](int id) { return broadcast_to(Value{graph, id}, shape); };
  const int draw = graph.draws++;
  Node position{};
  position.kind = Kind::iota;
  position.dtype = DType::int64;
  position.shape = shape;
  position.index = draw + 1; // not zero: counts from the run's first row on
  const Value seed = spread(graph.add_run_scalar(seed_scalar, DType::int64, 0));
  const Value step = spread(graph.add_run_scalar(step_scalar, DType::int64, 0));
  const Value number = spread(graph.add_constant(DType::int64, draw));
  Value own{graph, graph.add(position)};
  if (graph.split.ranks.size > 1) own = detail::positions_in_whole(graph, own, shape);
  return detail::apply(Primitive::random_uniform, DType::float32, {seed, step, number, own});
}

namespace detail {

TWILL_CONSTEXPR Value draws_of_steps(Graph& graph, const Extents& shape) {
  const int loop = graph.open_loop;
  const Extent count = graph.loops[static_cast<std::size_t>(loop)].count;
  Extents all{};
  if (shape.rank > 0) all.append(shape[0]);
  all.append(count);
  for (int axis = 1; axis < shape.rank; ++axis) all.append(shape[axis]);
  graph.open_loop = graph.loops.items[loop].around; // whose steps draw their own as well
  const Value draws = random_uniform(graph, all);
  graph.open_loop = loop;
  Node steps_first{};
  steps_first.kind = Kind::transpose;
  steps_first.dtype = DType::float32;
  steps_first.arity = 1;
  steps_first.inputs[0] = draws.id();
  for (int axis = 0; axis < all.rank; ++axis) {
    const int source = axis > 1 || shape.rank == 0 ? axis : 1 - axis;
    steps_first.permutation[static_cast<std::size_t>(axis)] = static_cast<std::int8_t>(source);
    steps_first.shape.append(all[source]);
  }
  Node slice{};
  slice.kind = Kind::slice;
  slice.index = loop;
  slice.dtype = DType::float32;
  slice.arity = 1;
  slice.inputs[0] = graph.add(steps_first);
  slice.shape = shape;
  return {graph, graph.add(slice)};
}

} // namespace detail

}}} // namespace twill::v0::graph
