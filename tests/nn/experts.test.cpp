// SPDX-License-Identifier: Apache-2.0
//
// Mixtures of experts beside loops over tokens in PyTorch: results, losses and gradients with and without dropped
// choices; auxiliary losses; refusals.

#include "tests/support/golden.hpp"
#include "tests/support/operation_table.hpp"

#include <twill/graph/scan.hpp>
#include <twill/nn/mixture_of_experts.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

using namespace twill;
using namespace twill::test;
using Reason = graph::Problem;

namespace {

Array array_of(const std::string& name) {
  const Golden file = golden("experts/" + name);
  Dims shape{};
  for (const std::int64_t extent : file.shape) shape[shape.rank++] = extent;
  return {shape, file.values};
}

/// The file of a weight, "router_weight" or "up_weight".
std::string file_of(const graph::ParameterInfo& parameter) {
  const std::string name{parameter.name.view()};
  return name == "moe.router.weight" ? "router_weight" : name.substr(name.rfind('.') + 1);
}

struct Case {
  std::string name;
  nn::MixtureOptions options;
};

const Case cases[]{
    {"switch", {.router_z_weight = 0.001}},
    {"gshard", {.top_k = 2, .capacity_factor = 1, .router_z_weight = 0.001}},
    {"plain", {.top_k = 3, .capacity_factor = 0.5, .normalises_gates = false, .router_z_weight = 0.001}},
    {"roomy", {.top_k = 2, .capacity = 99, .router_z_weight = 0.001}},
};

constexpr std::int64_t experts = 4, hidden = 7;

constexpr auto cubes = nn::loss([](auto y) { return graph::mean(y * y * y); });

Value input_of(graph::Graph& graph, const Dims& shape) {
  return {graph, graph.add_input(graph.element, graph::extents_of(shape))};
}

} // namespace

TEST_CASE("a mixture of experts, its losses and gradients are those of loops over tokens", "[nn][gradient][TRAIN-2]") {
  const Array x = array_of("x");
  for (const Case& row : cases) {
    INFO(row.name);
    const double capacity = array_of(row.name + "_counts").elements[0];
    CHECK(nn::expert_capacity(6, experts, row.options) == static_cast<std::int64_t>(capacity));
    graph::Graph graph{DType::float64};
    const Value input = input_of(graph, x.shape);
    const Value y = nn::mixture_of_experts(input, experts, hidden, "moe", row.options);
    const Value loss = nn::with_auxiliary_losses(cubes)(y);
    REQUIRE(!graph.fault.any());
    graph.outputs.push_back(y.id());
    graph.outputs.push_back(loss.id());
    graph.outputs.push_back(graph::gradient(loss, input).id());
    std::vector<Array> weights{}, expected{array_of(row.name + "_y")};
    const Array losses = array_of(row.name + "_losses");
    expected.push_back({Dims(), {losses.elements[2]}});
    expected.push_back(array_of(row.name + "_slope_x"));
    for (std::size_t i = 0; i < 5; ++i) {
      weights.push_back(array_of(file_of(graph.parameters[i])));
      REQUIRE(weights.back().shape == graph.parameters[i].shape.evaluate({}));
      expected.push_back(array_of(row.name + "_slope_" + file_of(graph.parameters[i])));
      graph.outputs.push_back(graph::gradient(loss, {graph, graph.parameters[i].node}).id());
    }
    REQUIRE(!graph.fault.any());
    const std::vector<Array> got = evaluate(graph, {{}, {x}, weights, {}}, &run_by_kernel).outputs;
    REQUIRE(got.size() == expected.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
      INFO(i);
      REQUIRE(got[i].shape == expected[i].shape);
      for (std::size_t k = 0; k < expected[i].elements.size(); ++k)
        CHECK(got[i].elements[k] == Approx(expected[i].elements[k]).epsilon(1e-11).margin(1e-13));
    }
  }
}

TEST_CASE("experts of narrow types have a router of float32", "[nn][TRAIN-2]") {
  for (const DType dtype : {DType::float16, DType::bfloat16, DType::float32}) {
    graph::Graph graph{dtype};
    const Value y = nn::mixture_of_experts(input_of(graph, Dims(2, 3, 4)), 2, 5, "moe");
    CHECK(y.dtype() == dtype);
    const Value loss = nn::with_auxiliary_losses(cubes)(y);
    CHECK(!graph.fault.any());
    CHECK(loss.rank() == 0);
    int narrow = 0;
    for (const graph::Node& node : graph.nodes)
      narrow += node.kind == graph::Kind::operation && node.operation == &graph::argsort_operation &&
                        graph.node(node.input(0)).dtype != DType::float32
                    ? 1
                    : 0;
    CHECK(narrow == 0);
  }
}

