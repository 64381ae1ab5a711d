// SPDX-License-Identifier: Apache-2.0
//
// Training from a last layer of zeros beside PyTorch's, for each loss: predictions are all 0 in the first step, where a slope
// that is wrong at a kink of a formula teaches nothing, or twice. Read next: tests/golden/scripts/zero_layers.py.

#include "tests/support/golden.hpp"
#include "tests/support/graph_interpreter.hpp"

#include <twill/core/text.hpp>
#include <twill/graph/gradient.hpp>
#include <twill/nn/losses.hpp>
#include <twill/ops/matmul.hpp>

#include <catch2/catch.hpp>

#include <cstddef>
#include <iterator>
#include <vector>

using namespace twill;
using namespace twill::test;
using graph::Value;

namespace {

/// What a loss is measured against.
struct Targets {
  Value wanted{};  ///< (8, 3) real numbers
  Value classes{}; ///< (8) integers
  Value truth{};   ///< whether each number is positive, as 0 or 1
  Value shares{};  ///< softmax of the numbers
};

using LossOf = Value (*)(Value y, const Targets& t);

// In the order of the script.
const LossOf losses[] = {
    [](Value y, const Targets& t) { return nn::mse(y, t.wanted); },
    [](Value y, const Targets& t) { return nn::l1(y, t.wanted); },
    [](Value y, const Targets& t) { return nn::huber(y, t.wanted); },
    [](Value y, const Targets& t) { return nn::smooth_l1(y, t.wanted); },
    [](Value y, const Targets& t) { return nn::bce_with_logits(y, t.truth); },
    [](Value y, const Targets& t) { return nn::bce(graph::sigmoid(y), t.truth); },
    [](Value y, const Targets& t) { return nn::cross_entropy(y, t.classes); },
    [](Value y, const Targets& t) { return nn::nll(graph::log_softmax(y), t.classes); },
    [](Value y, const Targets& t) {
      return nn::kl_divergence(graph::log_softmax(y), t.shares, {.reduce = nn::KlReduce::batch_mean});
    },
    [](Value y, const Targets&) { return graph::mean(graph::softplus(y)); },
    [](Value y, const Targets& t) { return nn::mse(graph::elu(y), t.wanted); },
};

std::vector<double> course_of(LossOf loss, std::vector<Array> inputs, std::size_t steps) {
  graph::Graph graph{DType::float64};
  const auto input = [&](DType type, const Dims& shape) {
    return Value{graph, graph.add_input(type, graph::extents_of(shape))};
  };
  const Value x = input(DType::float64, Dims(8, 4)), first = input(DType::float64, Dims(4, 5)),
              last = input(DType::float64, Dims(5, 3));
  const Value wanted = input(DType::float64, Dims(8, 3)), classes = input(DType::int64, Dims(8));
  const Targets targets{wanted, classes, graph::cast(wanted > 0, DType::float64), graph::softmax(wanted)};
  const Value value = loss(graph::matmul(graph::tanh(graph::matmul(x, first)), last), targets);
  for (const Value& each : {value, graph::gradient(value, first), graph::gradient(value, last)})
    graph.outputs.push_back(each.id());
  std::vector<double> course{};
  for (std::size_t step = 0; step < steps; ++step) {
    const auto outputs = evaluate(graph, {.inputs = inputs}).outputs;
    course.push_back(outputs[0].elements[0]);
    for (const std::size_t weight : {1U, 2U})
      for (std::size_t i = 0; i < inputs[weight].elements.size(); ++i)
        inputs[weight].elements[i] -= 0.5 * outputs[weight].elements[i];
  }
  return course;
}

} // namespace

TEST_CASE("networks learn from a last layer of zeros as PyTorch's do, by every loss", "[nn][TRAIN-3]") {
  const auto read = [](const char* name, const Dims& shape) {
    return Array{shape, golden(join_text({"zero_layers/", name})).values};
  };
  const std::vector<Array> inputs{read("x", Dims(8, 4)), read("first", Dims(4, 5)),
                                  Array{Dims(5, 3), std::vector<double>(15)}, read("wanted", Dims(8, 3)),
                                  read("classes", Dims(8))};
  const std::vector<double> expected = golden("zero_layers/losses").values;
  constexpr std::size_t steps = 20;
  REQUIRE(expected.size() == std::size(losses) * steps);
  for (std::size_t k = 0; k < std::size(losses); ++k) {
    const std::vector<double> course = course_of(losses[k], inputs, steps);
    for (std::size_t step = 0; step < steps; ++step) {
      INFO("loss " << k << ", step " << step);
      CHECK(course[step] == Approx(expected[k * steps + step]).epsilon(1e-11));
    }
  }
}
