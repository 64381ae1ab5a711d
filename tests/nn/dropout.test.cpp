// SPDX-License-Identifier: Apache-2.0
//
// Dropout: how much it drops, that it scales, that the backward pass sees the mask of the forward pass, and that its
// probability is a number of the run.

#include "tests/support/late_device.hpp"
#include "tests/support/test_seed.hpp"
#include "tests/training/models.hpp"

#include <twill/optim/sgd.hpp>
#include <twill/training/train_step.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

using namespace twill;
using namespace twill::test;

namespace {

/// Dropout of the input itself, times a weight that starts as one.
struct Dropped {
  static constexpr auto forward(Input<Dim<"batch">, 100> x) {
    const auto gain = nn::parameter(x.graph(), "gain", {100}, nn::initialise::ones());
    return nn::dropout(x, 0.25) * gain;
  }
};

/// Two draws in one model.
struct DroppedTwice {
  static constexpr auto forward(Input<Dim<"batch">, 100> x) {
    const auto gain = nn::parameter(x.graph(), "gain", {100}, nn::initialise::ones());
    return (nn::dropout(x, 0.5, "first") - nn::dropout(x, 0.5, "second")) * gain;
  }
};

double share_of_zeros(const std::vector<double>& values) {
  return static_cast<double>(std::count(values.begin(), values.end(), 0.0)) / static_cast<double>(values.size());
}

} // namespace

TEMPLATE_TEST_CASE("dropout zeroes its share and scales the rest", "[nn][TRAIN-2]", Cpu, Late) {
  const TestType device{0};
  manual_seed(device, 5);
  nn::Network<Dropped, TestType, double> model{device};
  const auto x = full<double, Shape<dyn, 100>>(Dims(1000, 100), 3.0, device);
  for (const double probability : {0.25, 0.5, 0.9, 0.0}) {
    model.set("dropout", probability);
    const std::vector<double> y = to_vector(model.forward(x).value());
    CHECK(share_of_zeros(y) == Approx(probability).margin(0.01)); // five standard deviations
    for (const double value : y)
      if (value != 0) REQUIRE(value == Approx(3.0 / (1 - double(float(probability)))).epsilon(1e-6));
  }
  model.set("dropout", 1.0);
  CHECK(share_of_zeros(to_vector(model.forward(x).value())) == 1);
}

TEST_CASE("each run draws a mask of its own, each layer too, and a seed repeats them", "[nn][DEV-7]") {
  const Cpu device{0};
  nn::Network<DroppedTwice, Cpu, double> model{device};
  const auto x = full<double, Shape<dyn, 100>>(Dims(10, 100), 1.0, device);
  manual_seed(device, 3);
  const auto first = to_vector(model.forward(x).value());
  const auto second = to_vector(model.forward(x).value());
  manual_seed(device, 3);
  CHECK(to_vector(model.forward(x).value()) == first);
  CHECK(first != second);
  CHECK(share_of_zeros(first) == Approx(0.5).margin(0.1)); // equal masks would give zeros only
}

TEST_CASE("evaluation drops nothing", "[nn][TRAIN-2]") {
  const Cpu device{0};
  nn::Network<Dropped, Cpu, double> model{device};
  const auto x = random_rows<double, 100>(device, 7);
  const auto same = to_vector(x);
  CHECK(to_vector(model.infer(x)) == same);
  CHECK(model.is_training());
  model.eval();
  CHECK(to_vector(model.forward(x).value()) == same);
  model.train();
  CHECK(to_vector(model.forward(x).value()) != same);
}

TEST_CASE("the backward pass of dropout sees the mask of the forward pass", "[nn][TRAIN-1]") {
  INFO("seed " << test_seed());
  const Cpu device{0};
  nn::Network<DropoutClassifier, Cpu, double> model{device};
  const auto x = random_rows<double, 5>(device, 6);
  const auto label = random_labels(device, 6, 3);
  const auto loss_at = [&](const std::vector<double>& weights) {
    set_weights(model, weights);
    manual_seed(device, 17);
    return nn::cross_entropy(model.forward(x), label);
  };
  const std::vector<double> start = weights_of(model);
  loss_at(start).backward();
  const std::vector<double> gradients = gradients_of(model);
  for (std::size_t i = 0; i < start.size(); i += 3) {
    std::vector<double> moved = start;
    moved[i] = start[i] + 1e-6;
    const double above = loss_at(moved).item();
    moved[i] = start[i] - 1e-6;
    const double below = loss_at(moved).item();
    CHECK(gradients[i] == Approx((above - below) / 2e-6).epsilon(1e-3).margin(1e-5));
  }

  model.zero_grad();
  model.set("dropout", 1); // nothing is left, so the loss depends on the last bias only
  loss_at(start).backward();
  const std::vector<double> of_nothing = gradients_of(model);
  CHECK(std::count(of_nothing.begin(), of_nothing.end(), 0.0) == 5 * 16 + 16 + 16 * 3);
  CHECK(std::count_if(of_nothing.begin(), of_nothing.end(), [](double g) { return std::isfinite(g) && g != 0; }) == 3);

  for (const double wrong : {1.5, -0.25, std::nan("")}) CHECK_THROWS_AS(model.set("dropout", wrong), ValueError);
  CHECK_THROWS_WITH(model.set("dropout", 1.5), Catch::Contains("between 0 and 1; it is 1.5"));
}

TEST_CASE("the probability of dropout changes between planned steps", "[nn]") {
  const Cpu device{0};
  nn::Network<Dropped, Cpu, double> model{device};
  const auto x = full<double, Shape<dyn, 100>>(Dims(100, 100), 1.0, device);
  const auto zeros_target = full<double, Shape<dyn, 100>>(Dims(100, 100), 0.0, device);
  auto step = train_step(model, nn::mse, optim::Sgd{{.rate = 0}});
  // the mean of the squares of dropped ones is (1 - p) / (1 - p)^2
  CHECK(step(x, zeros_target).item() == Approx(1 / 0.75).epsilon(0.05));
  model.set("dropout", 0.5);
  CHECK(step(x, zeros_target).item() == Approx(2).epsilon(0.08));
  model.set("dropout", 0);
  CHECK(step(x, zeros_target).item() == Approx(1).epsilon(1e-12));
}
