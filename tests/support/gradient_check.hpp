#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// First and second derivatives of a traced function against central finite differences in float64. One graph holds the
// function, its gradient for random cotangents and the gradient of that gradient along random directions; whoever can run
// such a graph can be checked. Tolerances: step 1e-6, absolute 1e-5, relative 1e-3. Forward mode is held against reverse
// mode: <u, J v> = <J'u, v>, and H v both ways, to 1e-10. Read next: tests/support/gradient_table.hpp.

#include "tests/support/graph_interpreter.hpp"
#include "tests/support/test_seed.hpp"

#include <twill/graph/gradient.hpp>
#include <twill/graph/tangent.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace twill::test {

/// Where the elements of an input are drawn.
struct Range {
  double low = -2;
  double high = 2;
};

namespace detail {
template <std::size_t> using ValueAt = graph::Value;
template <class Indices> struct FunctionOf;
template <std::size_t... I> struct FunctionOf<std::index_sequence<I...>> {
  using Type = graph::Value (*)(ValueAt<I>...);
};
} // namespace detail

/// A function of N values, and how to test it.
template <std::size_t N> struct Row {
  std::string_view name;
  std::array<Range, N> ranges;
  typename detail::FunctionOf<std::make_index_sequence<N>>::Type function;
  std::span<const std::array<Dims, N>> shapes;  ///< the first one is compiled, all are interpreted
  double (*reference)(const double*) = nullptr; ///< of one element of each input, where the function is elementwise
  double step = 1e-6;

  static constexpr std::size_t inputs = N;
};

/// Inputs: the function's, the cotangent, one direction for each input. Outputs: the loss (a sum weighted by the cotangent),
/// the value, the gradients, their sum weighted by the directions, its gradients; then in forward mode the derivative of the
/// loss along the directions, and those of the gradients.
template <std::size_t N, class F>
constexpr graph::Graph derivative_graph(const F& function, const std::array<Dims, N>& shapes) {
  graph::Graph graph{DType::float64};
  const auto input = [&](const graph::Extents& shape) {
    return graph::Value{graph, graph.add_input(DType::float64, shape)};
  };
  std::array<graph::Value, N> x{};
  for (std::size_t k = 0; k < N; ++k) x[k] = input(graph::extents_of(shapes[k]));
  const graph::Value value = std::apply(function, x);
  const graph::Value loss = graph::sum(value * input(value.shape()));
  graph.outputs.push_back(loss.id());
  graph.outputs.push_back(value.id());
  graph::Value contracted = graph::constant(graph, DType::float64, 0);
  List<graph::Direction> directions{};
  List<int> differentiated{loss.id()};
  for (std::size_t k = 0; k < N; ++k) {
    const graph::Value gradient = graph::gradient(loss, x[k]);
    const graph::Value direction = input(graph::extents_of(shapes[k]));
    graph.outputs.push_back(gradient.id());
    contracted = contracted + graph::sum(gradient * direction);
    directions.push_back({x[k].id(), direction.id()});
    differentiated.push_back(gradient.id());
  }
  graph.outputs.push_back(contracted.id());
  for (std::size_t k = 0; k < N; ++k) graph.outputs.push_back(graph::gradient(contracted, x[k]).id());
  const List<int> tangents = graph::tangents(graph, directions, differentiated);
  for (std::size_t k = 0; k < tangents.size(); ++k)
    graph.outputs.push_back(
        tangents[k] >= 0 ? tangents[k]
                         : graph::detail::filled(graph, DType::float64, graph.node(differentiated[k]).shape, 0).id());
  return graph;
}

namespace detail {

inline bool agree(double expected, double got) {
  return std::fabs(expected - got) <= 1e-5 + 1e-3 * std::max(std::fabs(expected), std::fabs(got));
}

/// Forward and reverse mode: to 1e-10, or 1e-5 for a function of float32, whose differences need a large step.
inline bool modes_agree(double reverse, double forward, double step) {
  const double tolerance = step > 1e-4 ? 1e-5 : 1e-10;
  return std::fabs(reverse - forward) <= tolerance * std::max({1.0, std::fabs(reverse), std::fabs(forward)});
}

inline Array random_array(const Dims& shape, Range range, std::mt19937_64& random) {
  Array array{shape, {}};
  std::uniform_real_distribution<double> uniform{range.low, range.high};
  for (std::int64_t i = 0; i < shape.elements(); ++i) array.elements.push_back(uniform(random));
  return array;
}

} // namespace detail

