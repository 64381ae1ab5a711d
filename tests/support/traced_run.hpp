#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Functions of traced values of float64 that are traced, planned and run when a test runs, as those of quick builds are
// planned: objects with captures, and loops in C++ over nodes, may make them.

#include "tests/support/test_seed.hpp"

#include <twill/compile.hpp>
#include <twill/compile/quick.hpp>
#include <twill/compile/run/executor.hpp>
#include <twill/graph.hpp>
#include <twill/ops.hpp>

#include <catch2/catch.hpp>

#include <array>
#include <cstddef>
#include <random>
#include <vector>

namespace twill::test {

using Numbers = std::vector<double>;

struct Given {
  Dims shape{};
  Numbers elements{};
};

inline Given random_given(const Dims& shape) {
  static std::mt19937_64 random{test_seed()};
  std::normal_distribution<double> normal{0, 0.7};
  Given made{shape, Numbers(static_cast<std::size_t>(shape.elements()))};
  for (double& element : made.elements) element = normal(random);
  return made;
}

template <const graph::Operation* O, class T> constexpr compile::OperationKernel kernel_of() {
  return {{O, dtype_of<T>}, &compile::detail::run_operation<O, T>};
}
inline constexpr compile::OperationKernel traced_kernels[]{
    kernel_of<&graph::matmul_operation, double>(), kernel_of<&graph::slice_operation, double>(),
    kernel_of<&graph::place_operation, double>(), kernel_of<&graph::concatenate_operation, double>()};

/// The results of f, one list for each, and how many loops its table has.
template <class F, std::size_t N>
std::vector<Numbers> results_of(const F& f, const std::array<Given, N>& arguments, std::size_t* loops = nullptr) {
  graph::Graph graph{DType::float64};
  std::array<graph::Value, N> values{};
  for (std::size_t i = 0; i < N; ++i)
    values[i] = {graph, graph.add_input(DType::float64, graph::extents_of(arguments[i].shape))};
  const auto results = graph::transforms::values_of(std::apply(f, values));
  for (const graph::Value& result : results) graph.outputs.push_back(result.id());
  REQUIRE(static_cast<int>(graph.fault.problem) == 0);
  std::vector<Numbers> outputs{};
  for (const graph::Value& result : results)
    outputs.emplace_back(static_cast<std::size_t>(result.shape().evaluate({}).elements()));
  std::array<Given, N> inputs = arguments;
  std::vector<void*> from{}, to{};
  for (Given& input : inputs) from.push_back(input.elements.data());
  for (Numbers& output : outputs) to.push_back(output.data());
  const compile::QuickTable quick{graph, traced_kernels};
  if (loops != nullptr) *loops = quick.view().loops.size();
  compile::RunScalars scalars{quick.view().run_scalars};
  if (scalars.draws()) scalars.set_draw(7, 3);
  compile::Executor<Cpu> executor{Cpu{}, quick.view(), quick.kernels(), compile::Arena::kept};
  executor.run({}, {.inputs = from, .outputs = to, .run_scalars = scalars.bits()});
  synchronize(Cpu{});
  const std::vector<Numbers> first = outputs;
  executor.run({}, {.inputs = from, .outputs = to, .run_scalars = scalars.bits()});
  synchronize(Cpu{});
  REQUIRE(outputs == first); // a run leaves nothing behind
  return outputs;
}

inline void check_same(const std::vector<Numbers>& expected, const std::vector<Numbers>& got,
                       double tolerance = 1e-11) {
  REQUIRE(expected.size() == got.size());
  for (std::size_t k = 0; k < got.size(); ++k) {
    REQUIRE(expected[k].size() == got[k].size());
    for (std::size_t i = 0; i < got[k].size(); ++i)
      CHECK(got[k][i] == Approx(expected[k][i]).epsilon(tolerance).margin(tolerance));
  }
}

} // namespace twill::test