namespace {

/// The fault of what is traced with a batch of two groups of three tokens of four features.
template <class F> graph::Fault fault_of(const F& f, const Dims& shape = Dims(2, 3, 4)) {
  graph::Graph graph{DType::float32};
  f(input_of(graph, shape));
  return graph.fault;
}

graph::Fault fault_with(const nn::MixtureOptions& options) {
  return fault_of([&](Value x) { static_cast<void>(nn::mixture_of_experts(x, 2, 5, "moe", options)); });
}

} // namespace

TEST_CASE("a mixture of experts refuses other shapes and capacities", "[nn]") {
  const graph::Fault fault =
      fault_of([](Value x) { static_cast<void>(nn::mixture_of_experts(x, 2, 5, "moe")); }, Dims(3, 4));
  CHECK(fault.problem == Reason::experts_take_groups_of_tokens_of_a_width);
  CHECK(fault.left == 2);
  CHECK(fault_with({.top_k = 3}).problem == Reason::topk_exceeds_the_axis);
  CHECK(fault_with({.top_k = 0}).problem == Reason::topk_exceeds_the_axis);
  CHECK(fault_with({.capacity_factor = 0}).problem == Reason::capacity_of_experts_is_not_positive);
  CHECK(fault_with({.capacity = -1}).problem == Reason::capacity_of_experts_is_not_positive);
  CHECK(!fault_with({.capacity_factor = 0.01}).any()); // rounded up to one
}

TEST_CASE("a gradient without the auxiliary losses of its model is refused", "[nn][gradient]") {
  const auto gradient = [](const nn::MixtureOptions& options, auto loss) {
    return fault_of([&](Value x) {
      const Value y = nn::mixture_of_experts(x, 2, 5, "moe", options);
      static_cast<void>(graph::gradient(loss(y), x));
    });
  };
  const auto with_auxiliary = nn::with_auxiliary_losses(cubes);
  CHECK(gradient({}, cubes).problem == Reason::auxiliary_losses_are_not_in_the_loss_use_with_auxiliary_losses);
  CHECK(!gradient({}, with_auxiliary).any());
  CHECK(!gradient({.balance_weight = 0}, cubes).any());
  CHECK(gradient({.balance_weight = 0}, with_auxiliary).problem == Reason::program_of_the_loss_has_no_auxiliary_losses);
  CHECK(fault_of([](Value x) { static_cast<void>(nn::auxiliary_loss(x, x)); }).problem ==
        Reason::gradient_of_a_value_that_is_not_a_scalar);
}

TEST_CASE("a result carries auxiliary losses to a loss that is traced apart", "[nn][gradient]") {
  graph::Graph graph{DType::float64};
  const Value x = input_of(graph, Dims(2, 3, 4));
  const Value first = nn::auxiliary_loss(x * x, graph::mean(x) * 3);
  const Value second = nn::auxiliary_loss(first * 2, graph::sum(x * x) * 0.5);
  const Value carried = nn::carry_auxiliary_losses(second);
  const Value loss = nn::with_carried_losses(cubes)(carried);
  for (const Value& result : {carried, loss, graph::gradient(loss, x)}) graph.outputs.push_back(result.id());
  REQUIRE(!graph.fault.any());
  Array in{Dims(2, 3, 4), {}};
  double sum = 0, squares = 0, sixths = 0;
  for (int i = 0; i < 24; ++i) {
    const double element = 0.1 * i - 1;
    in.elements.push_back(element);
    sum += element;
    squares += element * element;
    sixths += 8 * element * element * element * element * element * element; // the cube of 2 x^2
  }
  const double auxiliary = 3 * sum / 24 + 0.5 * squares;
  const std::vector<Array> got = evaluate(graph, {{}, {in}, {}, {}}, &run_by_kernel).outputs;
  REQUIRE(got[0].shape == Dims(2, 3, 5));
  for (std::size_t i = 0; i < 30; ++i) {
    const double element = i % 5 < 4 ? in.elements[i / 5 * 4 + i % 5] : 0;
    CHECK(got[0].elements[i] == Approx(i % 5 < 4 ? 2 * element * element : auxiliary));
  }
  CHECK(got[1].elements[0] == Approx(sixths / 24 + auxiliary));
  for (std::size_t i = 0; i < 24; ++i) {
    const double element = in.elements[i];
    CHECK(got[2].elements[i] == Approx(48 * element * element * element * element * element / 24 + 0.125 + element));
  }
  static_cast<void>(nn::carry_auxiliary_losses(second));
  CHECK(graph.fault.problem == Reason::program_of_the_loss_has_no_auxiliary_losses); // they were collected before
}

TEST_CASE("an auxiliary loss in the body of a scan is refused", "[nn]") {
  const graph::Fault fault = fault_of(
      [](Value x) {
        const auto step = [](Value carry, Value row) {
          return graph::Step<1, 0>{{carry + nn::auxiliary_loss(row, carry)}, {}};
        };
        static_cast<void>(graph::scan(std::array{graph::sum(x)}, std::array{x}, step));
      },
      Dims(3));
  CHECK(fault.problem == Reason::auxiliary_loss_in_the_body_of_a_scan);
}
