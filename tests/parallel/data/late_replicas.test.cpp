// SPDX-License-Identifier: Apache-2.0
//
// DataParallel over the late kind of device, where tests/parallel/data/data_parallel.test.cpp stays on `Cpu`: inputs of another
// kind, outputs elsewhere, runs without gradients, and training from a loader, against one device.

#include <twill/data/loader.hpp>
#include <twill/data/tensor_dataset.hpp>
#include <twill/memory/statistics.hpp>
#include <twill/nn/dropout.hpp>
#include <twill/nn/linear.hpp>
#include <twill/optim/adam.hpp>
#include <twill/parallel/data/data_parallel_step.hpp>
#include <twill/tensor/random.hpp>

#include "tests/support/late_device.hpp"
#include "tests/support/numbers.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <vector>

using namespace twill;
using twill::test::largest_difference;
using twill::test::Late;

namespace {

struct Mlp {
  static constexpr auto forward(Input<Dim<"batch">, 7> x) {
    return nn::linear(nn::dropout(tanh(nn::linear(x, 12, "hidden")), 0.3), 5, "output");
  }
};

Tensor<double, Cpu, Shape<dyn, 7>> rows_of_noise(std::int64_t rows) {
  manual_seed(Cpu{0}, 40);
  return randn<double, Shape<dyn, 7>>(Dims(rows, 7), Cpu{0});
}

nn::Network<Mlp, Late, double> seeded_network() {
  manual_seed_all(7);
  return nn::Network<Mlp, Late, double>{Late{0}};
}

} // namespace

TEST_CASE("late replicas take rows from the host and leave their output where it was asked for",
          "[parallel][PAR-1][DEV-3]") {
  auto alone = seeded_network();
  auto module = seeded_network();
  const auto x = rows_of_noise(13);
  const DataParallel replicated{module, {.devices = {Late{0}, Late{1}, Late{2}}, .output_device = Late{3}}};
  manual_seed_all(9);
  const auto expected = alone.forward(x.to(Late{0}));
  manual_seed_all(9);
  const auto output = replicated.forward(x);
  static_assert(std::same_as<decltype(output)::Value, Tensor<double, Late, Shape<dyn, 5>>>);
  CHECK(output.device() == Late{3});
  CHECK(largest_difference(to_vector(output.value()), to_vector(expected.value())) < 1e-12);
  sum(expected).backward();
  sum(output).backward();
  CHECK(largest_difference(to_vector(module.gradient<"hidden.weight">()),
                           to_vector(alone.gradient<"hidden.weight">())) < 1e-12);
}

TEST_CASE("late replicas of a run without gradients keep nothing", "[parallel][PAR-2][MEM-5]") {
  auto module = seeded_network();
  const auto x = rows_of_noise(8);
  const DataParallel replicated{module, {.devices = {Late{0}, Late{1}}}};
  const nn::NoGrad scope{};
  const auto before = memory_allocated(Late{1});
  const auto output = replicated.forward(x);
  CHECK(memory_allocated(Late{1}) - before == 512); // the output alone: 4 x 5 x 8 bytes, rounded up
  CHECK_THROWS_AS(output.backward_from(output.value()), ValueError);
}

TEST_CASE("late replicas train from a loader as one device does", "[parallel][PAR-3][TRAIN-8]") {
  auto alone = seeded_network();
  auto module = seeded_network();
  std::vector<std::int64_t> labels{};
  for (std::int64_t i = 0; i < 45; ++i) labels.push_back(i % 5);
  const data::TensorDataset rows{data::column(rows_of_noise(45)), data::column(labels)};
  data::DataLoader loader{rows, data::ShuffledSampler{.seed = 4}, Late{0}, {.batch_size = 13, .workers = 1}};
  const optim::Adam rule{{.rate = 0.01, .epsilon = 1e-4}};
  DataParallel replicated{module, {.devices = {Late{0}, Late{1}}}};
  auto one = train_step(alone, nn::cross_entropy, rule);
  auto many = train_step(replicated, nn::cross_entropy, rule);
  std::vector<double> expected{};
  manual_seed_all(3);
  for (auto [x, label] : loader.epoch(0)) expected.push_back(one(x, label).item());
  std::vector<double> losses{};
  manual_seed_all(3);
  for (auto [x, label] : loader.epoch(0)) losses.push_back(many(x, label).item());
  CHECK(losses.size() == 4);
  CHECK(largest_difference(losses, expected) < 1e-12);
  CHECK(largest_difference(to_vector(module.parameter<"output.weight">()),
                           to_vector(alone.parameter<"output.weight">())) < 1e-12);
}

TEST_CASE("a step of late replicas takes its batch from the host", "[parallel][PAR-3][DEV-3]") {
  auto module = seeded_network();
  auto again = seeded_network();
  const auto x = rows_of_noise(9);
  const auto label = zeros<std::int64_t, Shape<dyn>>(Dims(9), Cpu{0});
  const auto train = [&](auto& network, const auto& given, const auto& target) {
    DataParallel replicated{network, {.devices = {Late{0}, Late{1}}}};
    auto step = train_step(replicated, nn::cross_entropy, optim::Adam{});
    manual_seed_all(3);
    return step(given, target).item();
  };
  CHECK(train(module, x, label) == train(again, x.to(Late{0}), label.to(Late{0})));
}
