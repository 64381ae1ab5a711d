// SPDX-License-Identifier: Apache-2.0
//
// Training from a loader over the late kind of device, in every form there is: planned, staged, accumulated, in evaluation
// and without gradients. The numbers are those of `Cpu`.

#include "tests/support/late_device.hpp"
#include "tests/support/test_seed.hpp"
#include "tests/training/trained_numbers.hpp"

#include <twill/optim/adam.hpp>
#include <twill/optim/sgd.hpp>
#include <twill/training/accumulation.hpp>

#include <catch2/catch.hpp>

#include <cstdint>
#include <vector>

using namespace twill;
using namespace twill::test;

namespace {

template <class Train> void check_both_kinds(const Train& train) {
  INFO("seed " << test_seed());
  const std::vector<double> here = numbers_of(Cpu{0}, train);
  const std::vector<double> there = numbers_of(Late{1}, train);
  CHECK(largest_difference(here, there) < 1e-12);
}

} // namespace

TEST_CASE("planned steps from a loader give the same numbers on a late device", "[training][DEV-3][TRAIN-8]") {
  check_both_kinds([](auto& model, auto& loader, std::vector<double>& numbers) {
    auto step = train_step(model, nn::cross_entropy, optim::Adam{{.rate = 0.01, .epsilon = 1e-4}});
    for (int epoch = 0; epoch < 2; ++epoch)
      for (auto [x, label] : loader) numbers.push_back(step(x, label).item());
  });
}

TEST_CASE("staged runs from a loader give the same numbers on a late device", "[training][DEV-3][TRAIN-8]") {
  check_both_kinds([](auto& model, auto& loader, std::vector<double>& numbers) {
    training::Optimiser optimiser{model, optim::MomentumSgd{{.rate = 0.1}}};
    for (int epoch = 0; epoch < 2; ++epoch)
      for (auto [x, label] : loader) {
        optimiser.zero_grad();
        const auto loss = nn::cross_entropy(model.forward(x), label);
        loss.backward();
        for (double gradient : gradients_of(model)) numbers.push_back(gradient);
        optimiser.step();
        numbers.push_back(loss.item());
      }
  });
}

TEST_CASE("accumulation from a loader gives the same numbers on a late device", "[training][DEV-3][TRAIN-4]") {
  check_both_kinds([](auto& model, auto& loader, std::vector<double>& numbers) {
    auto step = accumulated_step(model, nn::cross_entropy, optim::AdamW{{.epsilon = 1e-4}});
    for (int epoch = 0; epoch < 2; ++epoch) {
      for (auto [x, label] : loader) step.add(x, label);
      numbers.push_back(step.finish().item());
    }
  });
}
