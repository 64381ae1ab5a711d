// SPDX-License-Identifier: Apache-2.0
//
// Random draws from distributions in models: formulas of philox's numbers, with derivatives by the parameters, moments,
// and other numbers for each example of `vmap`.

#include "tests/support/gradient_check.hpp"
#include "tests/support/operation_kernels.hpp"

#include <twill/core/philox.hpp>
#include <twill/graph/vmap.hpp>
#include <twill/ops/value_draws.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

using namespace twill;
using namespace twill::test;
using graph::Value;

namespace {

constexpr double seed = 7, step = 3;

/// Number `draw` of a function at a place.
double uniform_at(int draw, std::int64_t place) {
  return random_uniform(static_cast<std::uint64_t>(seed), static_cast<std::uint32_t>(step),
                        static_cast<std::uint32_t>(draw), static_cast<std::uint64_t>(place));
}
double exponential_at(int draw, std::int64_t place) { return -std::log(1 - uniform_at(draw, place)); }
double normal_at(std::int64_t place) {
  return std::sqrt(2 * exponential_at(0, place)) * std::cos(2 * std::numbers::pi * uniform_at(1, place));
}

std::vector<Array> run(const graph::Graph& graph, const std::vector<Array>& inputs) {
  return evaluate(graph, {{}, inputs, {}, {seed, step}}, &run_by_kernel).outputs;
}

/// Checks draws from a location in (4) and a scale in (3, 1): location + scale * noise(place), and both derivatives.
void check_law(Value (*law)(Value location, Value scale), double (*noise)(std::int64_t place),
               bool is_exponential = false) {
  const std::array<Dims, 2> shapes{Dims(4), Dims(3, 1)};
  const graph::Graph graph = derivative_graph<2>(law, shapes);
  REQUIRE(!graph.fault.any());
  check_derivatives({"", {{-1, 1}, {0.5, 2}}, {shapes[0], shapes[1]}, Dims(3, 4)},
                    [&](const std::vector<Array>& inputs) {
                      const std::vector<Array> outputs = run(graph, inputs);
                      for (std::int64_t i = 0; i < 12; ++i) {
                        const double location = inputs[0].elements[static_cast<std::size_t>(i % 4)];
                        const double y = location + inputs[1].elements[static_cast<std::size_t>(i / 4)] * noise(i);
                        CHECK(outputs[1].elements[static_cast<std::size_t>(i)] ==
                              Approx(is_exponential ? std::exp(y) : y).epsilon(1e-12));
                      }
                      return outputs;
                    });
}

/// Draws in a type beside numbers, in float64 and then a narrower type.
std::vector<double> drawn(DType dtype, double number, Value (*function)(Value x)) {
  graph::Graph graph{dtype};
  const Value x{graph, graph.add_input(dtype, {{1000, 0}})};
  const Value y = function(x);
  REQUIRE(y.dtype() == dtype);
  graph.outputs.push_back(y.id());
  return run(graph, {{Dims(1000), std::vector<double>(1000, number)}})[0].elements;
}

/// A sample of a normal distribution, and its negative: a function of two results would see the same numbers twice.
struct Sampled {
  constexpr Value operator()(Value mean) const { return normal(mean, 2); }
};

} // namespace

TEST_CASE("draws in models are formulas of philox's numbers, with derivatives by the parameters", "[ops][gradient]") {
  check_law([](Value m, Value s) { return normal(m, s); }, &normal_at);
  check_law([](Value m, Value s) { return log_normal(m, s); }, &normal_at, true);
  check_law([](Value m, Value s) { return uniform(m, m + s); }, [](std::int64_t i) { return uniform_at(0, i); });
  check_law(
      [](Value m, Value s) {
        return m + exponential(graph::broadcast_to(s, {{3, 0}, {4, 0}}));
      },
      [](std::int64_t i) { return exponential_at(0, i); });
  check_law([](Value m, Value s) { return laplace(m, s); },
            [](std::int64_t i) { return exponential_at(0, i) - exponential_at(1, i); });
  check_law([](Value m, Value s) { return gumbel(m, s); },
            [](std::int64_t i) { return -std::log(exponential_at(0, i)); });
  check_law([](Value m, Value s) { return cauchy(m, s); },
            [](std::int64_t i) { return std::tan(std::numbers::pi * uniform_at(0, i)); });
  check_law([](Value m, Value s) { return m + s * randn_like(m + s); }, &normal_at);
  check_law([](Value m, Value s) { return m + s * rand_like(m + s); }, [](std::int64_t i) { return uniform_at(0, i); });
}

