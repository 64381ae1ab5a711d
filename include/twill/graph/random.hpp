#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Random tensors in a traced function. A draw is a pure function of (seed, step, which draw of the function, position of
// the element in the whole batch), so the backward pass draws the same numbers again instead of keeping them, and any
// number of devices draws what one would. The generator is core/philox.hpp's.

#include <twill/graph/operators.hpp>

namespace twill::inline v0::graph {

/// Names of the run-time numbers that random draws depend on; a run fills them in.
inline constexpr std::string_view seed_knob = "random.seed";
inline constexpr std::string_view step_knob = "random.step";

/// Uniform float32 numbers in [0, 1). The first axis is the one along which a batch may be split.
[[nodiscard]] constexpr Value random_uniform(Graph& graph, const Extents& shape) {
  const auto spread = [&](int id) { return broadcast_to(Value{graph, id}, shape); };
  const int draw = graph.draws++;
  Node position{};
  position.kind = Kind::iota;
  position.dtype = DType::int64;
  position.shape = shape;
  position.index = draw + 1; // not zero: counts from the run's first row on
  const Value seed = spread(graph.add_knob(seed_knob, DType::int64, 0));
  const Value step = spread(graph.add_knob(step_knob, DType::int64, 0));
  const Value number = spread(graph.add_constant(DType::int64, draw));
  return detail::apply(Primitive::random_uniform, DType::float32, {seed, step, number, {graph, graph.add(position)}});
}

} // namespace twill::inline v0::graph
