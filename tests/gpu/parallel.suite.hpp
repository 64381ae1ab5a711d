#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// One model on several GPUs: the numbers are those of one, whoever has the rows and wherever they come from. On a machine
// with one GPU there is one replica.

#include <tests/support/suite.hpp>
#include <tests/train/models.hpp>

#include <twill/data/loader.hpp>
#include <twill/data/tensor_dataset.hpp>
#include <twill/memory/statistics.hpp>
#include <twill/optim/adam.hpp>
#include <twill/parallel/data_parallel_step.hpp>
#include <twill/parallel/ranks.hpp>
#include <twill/tensor/random.hpp>

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <vector>

namespace twill::test {
namespace parallel_suite {

using D = TestedDevice;
using Network = nn::Network<DropoutClassifier, D, double>;

/// Up to three devices.
inline std::vector<D> devices() {
  std::vector<D> all{};
  for (int index = 0; index < std::min(D::count(), 3); ++index) all.push_back(D{index});
  return all;
}

inline Network seeded_network() {
  manual_seed_all(7);
  return Network{D{0}};
}

inline void require_near(const std::vector<double>& left, const std::vector<double>& right) {
  require_equal(left.size(), right.size());
  for (std::size_t i = 0; i < left.size(); ++i) require_close(left[i], right[i], 1e-10, 1e-12);
}

inline void staged() {
  auto alone = seeded_network();
  auto module = seeded_network();
  const auto x = random_rows<double, 5>(Cpu{0}, 13);
  const DataParallel replicated{module, {.devices = devices(), .output_device = devices().back()}};
  manual_seed_all(9);
  const auto expected = alone.forward(x.to(D{0}));
  manual_seed_all(9);
  const auto output = replicated.forward(x);
  static_assert(std::same_as<typename decltype(output)::Value, Tensor<double, D, Shape<dyn, 3>>>);
  require(output.device() == devices().back());
  require_near(to_vector(output.value()), to_vector(expected.value()));
  sum(expected).backward();
  sum(output).backward();
  require_near(gradients_of(module), gradients_of(alone));
}
const Case staged_case{"replicas on GPUs take rows from the host and leave their output where it was asked for",
                       &staged};

inline void planned() {
  auto alone = seeded_network();
  auto module = seeded_network();
  const data::TensorDataset rows{data::column(random_rows<double, 5>(Cpu{0}, 45, 1)),
                                 data::column(random_labels(Cpu{0}, 45, 3, 2))};
  data::DataLoader loader{rows, data::ShuffledSampler{.seed = 4}, D{0}, {.batch_size = 13, .workers = 1}};
  const optim::Adam rule{{.rate = 0.01, .epsilon = 1e-4}};
  DataParallel replicated{module, {.devices = devices()}};
  auto one = train_step(alone, nn::cross_entropy, rule);
  auto many = train_step(replicated, nn::cross_entropy, rule);
  std::vector<double> expected{};
  std::vector<double> losses{};
  manual_seed_all(3);
  for (int epoch = 0; epoch < 3; ++epoch)
    for (auto [x, label] : loader.epoch(epoch)) expected.push_back(one(x, label).item());
  manual_seed_all(3);
  for (int epoch = 0; epoch < 3; ++epoch)
    for (auto [x, label] : loader.epoch(epoch)) losses.push_back(many(x, label).item());
  require_equal(losses.size(), std::size_t{12});
  require_near(losses, expected);
  require_near(weights_of(module), weights_of(alone));
  for (const compile::CaptureReport& report : many.capture_reports()) require(report.graph_runs > 0);
}
const Case planned_case{"replicas on GPUs train from a loader as one device does, in captured programs", &planned};

inline void collectives() {
  std::vector<D> places{};
  for (int rank = 0; rank < 3; ++rank) places.push_back(D{rank % D::count()});
  auto communicators = parallel::thread_communicators(places, {.timeout_ms = 60'000});
  parallel::run_ranks(communicators, [](auto& communicator) {
    const auto rank = static_cast<float>(communicator.rank());
    const auto make = [&](std::vector<float> values) {
      const Dims shape(static_cast<std::int64_t>(values.size()));
      return from_values(values, shape, communicator.device());
    };
    const auto x = make({rank, 1, 2 * rank});
    parallel::all_reduce(communicator, x);
    require_equal(to_vector(x), std::vector<float>{3, 3, 6});
    const auto z = make({rank});
    parallel::broadcast(communicator, z, 2);
    require_equal(to_vector(z), std::vector<float>{2});
    const auto bucket = make(std::vector<float>(1000, rank));
    auto reducing = communicator.start(parallel::Call::all_reduce(parallel::elements(bucket)));
    reducing.wait();
    require_equal(to_vector(bucket), std::vector<float>(1000, 3));
  });
}
const Case collectives_case{"collectives of threads work on memory of GPUs", &collectives};

} // namespace parallel_suite
} // namespace twill::test
