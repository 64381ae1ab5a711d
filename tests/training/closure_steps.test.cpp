// SPDX-License-Identifier: Apache-2.0
//
// Steps that evaluate gradients more than once, beside PyTorch: sharpness-aware ones and L-BFGS, on a small network.

#include "tests/support/golden.hpp"
#include "tests/training/models.hpp"

#include <twill/expr.hpp>
#include <twill/nn/batch_norm.hpp>
#include <twill/nn/losses.hpp>
#include <twill/nn/state_dict.hpp>
#include <twill/optim/adam.hpp>
#include <twill/optim/schedules.hpp>
#include <twill/optim/sgd.hpp>
#include <twill/training/lbfgs_step.hpp>
#include <twill/training/sam_step.hpp>

#include <catch2/catch.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

using namespace twill;
using namespace twill::test;

namespace {

template <class Step, class Network> void follow(const std::string& name, Network& model, Step& step, double epsilon) {
  INFO(name);
  const Golden losses = golden("closures/" + name + "_losses");
  const Golden weights = golden("closures/" + name + "_weights");
  const auto x = from_values<Shape<dyn, 2>>(golden("closures/x").values, Dims(9, 2));
  const auto y = from_values<Shape<dyn, 1>>(golden("closures/y").values, Dims(9, 1));
  set_weights(model, golden("closures/start").values);
  for (std::size_t i = 0; i < losses.values.size(); ++i) {
    INFO("step " << i);
    CHECK(step(x, y) == Approx(losses.values[i]).epsilon(epsilon));
    const std::vector<double> got = weights_of(model);
    for (std::size_t k = 0; k < got.size(); ++k)
      CHECK(got[k] == Approx(weights.values[i * got.size() + k]).epsilon(epsilon).margin(epsilon));
  }
  CHECK(step.steps() == static_cast<std::int64_t>(losses.values.size()));
}

/// A batch norm, whose running statistics each forward pass in training moves.
struct Normed {
  static constexpr auto forward(Input<Dim<"batch">, 2> x) {
    return nn::linear(nn::batch_norm(nn::linear(x, 4, "hidden"), "norm"), 1, "output");
  }
};

} // namespace

TEST_CASE("sharpness-aware steps are those of their papers", "[training][TRAIN-3]") {
  nn::Network<Regressor, Cpu, double> model{Cpu{0}};
  auto step = sam_step(model, nn::mse, optim::MomentumSgd{{.rate = 0.1}}, {.rho = 0.3});
  follow("sam", model, step, 1e-11);
  auto adaptive = sam_step(model, nn::mse, optim::MomentumSgd{{.rate = 0.1}}, {.rho = 0.7, .adaptive = true});
  follow("asam", model, adaptive, 1e-11);
  CHECK_THROWS_WITH(sam_step(model, nn::mse, optim::Sgd{}, {.rho = -1}),
                    Catch::Contains("sam: rho must not be negative, got -1"));
}

TEST_CASE("a sharpness-aware step moves running statistics once, and saves its rule's states", "[training][TRAIN-3]") {
  const auto x = random_rows<double, 2>(Cpu{0}, 16);
  const auto y = random_rows<double, 1>(Cpu{0}, 16, 1);
  nn::Network<Normed, Cpu, double> model{Cpu{0}};
  nn::Network<Normed, Cpu, double> other{Cpu{0}};
  nn::load_state_dict(other, nn::state_dict(model));
  auto step = sam_step(model, nn::mse, optim::Adam{{.rate = 0.01}});
  auto driver = optim::scheduled(step, optim::Exponential{.rate = 0.01, .factor = 0.5});
  static_cast<void>(step(x, y));
  static_cast<void>(other.forward(x));
  const auto mean_of = [](const auto& network) { return network.template parameter<"norm.running_mean">(); };
  const Tensor difference = max(abs(mean_of(model) - mean_of(other)));
  CHECK(difference.item() == 0);
  CHECK(driver.update() == 0.005);
  CHECK(step.rule.options.rate == 0.005);

  auto resumed = sam_step(other, nn::mse, optim::Adam{});
  nn::load_state_dict(other, nn::state_dict(model));
  resumed.load_state_dict(step.state_dict());
  CHECK(resumed.steps() == 1);
  CHECK(resumed(x, y) == step(x, y));
  CHECK(weights_of(other) == weights_of(model));
}

TEST_CASE("L-BFGS trains a network as torch.optim.LBFGS does", "[training][TRAIN-3]") {
  nn::Network<Regressor, Cpu, double> model{Cpu{0}};
  auto step = lbfgs_step(model, nn::mse, {.iterations = 4});
  follow("lbfgs", model, step, 1e-7);
}

TEST_CASE("L-BFGS on a network resumes with equal bits, and refuses the state of another", "[training][TRAIN-3]") {
  const auto x = random_rows<double, 2>(Cpu{0}, 16);
  const auto y = random_rows<double, 1>(Cpu{0}, 16, 1);
  nn::Network<Regressor, Cpu, double> model{Cpu{0}}, other{Cpu{0}};
  auto step = lbfgs_step(model, nn::mse, {.iterations = 3});
  auto resumed = lbfgs_step(other, nn::mse, {.iterations = 3});
  for (int i = 0; i < 2; ++i) static_cast<void>(step(x, y));
  nn::load_state_dict(other, nn::state_dict(model));
  CHECK(resumed.load_state_dict(step.state_dict()).loaded.empty());
  CHECK(resumed.steps() == 2);
  CHECK(resumed(x, y) == step(x, y));
  CHECK(weights_of(other) == weights_of(model));

  nn::Network<Normed, Cpu, double> normed{Cpu{0}};
  auto of_another = lbfgs_step(normed, nn::mse);
  CHECK_THROWS_WITH(of_another.load_state_dict(step.state_dict()),
                    Catch::Contains("lbfgs: load_state_dict: the state is of"));
  CHECK(of_another.steps() == 0);
}

TEST_CASE("L-BFGS fits a line exactly", "[training][TRAIN-3]") {
  nn::Network<Regressor> model{Cpu{0}};
  const auto x = random_rows<float, 2>(Cpu{0}, 64);
  const Tensor y = matmul(x, tensor({{0.5F}, {-0.25F}}));
  // region: lbfgs
  auto step = lbfgs_step(model, nn::mse, {.iterations = 50});
  double loss = step(x, y).item();
  for (int i = 0; i < 4; ++i) loss = step(x, y).item(); // the loss before the last fifty iterations
  // end region
  CHECK(loss < 1e-4);
}
