// SPDX-License-Identifier: Apache-2.0
//
// Loss scaling: training is as without it, and a batch whose gradients overflow changes nothing but the scale. In every way
// to run: planned, staged, accumulated, data-parallel.

#include "tests/support/test_seed.hpp"
#include "tests/training/models.hpp"

#include <twill/optim/adam.hpp>
#include <twill/optim/clip.hpp>
#include <twill/optim/groups.hpp>
#include <twill/optim/loss_scale.hpp>
#include <twill/optim/sgd.hpp>
#include <twill/parallel/data/data_parallel_step.hpp>
#include <twill/training/accumulation.hpp>
#include <twill/training/train_step.hpp>

#include <catch2/catch.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

using namespace twill;
using namespace twill::test;

namespace {

constexpr optim::LossScaleOptions quick{.initial = 1024, .interval = 2};

double distance(const std::vector<float>& a, const std::vector<float>& b) {
  REQUIRE(a.size() == b.size());
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) largest = std::fmax(largest, std::fabs(double(a[i]) - double(b[i])));
  return largest;
}

struct Batch {
  Tensor<float, Cpu, Shape<dyn, 2>> x;
  Tensor<float, Cpu, Shape<dyn, 1>> target;
};
Batch batch(std::uint64_t i) {
  return {random_rows<float, 2>(Cpu{0}, 9, i), random_rows<float, 1>(Cpu{0}, 9, 100 + i)};
}
Batch overflowing() {
  Batch bad = batch(77);
  bad.target.fill(std::numeric_limits<float>::infinity());
  return bad;
}

/// Five good batches with the plain rule and, with two overflowing ones between them, with the scaled one. `run(step, batch)`
/// makes one step, `make(model, rule)` what makes them.
template <class R, class Make, class Run> void check(R rule, const Make& make, const Run& run) {
  INFO("seed " << test_seed());
  nn::Network<Regressor> plain{Cpu{0}};
  nn::Network<Regressor> scaled{Cpu{0}};
  set_weights(scaled, weights_of(plain));
  auto plain_step = make(plain, rule);
  auto step = make(scaled, optim::loss_scaled<quick>(rule));
  const std::vector<double> scales{512, 512, 1024, 512, 512, 1024, 1024};
  const std::vector<double> skipped{1, 1, 1, 2, 2, 2, 2};
  for (std::size_t i = 0; i < scales.size(); ++i) {
    const bool is_bad = i == 0 || i == 3;
    const std::vector<float> before = weights_of(scaled);
    const Batch next = is_bad ? overflowing() : batch(i);
    run(step, next);
    if (!is_bad) run(plain_step, next);
    INFO("step " << i);
    if (is_bad) CHECK(weights_of(scaled) == before);
    CHECK(distance(weights_of(scaled), weights_of(plain)) < 2e-6);
    CHECK(step.state(optim::loss_scale_state) == scales[i]);
    CHECK(step.state(optim::skipped_steps_state) == skipped[i]);
    CHECK(step.state(optim::was_skipped_state) == (is_bad ? 1 : 0));
  }
}

constexpr auto planned = [](auto& model, auto rule) { return train_step(model, nn::mse, rule); };
constexpr auto run_planned = [](auto& step, const Batch& b) { static_cast<void>(step(b.x, b.target)); };

/// Steps in stages, with what they need.
template <class Network, class R> struct Staged {
  Staged(Network& network, R rule) : model{&network}, optimiser{network, rule} {}
  void operator()(const Batch& b) {
    optimiser.zero_grad();
    optimiser.backward(nn::mse(model->forward(b.x), b.target));
    optimiser.step();
  }
  [[nodiscard]] double state(std::string_view name) const { return optimiser.state(name); }
  Network* model;
  training::Optimiser<Network, R> optimiser;
};

} // namespace

TEST_CASE("a loss scale changes no result, and an overflow changes nothing but the scale", "[training][TRAIN-6]") {
  check(optim::MomentumSgd{{.rate = 0.05, .momentum = 0.9, .dampening = 0.5}}, planned, run_planned);
  check(optim::clip_norm(optim::decay_matrices_only(optim::AdamW{{.rate = 0.01}}), 0.1), planned, run_planned);
}

TEST_CASE("a loss scale works in stages, with accumulation and on several devices", "[training][TRAIN-6]") {
  const auto staged = [](auto& model, auto rule) {
    return Staged<std::decay_t<decltype(model)>, decltype(rule)>{model, rule};
  };
  check(optim::Adam{{.rate = 0.01}}, staged, [](auto& step, const Batch& b) { step(b); });
  check(
      optim::Lamb{{.rate = 0.01}}, [](auto& model, auto rule) { return accumulated_step(model, nn::mse, rule); },
      [](auto& step, const Batch& b) {
        step.add(b.x(slice(0, 4)), b.target(slice(0, 4)));
        step.add(b.x(slice(4, 9)), b.target(slice(4, 9)));
        static_cast<void>(step.finish());
      });
  struct Parallel {
    DataParallel<nn::Network<Regressor>> model;
  };
  std::vector<std::unique_ptr<Parallel>> models{};
  check(
      optim::clip_norm(optim::MomentumSgd{{.rate = 0.05}}, 0.1),
      [&](auto& model, auto rule) {
        models.push_back(std::make_unique<Parallel>(Parallel{DataParallel{model, {.devices = {Cpu{0}, Cpu{1}}}}}));
        return train_step(models.back()->model, nn::mse, rule);
      },
      run_planned);
}

TEST_CASE("gradients can be unscaled once before a step", "[training][TRAIN-6]") {
  nn::Network<Regressor> model{Cpu{0}};
  training::Optimiser optimiser{model, optim::loss_scaled<quick>(optim::Sgd{{.rate = 0.1}})};
  nn::Network<Regressor> plain{Cpu{0}};
  set_weights(plain, weights_of(model));
  const Batch b = batch(3);
  nn::mse(plain.forward(b.x), b.target).backward();
  optimiser.backward(nn::mse(model.forward(b.x), b.target));
  std::vector<float> scaled = gradients_of(plain);
  for (float& gradient : scaled) gradient *= 1024;
  CHECK(gradients_of(model) == scaled);
  optimiser.unscale();
  CHECK(gradients_of(model) == gradients_of(plain));
  CHECK_THROWS_WITH(optimiser.unscale(),
                    Catch::Contains("unscale: the gradients were divided by the loss scale before"));
  optimiser.step();
  training::Optimiser reference{plain, optim::Sgd{{.rate = 0.1}}};
  reference.step();
  CHECK(distance(weights_of(model), weights_of(plain)) < 1e-7);
  optimiser.zero_grad();
  optimiser.backward(nn::mse(model.forward(b.x), b.target));
  CHECK_NOTHROW(optimiser.unscale());
}