/// What the check needs to know of a row; the function itself stands in `run`, which evaluates its derivative graph.
struct DerivativeCheck {
  std::string name;
  std::vector<Range> ranges;
  std::vector<Dims> shapes;
  Dims result{};
  double (*reference)(const double*) = nullptr;
  double step = 1e-6;
};

using RunDerivatives = std::function<std::vector<Array>(const std::vector<Array>&)>;

inline void check_value(const DerivativeCheck& check, const std::vector<Array>& inputs, const Array& value) {
  for (std::int64_t i = 0; i < check.result.elements(); ++i) {
    std::vector<double> operands{};
    for (std::size_t k = 0; k < check.shapes.size(); ++k) {
      const Dims& shape = check.shapes[k];
      const Dims index = index_at(check.result, i);
      const Dims strides = contiguous_strides(shape);
      std::int64_t position = 0;
      for (int axis = 0; axis < shape.rank; ++axis)
        if (shape[axis] != 1) position += index[axis + check.result.rank - shape.rank] * strides[axis];
      operands.push_back(inputs[k].elements[static_cast<std::size_t>(position)]);
    }
    CHECK(value.elements[static_cast<std::size_t>(i)] ==
          Approx(check.reference(operands.data())).epsilon(1e-12).margin(1e-14));
  }
}

/// Checks one row for one choice of shapes.
inline void check_derivatives(const DerivativeCheck& check, const RunDerivatives& run) {
  static const std::uint64_t seed = test_seed();
  std::mt19937_64 random{seed};
  const std::size_t count = check.shapes.size();
  INFO(check.name << " on " << to_string(check.shapes.front()) << " to " << to_string(check.shapes.back()) << ", seed "
                  << seed);
  std::vector<Array> inputs{};
  for (std::size_t k = 0; k < count; ++k)
    inputs.push_back(detail::random_array(check.shapes[k], check.ranges[k], random));
  inputs.push_back(detail::random_array(check.result, {0.5, 1.5}, random));
  for (std::size_t k = 0; k < count; ++k) inputs.push_back(detail::random_array(check.shapes[k], {-1, 1}, random));
  const std::vector<Array> outputs = run(inputs);
  const auto slope = [&](std::size_t output, std::size_t k, std::size_t i) {
    std::vector<Array> moved = inputs;
    double& element = moved[k].elements[i];
    const double middle = element;
    element = middle + check.step;
    const double above = run(moved)[output].elements[0];
    element = middle - check.step;
    return (above - run(moved)[output].elements[0]) / (2 * check.step);
  };
  for (std::size_t k = 0; k < count; ++k)
    for (std::size_t i = 0; i < inputs[k].elements.size(); ++i) {
      INFO("input " << k << ", element " << i << " = " << inputs[k].elements[i]);
      const double first = slope(0, k, i);
      INFO("first derivative " << outputs[2 + k].elements[i] << ", differences give " << first);
      CHECK(detail::agree(first, outputs[2 + k].elements[i]));
      const double second = slope(2 + count, k, i);
      INFO("second derivative " << outputs[3 + count + k].elements[i] << ", differences give " << second);
      CHECK(detail::agree(second, outputs[3 + count + k].elements[i]));
    }
  INFO("<u, J v> = " << outputs[3 + 2 * count].elements[0] << ", <J'u, v> = " << outputs[2 + count].elements[0]);
  if (!std::isnan(outputs[0].elements[0])) // the mean of nothing, and so its tangent
    CHECK(detail::modes_agree(outputs[2 + count].elements[0], outputs[3 + 2 * count].elements[0], check.step));
  for (std::size_t k = 0; k < count; ++k)
    for (std::size_t i = 0; i < inputs[k].elements.size(); ++i) {
      const double reverse = outputs[3 + count + k].elements[i];
      const double forward = outputs[4 + 2 * count + k].elements[i];
      INFO("input " << k << ", element " << i << ": H v is " << reverse << " in reverse, " << forward << " forward");
      CHECK(detail::modes_agree(reverse, forward, check.step));
    }
  if (check.reference != nullptr) check_value(check, inputs, outputs[1]);
}

/// The check of a row on one choice of shapes, whose function has a result of shape `result`.
template <std::size_t N>
DerivativeCheck check_of(const Row<N>& row, const std::array<Dims, N>& shapes, const Dims& result) {
  return {std::string{row.name},
          {row.ranges.begin(), row.ranges.end()},
          {shapes.begin(), shapes.end()},
          result,
          row.reference,
          row.step};
}

} // namespace twill::test
