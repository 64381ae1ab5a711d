// SPDX-License-Identifier: Apache-2.0
//
// Hooks see what passes by in each staged run, in order, until they are removed, and change no bit of it; what they throw
// reaches the caller. Replicas have tests of their own in tests/parallel.

#include "tests/support/late_device.hpp"
#include "tests/training/models.hpp"

#include <twill/optim/sgd.hpp>
#include <twill/training/train_step.hpp>

#include <catch2/catch.hpp>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

using namespace twill;
using namespace twill::test;

namespace {

/// Two inputs, one of them whole numbers.
struct Weighted {
  static constexpr auto forward(Input<Dim<"batch">, 5> x, InputOf<std::int64_t, Dim<"batch">> weight) {
    return nn::linear(x, 3, "output") * graph::cast(graph::unsqueeze(weight, -1), x.dtype());
  }
};

template <class D> using Model = nn::Network<DropoutClassifier, D, double>;

/// A run of everything that training consists of; returns the numbers that it ends in.
template <class D> std::vector<double> trained(Model<D>& model) {
  const D device = model.device();
  manual_seed(device, 3);
  training::Optimiser optimiser{model, optim::MomentumSgd{{.rate = 0.1}}};
  std::vector<double> numbers{};
  for (std::uint64_t i = 0; i < 3; ++i) {
    const auto x = random_rows<double, 5>(device, 13, i);
    const auto loss = nn::cross_entropy(model.forward(x), random_labels(device, 13, 3, i));
    model.zero_grad();
    loss.backward();
    optimiser.step();
    numbers.push_back(loss.item());
    for (double y : to_vector(model.infer(x))) numbers.push_back(y);
  }
  for (double weight : weights_of(model)) numbers.push_back(weight);
  return numbers;
}

struct Interrupted {
  int code = 0;
};

} // namespace

TEMPLATE_TEST_CASE("hooks see inputs, output and gradient of a staged run, in order", "[nn][TRAIN-2]", Cpu, Late) {
  const TestType device{1};
  nn::Network<Classifier, TestType, double> model{device};
  const auto x = random_rows<double, 5>(device, 4);
  std::vector<std::string> calls{};
  std::vector<double> input{};
  std::vector<double> output{};
  std::vector<double> gradient{};
  model.on_forward_begin([&](const auto& given) {
    static_assert(std::is_same_v<decltype(given), const Tensor<double, TestType, Shape<dyn, 5>>&>);
    calls.emplace_back("begin");
    input = to_vector(given);
  });
  model.on_forward([&](const auto& given, const auto& result) {
    static_assert(std::is_same_v<decltype(result), const Tensor<double, TestType, Shape<dyn, 3>>&>);
    calls.emplace_back("forward");
    CHECK(given.data() == x.data());
    CHECK(result.device() == device);
    output = to_vector(result);
  });
  model.on_forward([&](const auto&, const auto&) { calls.emplace_back("forward again"); });
  model.on_backward([&](const auto& of_output) {
    calls.emplace_back("backward");
    CHECK(gradients_of(model).size() == weights_of(model).size());
    gradient = to_vector(of_output);
  });

  const auto y = model.forward(x);
  CHECK(calls == std::vector<std::string>{"begin", "forward", "forward again"});
  CHECK(input == to_vector(x));
  CHECK(output == to_vector(y.value()));
  mean(y).backward();
  CHECK(calls.back() == "backward");
  CHECK(gradient == std::vector<double>(12, 1.0 / 12));

  calls.clear();
  output.clear();
  const auto inferred = model.infer(x);
  CHECK(calls == std::vector<std::string>{"begin", "forward", "forward again"});
  CHECK(output == to_vector(inferred));
}

TEMPLATE_TEST_CASE("hooks change no bit of a result", "[nn][TRAIN-2]", Cpu, Late) {
  const TestType device{0};
  Model<TestType> plain{device};
  Model<TestType> watched{device};
  set_weights(watched, weights_of(plain));
  double seen = 0;
  const auto look = [&](const auto& tensor) {
    for (double element : to_vector(tensor)) seen += element;
  };
  watched.on_forward_begin(look);
  watched.on_forward([&](const auto& x, const auto& y) {
    look(x);
    look(y);
  });
  watched.on_backward(look);
  CHECK(trained(watched) == trained(plain));
  CHECK(seen != 0);
}

