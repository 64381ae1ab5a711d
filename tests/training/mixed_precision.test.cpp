// SPDX-License-Identifier: Apache-2.0
//
// Mixed precision: which operations are computed in which type, that models train in it nearly as in float32, and that networks
// of half precision keep the weights of norms in float32.

#include "tests/support/test_seed.hpp"
#include "tests/training/models.hpp"

#include <twill/compile/function.hpp>
#include <twill/nn/autocast.hpp>
#include <twill/nn/norm_layers.hpp>
#include <twill/optim/adam.hpp>
#include <twill/optim/loss_scale.hpp>
#include <twill/optim/sgd.hpp>
#include <twill/parallel/data/data_parallel_step.hpp>
#include <twill/training/train_step.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

using namespace twill;
using namespace twill::test;

namespace {

/// Every rule of mixed precision in one model.
struct Types {
  static constexpr graph::Value forward(Input<Dim<"batch">, 4> x) {
    const graph::Value weight = nn::parameter(x.graph(), "w", {4, 4}, nn::initialise::ones());
    const graph::Value product = matmul(x, weight);
    const graph::Value values[] = {product,
                                   exp(product),
                                   softmax(product),
                                   sum(product, {1}),
                                   tanh(product),
                                   product + x,
                                   power(product, 2.0),
                                   mean(product),
                                   product * 2.0,
                                   nn::layer_norm(product, "norm"),
                                   nn::in_float32(product, [&](graph::Value y) { return matmul(y, weight); })};
    graph::Value total = sum(x);
    for (const graph::Value& value : values) {
      x.graph().outputs.push_back(value.id());
      total = total + sum(value);
    }
    return total;
  }
};

constexpr bool types_are(std::initializer_list<DType> expected) {
  graph::Graph graph{DType::float32};
  const graph::Value result = nn::trace_model<nn::Autocast<Types, bfloat16>>(graph);
  std::size_t next = 0;
  for (const DType dtype : expected)
    if (graph.node(graph.outputs[next++]).dtype != dtype) return false;
  return result.dtype() == DType::float32 && graph.autocast == DType::float32 && next == graph.outputs.size();
}

/// A norm between two layers.
struct Normed {
  static constexpr auto forward(Input<Dim<"batch">, 5> x) {
    const auto hidden = nn::layer_norm(relu(nn::linear(x, 16, "first")), "norm");
    return nn::linear(hidden, 3, "output");
  }
};

/// Labels that the inputs decide.
template <class X> auto labels_of(const X& x) {
  const auto values = to_vector(x);
  std::vector<std::int64_t> labels{};
  for (std::size_t i = 0; i < values.size(); i += 5)
    labels.push_back(float(values[i]) > 0.3f ? 2 : float(values[i + 1]) > 0 ? 1 : 0);
  return from_values<Shape<dyn>>(labels, Dims(std::int64_t(labels.size())), Cpu{0});
}

/// The mean loss of the last steps of a training.
template <class Network, class T, class R> double trained(R rule) {
  manual_seed(Cpu{0}, 3);
  Network model{Cpu{0}};
  auto step = train_step(model, nn::cross_entropy, rule);
  double late = 0;
  for (std::uint64_t i = 0; i < 150; ++i) {
    const auto x = random_rows<T, 5>(Cpu{0}, 32, i);
    const double loss = double(static_cast<float>(step(x, labels_of(x)).item()));
    if (i >= 130) late += loss / 20;
  }
  return late;
}

} // namespace

TEST_CASE("mixed precision computes products in the narrow type and what loses digits in float32",
          "[training][TRAIN-6]") {
  constexpr DType narrow = DType::bfloat16;
  constexpr DType wide = DType::float32;
  STATIC_REQUIRE(types_are({narrow, wide, wide, wide, narrow, wide, wide, wide, narrow, narrow, wide}));
}

TEST_CASE("a program is told once that hosts emulate float16", "[training][TRAIN-6]") {
  static int told = 0;
  const WarningSink before =
      set_warning_sink([](std::string_view text) { told += text.starts_with("float16: host") ? 1 : 0; });
  nn::Network<Normed, Cpu, bfloat16> silent{Cpu{0}};
  CHECK(told == 0);
  nn::Network<nn::Autocast<Normed>> first{Cpu{0}};
  nn::Network<Normed, Cpu, half> second{Cpu{0}};
  CHECK(told == 1);
  set_warning_sink(before);
}

