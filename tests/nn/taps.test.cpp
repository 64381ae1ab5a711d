// SPDX-License-Identifier: Apache-2.0
//
// Taps and hooks on layers show what the model computes: in stages, in planned steps, and in each replica.

#include "tests/nn/tapped_blocks.hpp"
#include "tests/support/late_device.hpp"

#include <twill/optim/sgd.hpp>
#include <twill/parallel/data/data_parallel_step.hpp>
#include <twill/training/train_step.hpp>

#include <catch2/catch.hpp>

#include <cmath>
#include <mutex>
#include <string>
#include <vector>

using namespace twill;
using namespace twill::test;

namespace {

template <class D, class T> using Watched = nn::Network<nn::Hooked<Blocks<true>>, D, T>;

} // namespace

TEST_CASE("what hooks see is what the layers compute", "[nn][TRAIN-2]") {
  Watched<Late, double> model{Late{0}};
  Seen begins{};
  Seen results{};
  Seen taps{};
  Seen gradients{};
  model.on_layer_begin("encoder.0.inner", [&](const compile::Observation& seen) { begins.push_back(seen); });
  model.on_layer("encoder.0.inner", [&](const compile::Observation& seen) { results.push_back(seen); });
  model.on_tap("encoder.0.*", [&](const compile::Observation& seen) { taps.push_back(seen); });
  model.on_layer_backward("head", [&](const compile::Observation& seen) { gradients.push_back(seen); });
  const auto x = random_rows<double, 5>(Late{0}, 4);
  mean(model.forward(x)).backward();
  REQUIRE(begins.size() == 1);
  REQUIRE(results.size() == 1);
  const auto weight = to_vector(model.parameter<"encoder.0.inner.weight">());
  const auto bias = to_vector(model.parameter<"encoder.0.inner.bias">());
  for (std::size_t row = 0; row < 4; ++row)
    for (std::size_t column = 0; column < 6; ++column) {
      double sum = bias[column];
      for (std::size_t k = 0; k < 6; ++k) sum += begins[0].values[row * 6 + k] * weight[column * 6 + k];
      CHECK(results[0].values[row * 6 + column] == Approx(sum).epsilon(1e-12));
    }
  REQUIRE(taps.size() == 6); // three values, then their gradients
  CHECK(taps[0].values == results[0].values);
  for (std::size_t i = 0; i < 24; ++i) {
    CHECK(taps[1].values[i] == taps[0].values[i] * 0.5);
    CHECK(taps[2].values[i] == Approx(std::tanh(taps[1].values[i])).epsilon(1e-12));
    CHECK(taps[3].layer == "encoder.0.turned");
    const double slope = 1 - taps[2].values[i] * taps[2].values[i];
    CHECK(taps[4].values[i] == Approx(taps[3].values[i] * slope).epsilon(1e-9).margin(1e-15));
    CHECK(taps[5].values[i] == taps[4].values[i] * 0.5);
  }
  REQUIRE(gradients.size() == 1);
  CHECK(gradients[0].values == std::vector<double>(12, 1.0 / 12));
}

TEST_CASE("a tap is seen in a tapped step, and named where something is not finite", "[nn][TRAIN-2]") {
  nn::Network<Blocks<true>, Late, double> model{Late{0}};
  auto step = train_step(model, nn::mse, optim::Sgd{{.rate = 0.1}});
  const auto x = random_rows<double, 5>(Late{0}, 3);
  const auto targets = random_rows<double, 3>(Late{0}, 3, 1);
  Seen seen{};
  step.tapped(
      "*halved", [&](const compile::Observation& each) { seen.push_back(each); }, x, targets);
  CHECK(names_of(seen) ==
        std::vector<std::string>{"encoder.0.halved", "encoder.1.halved", "encoder.1.halved", "encoder.0.halved"});
  CHECK((seen[0].operation == "tap" && !seen[0].is_gradient && seen[2].is_gradient));
  seen.clear();
  step.tapped(
      "shares", [&](const compile::Observation& each) { seen.push_back(each); }, x, targets);
  REQUIRE(seen.size() == 2);
  for (std::size_t row = 0; row < 3; ++row) {
    double sum = 0;
    for (std::size_t k = 0; k < 6; ++k) sum += seen[0].values[row * 6 + k];
    CHECK(sum == Approx(1));
  }
  model.parameter<"encoder.1.inner.bias">().fill(std::nan(""));
  CHECK_THROWS_WITH(step.checked(x, targets), Catch::Contains("in encoder.1"));
}

TEST_CASE("hooks on layers are called in each replica, with its device", "[nn][parallel][PAR-2]") {
  Watched<Late, double> model{Late{0}};
  std::mutex mutex{};
  Seen seen{};
  model.on_layer("encoder.0", [&](const compile::Observation& each) {
    const std::lock_guard lock{mutex};
    seen.push_back(each);
  });
  DataParallel parallel{model, {.devices = {Late{0}, Late{1}}}};
  const auto x = random_rows<double, 5>(Late{0}, 5);
  const auto check = [&] {
    REQUIRE(seen.size() == 2);
    if (seen[0].device == "late:1") std::swap(seen[0], seen[1]);
    CHECK((seen[0].device == "late:0" && seen[0].shape == Dims(3, 6)));
    CHECK((seen[1].device == "late:1" && seen[1].shape == Dims(2, 6)));
    seen.clear();
  };
  static_cast<void>(parallel.forward(x));
  check();
  auto step = train_step(parallel, nn::mse, optim::Sgd{{.rate = 0.1}});
  static_cast<void>(step(x, random_rows<double, 3>(Late{0}, 5, 1)).item());
  check();
}