TEST_CASE("parameters of draws are numbers or values, of every floating type", "[ops]") {
  for (const DType dtype : {DType::float64, DType::float32, DType::float16, DType::bfloat16}) {
    INFO(name(dtype));
    const double tolerance = dtype == DType::float64 ? 1e-12 : dtype == DType::float32 ? 1e-5 : 4e-2;
    const std::vector<double> all[]{drawn(dtype, 0.5, [](Value x) { return normal(1, x); }),
                                    drawn(dtype, 1, [](Value x) { return normal(x, 0.5); })};
    for (const std::vector<double>& y : all)
      for (std::int64_t i = 0; i < 1000; ++i)
        CHECK(std::fabs(y[static_cast<std::size_t>(i)] - (1 + 0.5 * normal_at(i))) <= tolerance);
    const std::vector<double> waits = drawn(dtype, 2, [](Value x) { return exponential(x); });
    CHECK(std::all_of(waits.begin(), waits.end(), [](double y) { return y >= 0 && std::isfinite(y); }));
    const std::vector<double> parts = drawn(dtype, 0, [](Value x) { return rand_like(x); });
    for (std::int64_t i = 0; i < 1000; ++i) {
      const double part = parts[static_cast<std::size_t>(i)];
      CHECK((part >= 0 && part < 1 && part <= uniform_at(0, i) && part >= uniform_at(0, i) - tolerance / 8));
    }
    const std::vector<double> hits = drawn(dtype, 0.25, [](Value x) { return bernoulli(x); });
    for (std::int64_t i = 0; i < 1000; ++i)
      CHECK(hits[static_cast<std::size_t>(i)] == (uniform_at(0, i) < 0.25 ? 1 : 0));
  }
}

TEST_CASE("random_normal draws standard numbers", "[ops]") {
  graph::Graph graph{DType::float64};
  const Value y = graph::random_normal(graph, {{100, 0}, {1000, 0}});
  CHECK(y.dtype() == DType::float32);
  graph.outputs.push_back(y.id());
  const std::vector<double> numbers = run(graph, {})[0].elements;
  double moments[5]{};
  for (const double number : numbers)
    for (int k = 1; k < 5; ++k) moments[k] += std::pow(number, k) / static_cast<double>(numbers.size());
  CHECK(moments[1] == Approx(0).margin(0.016)); // five standard deviations each
  CHECK(moments[2] == Approx(1).margin(0.023));
  CHECK(moments[3] == Approx(0).margin(0.062));
  CHECK(moments[4] == Approx(3).margin(0.16));
}

TEST_CASE("each example of vmap draws numbers of its own, those of the whole batch", "[ops][vmap]") {
  graph::Graph graph{DType::float64};
  const Value means{graph, graph.add_input(DType::float64, {{3, 0}, {5, 0}})};
  graph.outputs.push_back(graph::transforms::vmap(Sampled{}, std::array{means}, std::array{0}, std::array{0})[0].id());
  REQUIRE(!graph.fault.any());
  const std::vector<double> y = run(graph, {{Dims(3, 5), std::vector<double>(15, 1)}})[0].elements;
  for (std::int64_t i = 0; i < 15; ++i)
    CHECK(y[static_cast<std::size_t>(i)] == Approx(1 + 2 * normal_at(i)).epsilon(1e-12));
}

TEST_CASE("parameters of draws that do not broadcast, and negative scales, are refused", "[ops]") {
  graph::Graph graph{DType::float32};
  const Value x{graph, graph.add_input(DType::float32, {{3, 0}})};
  const Value y{graph, graph.add_input(DType::float32, {{4, 0}})};
  static_cast<void>(normal(x, y));
  CHECK(graph.fault.problem == graph::Problem::broadcast_extents_differ);
  CHECK(graph.fault.left == 3);
  CHECK(graph.fault.right == 4);

  for (const auto law : {+[](Value v) { return normal(v, -2); }, +[](Value v) { return log_normal(v, -2); },
                         +[](Value v) { return laplace(v, -2); }, +[](Value v) { return gumbel(v, -2); },
                         +[](Value v) { return cauchy(v, -2); }}) {
    graph::Graph other{DType::float32};
    static_cast<void>(law({other, other.add_input(DType::float32, {{3, 0}})}));
    CHECK(other.fault.problem == graph::Problem::scale_of_a_distribution_is_negative);
    CHECK(other.fault.left == -2);
  }
}