TEST_CASE("models train in mixed and in half precision nearly as in float32", "[training][TRAIN-6]") {
  INFO("seed " << test_seed());
  const optim::AdamW rule{{.rate = 0.02}};
  const double exact = trained<nn::Network<Normed>, float>(rule);
  CHECK(exact < 0.3);
  CHECK(trained<nn::Network<nn::Autocast<Normed>>, float>(optim::loss_scaled(rule)) < exact + 0.05);
  CHECK(trained<nn::Network<nn::Autocast<Normed, bfloat16>>, float>(rule) < exact + 0.05);
}

TEST_CASE("a network of half precision keeps the weights of norms in float32, on several devices too",
          "[training][TRAIN-6]") {
  INFO("seed " << test_seed());
  using Network = nn::Network<Normed, Cpu, bfloat16>;
  Network one{Cpu{0}};
  Network two{Cpu{0}};
  for (std::size_t i = 0; i < one.parameters().size(); ++i) {
    const auto view = one.parameters()[i];
    CHECK((view.dtype == DType::float32) == view.name.starts_with("norm."));
    copy_bytes(Cpu{0}, two.parameters()[i].buffer.data(), Cpu{0}, view.buffer.data(), view.buffer.bytes(),
               CopyOptions{});
  }
  const auto x = random_rows<bfloat16, 5>(Cpu{0}, 9);
  const auto labels = labels_of(x);
  const optim::Sgd rule{{.rate = 0.5}}; // its steps are as near as the gradients are; Adam's follow their signs
  auto step = train_step(one, nn::cross_entropy, rule);
  DataParallel parallel{two, {.devices = {Cpu{0}, Cpu{1}}}};
  auto parallel_step = train_step(parallel, nn::cross_entropy, rule);
  for (int i = 0; i < 3; ++i) {
    static_cast<void>(step(x, labels));
    static_cast<void>(parallel_step(x, labels));
  }
  const auto norm = to_vector(one.parameter<"norm.weight">());
  const auto other = to_vector(two.parameter<"norm.weight">());
  static_assert(std::is_same_v<decltype(norm), const std::vector<float>>);
  float moved = 0;
  for (const float weight : norm) moved = std::max(moved, std::fabs(weight - 1));
  CHECK(moved > 0.01f);
  // Three steps at this rate, with gradients that a few roundings to eight bits tell apart.
  for (std::size_t i = 0; i < norm.size(); ++i) CHECK(other[i] == Approx(norm[i]).margin(3 * 0.5 / 64));
  // Gradients of two passes add up in each weight's own type.
  one.zero_grad();
  nn::cross_entropy(one.forward(x), labels).backward();
  const auto once = to_vector(one.gradient<"norm.bias">());
  nn::cross_entropy(one.forward(x), labels).backward();
  const auto twice = to_vector(one.gradient<"norm.bias">());
  for (std::size_t i = 0; i < once.size(); ++i) CHECK(twice[i] == 2 * once[i]);
}

TEST_CASE("float16 that overflows is seen and skipped", "[training][TRAIN-6]") {
  // region: scaled
  nn::Network<nn::Autocast<Normed>> model{Cpu{0}};
  auto step = train_step(model, nn::cross_entropy, optim::loss_scaled(optim::Sgd{{.rate = 0.1}}));
  // end region
  const auto x = random_rows<float, 5>(Cpu{0}, 4);
  const auto labels = labels_of(x);
  auto large = x.clone();
  large.fill(1e6f); // beyond 65504
  const std::vector<float> before = weights_of(model);
  static_cast<void>(step(large, labels));
  CHECK(step.state(optim::was_skipped_state) == 1);
  CHECK(weights_of(model) == before);
  static_cast<void>(step(x, labels));
  CHECK(step.state(optim::was_skipped_state) == 0);
  CHECK(weights_of(model) != before);
}
