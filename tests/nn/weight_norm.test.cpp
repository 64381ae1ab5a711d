// SPDX-License-Identifier: Apache-2.0
//
// Weight norm beside PyTorch's, with first and second derivatives by lengths and directions; its first lengths, element
// types and refusals.

#include "tests/support/golden.hpp"
#include "tests/support/operation_table.hpp"

#include <twill/nn/convolution.hpp>
#include <twill/nn/linear.hpp>
#include <twill/nn/network.hpp>
#include <twill/nn/weight_norm.hpp>
#include <twill/tensor/access.hpp>

#include <cmath>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

using namespace twill;
using namespace twill::test;

namespace {

Array array_of(const std::string& name) {
  const Golden file = golden("weight_norm/" + name);
  Dims shape{};
  for (const std::int64_t extent : file.shape) shape[shape.rank++] = extent;
  return {shape, file.values};
}

struct Case {
  std::string name;
  std::string input;
  Value (*layer)(Value x, Value bias);
};

Value normed_linear(Value x, Value bias, int axis) {
  return nn::linear(x, nn::weight_norm(x.graph(), "weight", {5, 4}, nn::initialise::fan_in_uniform(4), {.axis = axis}),
                    bias);
}
Value normed_convolution(Value x, Value bias, int axis) {
  const Value w = nn::weight_norm(x.graph(), "weight", {4, 3, 3, 2}, nn::initialise::normal(), {.axis = axis});
  return graph::conv2d(x, w, bias, {.padding = 1});
}

const Case cases[]{
    {"linear", "rows", [](Value x, Value bias) { return normed_linear(x, bias, 0); }},
    {"columns", "rows", [](Value x, Value bias) { return normed_linear(x, bias, 1); }},
    {"whole", "rows", [](Value x, Value bias) { return normed_linear(x, bias, -1); }},
    {"conv", "image", [](Value x, Value bias) { return normed_convolution(x, bias, 0); }},
    {"conv_channels", "image", [](Value x, Value bias) { return normed_convolution(x, bias, 1); }},
};

/// The first weights of a graph that has one weight norm, from golden files.
std::vector<Array> weights_of(const graph::Graph& graph, const Case& row) {
  std::vector<Array> weights{};
  for (const auto& parameter : graph.parameters) {
    const std::string name{parameter.name.view()};
    weights.push_back(array_of(row.name + (name == "weight_g" ? "_g" : "_v")));
    const Dims shape = parameter.shape.evaluate({});
    if (shape.rank == 0) weights.back().shape = shape; // files hold a scalar as one element
    REQUIRE(weights.back().shape == shape);
  }
  REQUIRE(weights.size() == 2);
  return weights;
}

} // namespace

TEST_CASE("weight norm and its derivatives of both orders are PyTorch's", "[nn][gradient][TRAIN-2]") {
  for (const Case& row : cases) {
    INFO(row.name);
    const Array x = array_of(row.input), bias = array_of(row.name + "_bias");
    graph::Graph graph{DType::float64};
    const Value input{graph, graph.add_input(DType::float64, graph::extents_of(x.shape))};
    const Value shift{graph, graph.add_input(DType::float64, graph::extents_of(bias.shape))};
    const Value y = row.layer(input, shift);
    REQUIRE(!graph.fault.any());
    const Value g{graph, graph.parameters[0].node}, v{graph, graph.parameters[1].node};
    const Value loss = graph::sum(y * y * y);
    const Value by_g = graph::gradient(loss, g), by_v = graph::gradient(loss, v);
    const Value squares = graph::sum(by_g * by_g) + graph::sum(by_v * by_v);
    for (const Value& result : {y, by_g, by_v, graph::gradient(squares, g), graph::gradient(squares, v)})
      graph.outputs.push_back(result.id());
    const std::vector<Array> got = evaluate(graph, {{}, {x, bias}, weights_of(graph, row), {}}, &run_by_kernel).outputs;
    const char* const names[]{"_y", "_slope_g", "_slope_v", "_curve_g", "_curve_v"};
    for (std::size_t i = 0; i < got.size(); ++i) {
      INFO(names[i]);
      const Array expected = array_of(row.name + names[i]);
      REQUIRE(got[i].elements.size() == expected.elements.size());
      for (std::size_t k = 0; k < expected.elements.size(); ++k)
        CHECK(got[i].elements[k] == Approx(expected.elements[k]).epsilon(1e-11).margin(1e-11));
    }
  }
}

TEST_CASE("weight norm of narrow weights is computed in float32", "[nn][TRAIN-2]") {
  for (const DType dtype : {DType::float16, DType::bfloat16, DType::float32}) {
    INFO(name(dtype));
    graph::Graph graph{dtype};
    graph.outputs.push_back(nn::weight_norm(graph, "weight", {1, 300}, nn::initialise::ones()).id());
    CHECK(graph.node(graph.outputs[0]).dtype == dtype);
    // Sums of squares that exceed the largest float16.
    const std::vector<Array> weights{{Dims(1, 1), {30.0}}, {Dims(1, 300), std::vector<double>(300, 30.0)}};
    const Array got = evaluate(graph, {{}, {}, weights, {}}, &run_by_kernel).outputs[0];
    for (const double element : got.elements) CHECK(element == Approx(30 / std::sqrt(300.0)).epsilon(5e-3));
  }
}