TEST_CASE("a removed hook is called no more, the others are", "[nn][TRAIN-2]") {
  nn::Network<Classifier> model{Cpu{0}};
  const auto x = random_rows<float, 5>(Cpu{0}, 2);
  int first = 0;
  int second = 0;
  nn::HookHandle handle = model.on_forward_begin([&](const auto&) { ++first; });
  model.on_forward_begin([&](const auto&) { ++second; });
  static_cast<void>(model.infer(x));
  handle.remove();
  handle.remove();
  static_cast<void>(model.infer(x));
  CHECK(first == 1);
  CHECK(second == 2);

  nn::HookHandle once = model.on_forward([&](const auto&, const auto&) {
    ++first;
    once.remove(); // a hook may remove itself
  });
  static_cast<void>(model.infer(x));
  static_cast<void>(model.infer(x));
  CHECK(first == 2);
}

TEST_CASE("a handle may outlive its network, and a network may move", "[nn][TRAIN-2]") {
  nn::HookHandle handle{};
  int calls = 0;
  {
    nn::Network<Classifier> model{Cpu{0}};
    handle = model.on_forward_begin([&](const auto&) { ++calls; });
    const nn::Network<Classifier> moved = std::move(model);
    static_cast<void>(moved.forward(random_rows<float, 5>(Cpu{0}, 2)));
  }
  handle.remove();
  CHECK(calls == 1);
}

TEST_CASE("a hook on the backward pass of an earlier forward is called too", "[nn][TRAIN-2]") {
  nn::Network<Classifier> model{Cpu{0}};
  const auto loss = mean(model.forward(random_rows<float, 5>(Cpu{0}, 2)));
  int calls = 0;
  model.on_backward([&](const auto&) { ++calls; });
  loss.backward();
  loss.backward();
  CHECK(calls == 2);
}

TEST_CASE("what a hook throws reaches the caller as it is", "[nn][TRAIN-2]") {
  nn::Network<Classifier> model{Cpu{0}};
  const auto x = random_rows<float, 5>(Cpu{0}, 2);
  nn::HookHandle handle = model.on_forward([](const auto&, const auto&) { throw Interrupted{7}; });
  try {
    static_cast<void>(model.forward(x));
    FAIL("nothing was thrown");
  } catch (const Interrupted& thrown) {
    CHECK(thrown.code == 7);
  }
  handle.remove();
  const auto y = model.forward(x);
  model.on_backward([](const auto&) { throw std::domain_error("not now"); });
  CHECK_THROWS_AS(mean(y).backward(), std::domain_error);
}

TEST_CASE("hooks see inputs as the model declares them, whatever their types know", "[nn][TRAIN-2]") {
  nn::Network<Weighted> model{Cpu{0}};
  std::vector<Dims> shapes{};
  model.on_forward([&](const Tensor<float, Cpu, Shape<dyn, 5>>& x, const Tensor<std::int64_t, Cpu, Shape<dyn>>& weight,
                       const Tensor<float, Cpu, Shape<dyn, 3>>& y) {
    shapes = {x.shape(), weight.shape(), y.shape()};
  });
  static_cast<void>(model.forward(ones<float, Shape<4, 5>>(), ones<std::int64_t, Shape<4>>()));
  CHECK(shapes == std::vector<Dims>{Dims(4, 5), Dims(4), Dims(4, 3)});
  static_cast<void>(model.infer(ones<float, Shape<dyn, dyn>>(Dims(2, 5)), ones<std::int64_t, Shape<2>>()));
  CHECK(shapes == std::vector<Dims>{Dims(2, 5), Dims(2), Dims(2, 3)});
}

TEST_CASE("shapes that do not fit are refused before any hook", "[nn][TRAIN-2]") {
  nn::Network<Classifier> model{Cpu{0}};
  int calls = 0;
  model.on_forward_begin([&](const auto&) { ++calls; });
  const auto wide = full<float, Shape<dyn, dyn>>(Dims(4, 6), 0.5F);
  CHECK_THROWS_WITH(model.forward(wide), Catch::Contains("takes 5") && Catch::Contains("got 6"));
  CHECK_THROWS_WITH(model.infer(wide), Catch::Contains("takes 5") && Catch::Contains("got 6"));
  CHECK(calls == 0);
}
