// SPDX-License-Identifier: Apache-2.0
//
// Sweeps of the learning rate beside the closed formula of gradient descent on a square, what they leave behind, and a
// training that uses one and stops early.

#include "tests/training/models.hpp"

#include <twill/expr.hpp>
#include <twill/nn/losses.hpp>
#include <twill/optim/adam.hpp>
#include <twill/optim/groups.hpp>
#include <twill/optim/sgd.hpp>
#include <twill/tensor/create.hpp>
#include <twill/training/early_stopping.hpp>
#include <twill/training/rate_finder.hpp>
#include <twill/training/train_step.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <vector>

using namespace twill;
using namespace twill::test;

namespace {

/// One weight, whose loss beside zeros is its square where the input is 1.
struct OneWeight {
  static constexpr auto forward(Input<Dim<"batch">, 1> x) {
    return x * nn::parameter(x.graph(), "weight", {1}, nn::initialise::ones());
  }
};

void check_equal(const nn::StateDict& a, const nn::StateDict& b) {
  REQUIRE(a.size() == b.size());
  for (const auto& [name, tensor] : a.entries()) {
    INFO(name);
    const nn::StoredTensor* const other = b.find(name);
    REQUIRE(other != nullptr);
    CHECK(std::equal(tensor.bytes.begin(), tensor.bytes.end(), other->bytes.begin(), other->bytes.end()));
  }
}

} // namespace

TEST_CASE("a sweep makes steps at rates that rise exponentially until the loss diverges", "[training][TRAIN-3]") {
  nn::Network<OneWeight, Cpu, double> model{Cpu{0}};
  set_weights(model, {3});
  auto step = train_step(model, nn::mse, optim::Sgd{{.rate = 0.5}});
  const Tensor x = ones<double, Shape<dyn, 1>>(Dims(4, 1));
  const Tensor target = zeros<double, Shape<dyn, 1>>(Dims(4, 1));
  const training::RateSweepOptions options{.least = 1e-3, .most = 1e2, .steps = 51, .smoothing = 0.5, .divergence = 4};
  const training::RateSweep sweep = sweep_rates(
      model, step, [&] { return step(x, target).item(); }, options);
  // The loss is w^2, its gradient 2 w: w becomes w (1 - 2 rate).
  double w = 3, mean = 0, least = std::numeric_limits<double>::infinity();
  std::size_t i = 0;
  for (bool diverges = false; !diverges; ++i) {
    REQUIRE(i < sweep.rates.size());
    const double rate = 1e-3 * std::pow(1e5, static_cast<double>(i) / 50);
    mean = 0.5 * mean + 0.5 * w * w;
    const double smoothed = mean / (1 - std::pow(0.5, static_cast<double>(i + 1)));
    least = std::min(least, smoothed);
    CHECK(sweep.rates[i] == Approx(rate).epsilon(1e-12));
    CHECK(sweep.losses[i] == Approx(w * w).epsilon(1e-9));
    CHECK(sweep.smoothed[i] == Approx(smoothed).epsilon(1e-9));
    w *= 1 - 2 * rate;
    diverges = smoothed > 4 * least;
  }
  CHECK(i == sweep.rates.size());
  CHECK(i < 51);
  CHECK(sweep.has_diverged);
  CHECK(sweep.suggestion() < 1); // above 1 the steps diverge
  CHECK(sweep.suggestion() > 1e-2);
  CHECK(weights_of(model) == std::vector<double>{3});
  CHECK(step.rule.options.rate == 0.5);
  CHECK(step.steps() == 0);
}

TEST_CASE("the suggested rate is at the steepest descent by the logarithm of the rate", "[training][TRAIN-3]") {
  training::RateSweep sweep{};
  sweep.rates = {0.001, 0.01, 0.1, 1, 10, 100};
  sweep.smoothed = {5, 4.5, 3, 0.5, 0.25, 6};
  CHECK(sweep.suggestion(0, 0) == 0.1); // numpy.gradient: -0.5, -1, -2, -1.375, 2.75, 5.75
  CHECK(sweep.suggestion(3, 0) == 1);   // -0.25, 2.75, 5.75
  CHECK(sweep.suggestion(0, 3) == 0.1); // -0.5, -1, -1.5
  CHECK_THROWS_WITH(sweep.suggestion(),
                    "suggestion: 6 rates without the first 10 and the last 1 are less than 3; sweep in more steps");
  sweep.smoothed = {1, 1, 2, 3, 4, 5};
  CHECK_THROWS_WITH(sweep.suggestion(0, 0), Catch::Contains("the loss falls at none of the rates from 0.001 to 100"));
}

