#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// A network's training on a GPU beside that on the host: losses of three steps and the weights after them. On a GPU the last
// step replays what the second has captured.

#include <tests/support/suite.hpp>
#include <tests/training/models.hpp>

#include <twill/nn/network.hpp>
#include <twill/optim/sgd.hpp>
#include <twill/training/train_step.hpp>

#include <concepts>
#include <cstddef>
#include <vector>

namespace twill::test {

/// Losses of three steps, then the weights.
template <class Model, class Loss, class Device, class... Tensors>
std::vector<double> trained(Device device, const Loss& loss, double rate, const Tensors&... batch) {
  manual_seed_all(5);
  nn::Network<Model, Device, double> model{device};
  auto step = train_step(model, loss, optim::Sgd{{.rate = rate}});
  std::vector<double> numbers{};
  for (int i = 0; i < 3; ++i) numbers.push_back(step(batch.to(device)...).item());
  if constexpr (std::same_as<Device, TestedDevice>)
    require(step.capture_report().graph_runs > 0 && step.capture_report().is_captured());
  for (const double weight : weights_of(model)) numbers.push_back(weight);
  return numbers;
}

/// On the tested device as on the host.
template <class Model, class Loss, class... Tensors>
void require_trains_as_on_the_host(const Loss& loss, double rate, const Tensors&... batch) {
  const std::vector<double> there = trained<Model>(TestedDevice{0}, loss, rate, batch...);
  const std::vector<double> here = trained<Model>(Cpu{0}, loss, rate, batch...);
  require_equal(there.size(), here.size());
  for (std::size_t i = 0; i < here.size(); ++i) require_close(there[i], here[i], 1e-9, 1e-12);
}

} // namespace twill::test
