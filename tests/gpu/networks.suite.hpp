#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// A known network on a GPU: a GPT-2 of two layers trains as on the host, from steps that are captured.

#include <examples/models/gpt2.hpp>
#include <tests/support/suite.hpp>
#include <tests/train/models.hpp>

#include <twill/kernel/gpu/attention.hpp>
#include <twill/kernel/gpu/launch.hpp>
#include <twill/optim/sgd.hpp>
#include <twill/train/train_step.hpp>

#include <concepts>
#include <cstdint>
#include <vector>

namespace twill::test {
namespace networks_suite {

using D = TestedDevice;

/// Losses of three steps, then the weights. On a GPU the last step replays what the second has captured.
template <class Model, class Loss, class Device, class... Tensors>
std::vector<double> trained(Device device, const Loss& loss, double rate, const Tensors&... batch) {
  manual_seed_all(5);
  nn::Network<Model, Device, double> model{device};
  auto step = train_step(model, loss, optim::Sgd{{.rate = rate}});
  std::vector<double> numbers{};
  for (int i = 0; i < 3; ++i) numbers.push_back(step(batch.to(device)...).item());
  if constexpr (std::same_as<Device, D>)
    require(step.capture_report().graph_runs > 0 && step.capture_report().is_captured());
  for (const double weight : weights_of(model)) numbers.push_back(weight);
  return numbers;
}

inline void require_near(const std::vector<double>& there, const std::vector<double>& here) {
  require_equal(there.size(), here.size());
  for (std::size_t i = 0; i < here.size(); ++i) require_close(there[i], here[i], 1e-9, 1e-12);
}

inline void gpt() {
  constexpr models::Gpt2Sizes sizes{.vocabulary = 13, .positions = 9, .width = 8, .layers = 2, .heads = 2};
  using Model = models::Gpt2<sizes, 7>;
  constexpr std::int64_t rows = 3;
  const auto ids = [&](std::uint64_t salt) {
    return from_values<Shape<dyn, 7>>(to_vector(random_labels(Cpu{0}, rows * 7, 13, salt)), Dims(rows, 7), Cpu{0});
  };
  const auto tokens = ids(1), next = ids(2);
  require_near(trained<Model>(D{0}, models::NextToken{}, 0.1, tokens, next),
               trained<Model>(Cpu{0}, models::NextToken{}, 0.1, tokens, next));
}
const Case gpt_case{"a GPT-2 of two layers trains on a GPU as on the host, in captured steps", &gpt};

} // namespace networks_suite
} // namespace twill::test