TEST_CASE("a sweep leaves weights, states, options and random numbers as they were", "[training][TRAIN-3]") {
  const Cpu device{0};
  const auto rule = optim::groups(optim::Adam{{.rate = 0.01}}, optim::vectors(optim::MomentumSgd{{.rate = 0.02}}));
  const auto x = random_rows<double, 5>(device, 8);
  const auto label = random_labels(device, 8, 3);
  const auto train = [&](bool sweeps) {
    manual_seed(device, 7);
    nn::Network<DropoutClassifier, Cpu, double> model{device};
    auto step = train_step(model, nn::cross_entropy, rule);
    for (int i = 0; i < 2; ++i) static_cast<void>(step(x, label).item());
    if (sweeps) {
      const nn::StateDict weights = nn::state_dict(model);
      const nn::StateDict states = step.state_dict();
      int calls = 0;
      std::vector<double> of_group{};
      const training::RateSweep sweep =
          sweep_rates(model, step,
                      [&] {
                        ++calls;
                        of_group.push_back(step.rule.template group<0>().options.rate / step.rule.options.rate);
                        return step(x, label).item();
                      },
                      {.least = 1e-4, .most = 0.1, .steps = 12, .divergence = 1e6});
      CHECK(calls == 12);
      CHECK(sweep.rates.size() == 12);
      CHECK(sweep.rates.back() == Approx(0.1));
      CHECK_FALSE(sweep.has_diverged);
      for (const double share : of_group) CHECK(share == Approx(2).epsilon(1e-12));
      check_equal(nn::state_dict(model), weights);
      check_equal(step.state_dict(), states);
      CHECK_THROWS_AS(sweep_rates(model, step,
                                  [&]() -> double {
                                    static_cast<void>(step(x, label).item());
                                    throw std::runtime_error("no more batches");
                                  }),
                      std::runtime_error);
      check_equal(nn::state_dict(model), weights);
      check_equal(step.state_dict(), states);
    }
    for (int i = 0; i < 3; ++i) static_cast<void>(step(x, label).item());
    return weights_of(model);
  };
  CHECK(train(true) == train(false));
}

TEST_CASE("a sweep ends where the loss is no number", "[training][TRAIN-3]") {
  nn::Network<OneWeight, Cpu, double> model{Cpu{0}};
  auto step = train_step(model, nn::mse, optim::Sgd{});
  const Tensor x = ones<double, Shape<dyn, 1>>(Dims(1, 1));
  const Tensor target = zeros<double, Shape<dyn, 1>>(Dims(1, 1));
  int calls = 0;
  const training::RateSweep sweep = sweep_rates(model, step, [&] {
    const double loss = step(x, target).item();
    return ++calls == 4 ? std::numeric_limits<double>::quiet_NaN() : loss;
  });
  CHECK(sweep.has_diverged);
  CHECK(sweep.losses.size() == 3);
}

TEST_CASE("a sweep refuses options and functions that mean nothing", "[training][TRAIN-3]") {
  nn::Network<OneWeight, Cpu, double> model{Cpu{0}};
  auto step = train_step(model, nn::mse, optim::Sgd{});
  const auto sweep = [&](training::RateSweepOptions options) {
    return sweep_rates(
        model, step, [] { return 1.0; }, options);
  };
  CHECK_THROWS_WITH(sweep({.least = 0}), "sweep_rates: the least rate must be above 0, got 0");
  CHECK_THROWS_WITH(sweep({.least = 0.1, .most = 0.01}),
                    "sweep_rates: the last rate must be above the first, got 0.01");
  CHECK_THROWS_WITH(sweep({.steps = 2}), "sweep_rates: steps must be at least 3, got 2");
  CHECK_THROWS_WITH(sweep({.smoothing = 1}), "sweep_rates: smoothing must lie in [0, 1), got 1");
  CHECK_THROWS_WITH(sweep({.divergence = 1}), "sweep_rates: divergence must be above 1, got 1");
  CHECK_THROWS_WITH(sweep({}), "sweep_rates: the function has to make one step, it made 0");
}

TEST_CASE("a rate is found, and training stops when the loss stays", "[training][TRAIN-3]") {
  nn::Network<Regressor, Cpu> model{Cpu{0}};
  const auto x = random_rows<float, 2>(Cpu{0}, 64);
  const Tensor target = matmul(x, tensor({{0.5F}, {-0.25F}}));
  // region: sweep
  auto step = train_step(model, nn::mse, optim::Adam{{.rate = 1e-3}});
  const training::RateSweep sweep = training::sweep_rates(model, step, [&] { return step(x, target).item(); });
  step.rule.options.rate = sweep.suggestion(); // where the loss falls fastest

  training::EarlyStopping stop{{.patience = 5, .min_delta = 1e-4}};
  for (int epoch = 0; epoch < 500; ++epoch) {
    step(x, target);
    const Tensor error = mean(square(model.infer(x) - target)); // better: of data that no step has seen
    if (stop(error.item(), model)) break;
  }
  stop.restore_best(model);
  // end region
  CHECK(stop.should_stop());
  CHECK(sweep.suggestion() > 1e-5);
  const Tensor error = mean(square(model.infer(x) - target));
  CHECK(static_cast<double>(error.item()) == stop.best());
  CHECK(stop.best() < 0.05);
}
