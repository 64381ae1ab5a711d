#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// What tests of operations on images share: golden cases that stand in one row of numbers, and graphs interpreted twice, as
// traced and after the compiler has left images channels-last.

#include "tests/support/golden.hpp"
#include "tests/support/gradient_check.hpp"

#include <twill/compile/passes/channels_last.hpp>
#include <twill/compile/program_type.hpp>
#include <twill/ops/channels_last.hpp>

#include <catch2/catch.hpp>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

namespace twill::test {

/// Lets the interpreter of graphs run an operation by its kernel.
template <const graph::Operation* O> void know() {
  known_operations()[O->name] = [](const Team& team, const kernel::Launch& launch) {
    KernelOf<O>::template run<double>(team, launch);
  };
}

/// The numbers of a golden file, one after another.
class Numbers {
public:
  explicit Numbers(const std::string& name) : golden_{golden(name)} {}
  [[nodiscard]] bool any() const { return at_ < golden_.values.size(); }
  double number() { return golden_.values.at(at_++); }
  std::int64_t integer() { return static_cast<std::int64_t>(number()); }
  graph::Sides sides() {
    const std::int64_t height = integer();
    return {height, integer()};
  }
  Array array() {
    Array result{};
    result.shape.rank = static_cast<int>(integer());
    for (int axis = 0; axis < result.shape.rank; ++axis) result.shape[axis] = integer();
    for (std::int64_t i = 0; i < result.shape.elements(); ++i) result.elements.push_back(number());
    return result;
  }

private:
  Golden golden_;
  std::size_t at_ = 0;
};

/// NaN is near to NaN.
inline void require_near(const Array& got, const Array& expected) {
  REQUIRE(got.shape == expected.shape);
  for (std::size_t i = 0; i < got.elements.size(); ++i) {
    const double a = got.elements[i];
    const double b = expected.elements[i];
    if (a != b && !(std::isnan(a) && std::isnan(b))) REQUIRE(a == Approx(b).epsilon(1e-10).margin(1e-10));
  }
}

/// A graph, as traced and after images have been left channels-last.
inline std::vector<Array> evaluate_both(graph::Graph graph, const std::vector<Array>& inputs) {
  if (graph.fault.any())
    FAIL("problem " << static_cast<int>(graph.fault.problem) << " of " << graph.fault.left << " and "
                    << graph.fault.right);
  const Environment environment{{}, inputs, {}, {}};
  const std::vector<Array> plain = evaluate(graph, environment).outputs;
  compile::simplify(graph);
  compile::carry_channels_last(graph);
  const std::vector<Array> carried = evaluate(graph, environment).outputs;
  for (std::size_t k = 0; k < plain.size(); ++k) require_near(carried[k], plain[k]);
  return plain;
}

/// Checks first and second derivatives of a function of values of these shapes.
template <std::size_t N, class F> void check_function(std::string name, const std::array<Dims, N>& shapes, F function) {
  const graph::Graph graph = derivative_graph<N>(function, shapes);
  REQUIRE(!graph.fault.any());
  const Dims result = graph.node(graph.outputs[1]).shape.evaluate({});
  check_derivatives({std::move(name), std::vector<Range>(N), {shapes.begin(), shapes.end()}, result},
                    [&](const std::vector<Array>& inputs) { return evaluate_both(graph, inputs); });
}

} // namespace twill::test