namespace {

struct Normed {
  static constexpr auto forward(Input<Dim<"batch">, 40> x) {
    return nn::linear(x, nn::weight_norm(x.graph(), "weight", {30, 40}, nn::initialise::kaiming_normal()));
  }
};
struct NormedFromOne {
  static constexpr auto forward(Input<Dim<"batch">, 40> x) {
    return nn::linear(x, nn::weight_norm(x.graph(), "weight", {30, 40}, nn::initialise::orthogonal(3),
                                         {.length = nn::initialise::ones()}));
  }
};

} // namespace

TEST_CASE("weights with weight norm start as they are drawn", "[nn][TRAIN-2]") {
  using nn::detail::initial_values;
  const RandomDraw draw{.seed = 7, .step = 3};
  const auto elements_of = [](DType dtype, const std::vector<std::byte>& bytes) {
    std::vector<double> result(bytes.size() / size_of(dtype));
    for (std::size_t i = 0; i < result.size(); ++i) result[i] = nn::detail::element_of(dtype, bytes.data(), i);
    return result;
  };
  for (const DType dtype : {DType::float64, DType::float32, DType::bfloat16})
    for (const int axis : {0, 1, 2, -1})
      for (const nn::Initialiser& start : {nn::initialise::normal(1, 2), nn::initialise::orthogonal(2)}) {
        INFO(name(dtype) << ", axis " << axis);
        graph::Graph graph{dtype};
        static_cast<void>(nn::weight_norm(graph, "weight", {5, 3, 4}, start, {.axis = axis}));
        const graph::ParameterInfo &of_g = graph.parameters[0], &of_v = graph.parameters[1];
        const std::vector<double> v = elements_of(dtype, initial_values(of_v, 6, draw, nullptr));
        const std::vector<double> g = elements_of(dtype, initial_values(of_g, 5, draw, &of_v));
        std::vector<double> squares(g.size());
        for (std::size_t i = 0; i < v.size(); ++i) {
          const std::size_t place[]{i / 12, i / 4 % 3, i % 4};
          squares[axis < 0 ? 0 : place[axis]] += v[i] * v[i];
        }
        for (std::size_t i = 0; i < g.size(); ++i)
          CHECK(g[i] == Approx(std::sqrt(squares[i])).epsilon(dtype == DType::bfloat16 ? 4e-3 : 1e-7));
      }
}

TEST_CASE("first lengths of weight norm are PyTorch's for the same directions", "[nn][TRAIN-2]") {
  for (const Case& row : cases) {
    INFO(row.name);
    const Golden v = golden("weight_norm/" + row.name + "_v"), g = golden("weight_norm/" + row.name + "_first_g");
    Dims shape{};
    for (const std::int64_t extent : v.shape) shape[shape.rank++] = extent;
    const int axis = row.name == "whole" ? -1 : row.name == "columns" || row.name == "conv_channels" ? 1 : 0;
    const std::vector<double> norms =
        nn::detail::norms_of_slices(DType::float64, shape, std::as_bytes(std::span{v.values}), axis);
    REQUIRE(norms.size() == g.values.size());
    for (std::size_t i = 0; i < norms.size(); ++i) CHECK(norms[i] == Approx(g.values[i]).epsilon(1e-14));
  }
}

TEST_CASE("a network's lengths of weight norm are the norms of its directions", "[nn][TRAIN-2]") {
  const nn::Network<Normed, Cpu, double> model{Cpu{0}};
  const std::vector<double> g = to_vector(model.parameter<"weight_g">()), v = to_vector(model.parameter<"weight_v">());
  CHECK(g.size() == 30);
  for (std::size_t row = 0; row < g.size(); ++row) {
    double square = 0;
    for (std::size_t i = 0; i < 40; ++i) square += v[row * 40 + i] * v[row * 40 + i];
    CHECK(g[row] == Approx(std::sqrt(square)).epsilon(1e-14));
  }
  const nn::Network<NormedFromOne, Cpu> other{Cpu{0}};
  CHECK(to_vector(other.parameter<"weight_g">()) == std::vector<float>(30, 1));
}

TEST_CASE("weight norm refuses an axis that the weight does not have", "[nn]") {
  graph::Graph graph{DType::float32};
  static_cast<void>(nn::weight_norm(graph, "weight", {3, 4}, nn::initialise::ones(), {.axis = 2}));
  CHECK(graph.fault.problem == graph::Problem::axis_is_outside_the_rank);
  CHECK(graph.fault.left == 2);
}
