// SPDX-License-Identifier: Apache-2.0
//
// A model that draws normal numbers and takes medians of its batch: a seed repeats its runs, each of which draws anew, and the
// backward pass sees the numbers of the forward pass.

#include "tests/training/models.hpp"

#include <twill/ops/value_draws.hpp>
#include <twill/ops/value_quantiles.hpp>
#include <twill/optim/sgd.hpp>

#include <catch2/catch.hpp>

#include <cstddef>
#include <vector>

using namespace twill;
using namespace twill::test;

namespace {

// region: sampler
/// The encoder of a variational autoencoder: its draws, less their medians over the batch.
struct Sampler {
  static constexpr auto forward(Input<Dim<"batch">, 5> x) {
    const auto mean = nn::linear(x, 2, "mean");
    const auto deviation = exp(nn::linear(x, 2, "log_variance") * 0.5);
    const auto z = normal(mean, deviation);
    return z - median<0>(z, keepdims);
  }
};
// end region

} // namespace

TEST_CASE("a model that draws repeats by its seed, and its gradients are those of its draws", "[nn][gradient]") {
  INFO("seed " << test_seed());
  const Cpu device{0};
  nn::Network<Sampler, Cpu, double> model{device};
  const auto x = random_rows<double, 5>(device, 7);
  const std::vector<double> start = weights_of(model);
  const auto loss_at = [&](const std::vector<double>& weights) {
    set_weights(model, weights);
    manual_seed(device, 17);
    return nn::mse(model.forward(x), zeros<double, Shape<dyn, 2>>(Dims(7, 2)));
  };
  loss_at(start).backward();
  const std::vector<double> gradients = gradients_of(model);
  REQUIRE(gradients.size() == 24);
  for (std::size_t i = 0; i < start.size(); ++i) {
    std::vector<double> moved = start;
    moved[i] = start[i] + 1e-6;
    const double above = loss_at(moved).item();
    moved[i] = start[i] - 1e-6;
    const double below = loss_at(moved).item();
    CHECK(gradients[i] == Approx((above - below) / 2e-6).epsilon(1e-3).margin(1e-5));
  }
  const double first = loss_at(start).item();
  CHECK(first == loss_at(start).item());
  CHECK(first != nn::mse(model.forward(x), zeros<double, Shape<dyn, 2>>(Dims(7, 2))).item());
}
