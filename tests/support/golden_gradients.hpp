#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Functions of traced values beside golden files of their results and gradients, as tests/golden/cases.py saves them.

#include "tests/support/golden.hpp"
#include "tests/support/operation_table.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace twill::test {

/// A golden file as an array. throws: std::runtime_error naming the file
inline Array golden_array(const std::string& name) {
  const Golden file = golden(name);
  Dims shape{};
  for (const std::int64_t extent : file.shape) shape[shape.rank++] = extent;
  return {shape, file.values};
}

/// Compares a function of inputs, files of a topic, with its files <case>_y, and <case>_slope<k> for <case>_cotangent.
template <class F>
void check_golden_gradients(const std::string& topic, const std::string& name, const std::vector<std::string>& inputs,
                            double margin, const F& function) {
  INFO(name);
  const auto file = [&](const std::string& of) { return golden_array(topic + "/" + of); };
  graph::Graph graph{DType::float64};
  std::vector<Array> arrays{};
  std::vector<graph::Value> x{};
  const auto add = [&](const std::string& of) {
    arrays.push_back(file(of));
    return graph::Value{graph, graph.add_input(DType::float64, graph::extents_of(arrays.back().shape))};
  };
  for (const std::string& input : inputs) x.push_back(add(input));
  const graph::Value y = function(x.data());
  REQUIRE(!graph.fault.any());
  const graph::Value g = add(name + "_cotangent");
  graph.outputs.push_back(y.id());
  std::vector<Array> expected{file(name + "_y")};
  for (std::size_t k = 0; k < x.size(); ++k) {
    graph.outputs.push_back(graph::gradient(graph::sum(y * g), x[k]).id());
    expected.push_back(file(name + "_slope" + std::to_string(k)));
  }
  const std::vector<Array> got = evaluate(graph, {{}, arrays, {}, {}}, &run_by_kernel).outputs;
  for (std::size_t i = 0; i < got.size(); ++i) {
    INFO("result " << i);
    REQUIRE(got[i].shape == expected[i].shape);
    for (std::size_t k = 0; k < expected[i].elements.size(); ++k)
      CHECK(got[i].elements[k] == Approx(expected[i].elements[k]).epsilon(1e-11).margin(margin));
  }
}

} // namespace twill::test
