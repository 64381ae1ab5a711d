// SPDX-License-Identifier: Apache-2.0
//
// Staged runs and replicas of a model with a budget: the bits of the model without, and less memory.

#include "tests/training/fitted.hpp"

#include <twill/optim/sgd.hpp>
#include <twill/parallel/data/data_parallel_step.hpp>

#include <catch2/catch.hpp>

#include <cstdint>
#include <vector>

using namespace twill;
using namespace twill::test;

namespace {

constexpr compile::FitReport least = fit_report<FittedDeep<1>>();
using Tight = FittedDeep<least.with.total()>;

/// Gradients of a staged run, and the bytes that it took with the weights.
template <class Model> Trained staged(const auto& x, const auto& cotangent) {
  const Cpu device{0};
  manual_seed_all(7);
  const std::int64_t before = memory_allocated(device);
  reset_peak_memory_stats(device);
  nn::Network<Model, Cpu, float> model{device};
  const auto output = model.forward(x);
  output.backward_from(cotangent);
  Trained result{{}, max_memory_allocated(device) - before};
  for (const double gradient : gradients_of(model)) result.numbers.push_back(gradient);
  return result;
}

/// Losses and weights of two steps on two devices.
template <class Model> std::vector<double> trained_on_two(const auto& x, const auto& label) {
  manual_seed_all(7);
  nn::Network<Model, Cpu, float> model{Cpu{0}};
  DataParallel parallel{model, {.devices = {Cpu{0}, Cpu{1}}}};
  auto step = train_step(parallel, nn::cross_entropy, optim::Sgd{{.rate = 0.5}});
  std::vector<double> result{};
  for (int i = 0; i < 2; ++i) result.push_back(static_cast<double>(step(x, label).item()));
  for (const double weight : weights_of(model)) result.push_back(weight);
  return result;
}

} // namespace

TEST_CASE("staged runs of a model with a budget have the bits of one without, and keep to it", "[training][TRAIN-5]") {
  const auto x = random_rows<float, Deep::width>(Cpu{0}, Deep::rows);
  const auto cotangent = random_rows<float, 3>(Cpu{0}, Deep::rows, 5);
  const Trained plain = staged<Deep>(x, cotangent);
  const Trained own = staged<Tight>(x, cotangent);
  CAPTURE(to_string(least));
  CHECK(differing(own.numbers, plain.numbers) == 0);
  CHECK(plain.peak <= least.without.total());
  CHECK(own.peak <= least.with.total());
  CHECK(own.peak < plain.peak);
}

TEST_CASE("replicas of a model with a budget have the bits of one without", "[training][TRAIN-5][PAR-1]") {
  const auto x = random_rows<float, Deep::width>(Cpu{0}, Deep::rows);
  const auto label = random_labels(Cpu{0}, Deep::rows, 3);
  CHECK(differing(trained_on_two<Tight>(x, label), trained_on_two<Deep>(x, label)) == 0);
}
