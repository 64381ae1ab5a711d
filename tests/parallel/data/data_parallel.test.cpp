// SPDX-License-Identifier: Apache-2.0
//
// Data-parallel runs against one device: equal within 1e-12 in float64, with dropout on, for uneven shards, with the loss
// outside and inside the replicas, over host devices and over the late kind whose memory traps.

#include <twill/io/training.hpp>
#include <twill/memory/statistics.hpp>
#include <twill/nn/dropout.hpp>
#include <twill/nn/linear.hpp>
#include <twill/optim/adam.hpp>
#include <twill/optim/sgd.hpp>
#include <twill/parallel/data/data_parallel_step.hpp>

#include "tests/support/four_devices.hpp"
#include "tests/support/late_device.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/numbers.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

using namespace twill;
using twill::test::largest_difference;
using twill::test::Late;
using twill::test::message_of;

namespace {

struct Mlp {
  static constexpr auto forward(Input<Dim<"batch">, 7> x) {
    const auto hidden = nn::dropout(tanh(nn::linear(x, 12, "hidden")), 0.3);
    return nn::linear(hidden, 5, "output");
  }
};

template <class D> struct Batch {
  Tensor<double, D, Shape<dyn, 7>> x;
  Tensor<std::int64_t, D, Shape<dyn>> label;
};

template <class D> Batch<D> batch(std::int64_t rows, const D& device, unsigned seed = 1) {
  std::mt19937_64 engine{seed};
  std::normal_distribution<double> normal{};
  Tensor<double, Cpu, Shape<dyn, 7>> x(Cpu{0}, Dims(rows, 7));
  Tensor<std::int64_t, Cpu, Shape<dyn>> label(Cpu{0}, Dims(rows));
  for (std::int64_t i = 0; i < x.elements(); ++i) x.data()[i] = normal(engine);
  for (std::int64_t i = 0; i < rows; ++i) label.data()[i] = static_cast<std::int64_t>(engine() % 5);
  return {x.to(device), label.to(device)};
}

template <class D> std::vector<D> first_devices(int count) {
  std::vector<D> devices{};
  for (int i = 0; i < count; ++i) devices.push_back(D{i});
  return devices;
}

/// All weights, or all gradients, one behind the other.
template <class Network> std::vector<double> weights_of_both(const Network& network) {
  std::vector<double> result{};
  for (const auto& part : {to_vector(network.template parameter<"hidden.weight">()),
                           to_vector(network.template parameter<"hidden.bias">()),
                           to_vector(network.template parameter<"output.weight">()),
                           to_vector(network.template parameter<"output.bias">())})
    result.insert(result.end(), part.begin(), part.end());
  return result;
}
template <class Network> std::vector<double> gradients_of_both(const Network& network) {
  std::vector<double> result{};
  for (const auto& part :
       {to_vector(network.template gradient<"hidden.weight">()), to_vector(network.template gradient<"hidden.bias">()),
        to_vector(network.template gradient<"output.weight">()), to_vector(network.template gradient<"output.bias">())})
    result.insert(result.end(), part.begin(), part.end());
  return result;
}

template <class D> nn::Network<Mlp, D, double> seeded_network(const D& device) {
  manual_seed_all(7);
  return nn::Network<Mlp, D, double>{device};
}

} // namespace

TEMPLATE_TEST_CASE("the loss of gathered outputs gives one device's gradients, dropout included", "[parallel][PAR-1]",
                   Cpu, Late) {
  const auto [rows, devices] = GENERATE(std::pair{13, 2}, std::pair{16, 2}, std::pair{5, 4}, std::pair{1, 3});
  const auto data = batch<TestType>(rows, TestType{0});
  auto alone = seeded_network(TestType{0});
  auto module = seeded_network(TestType{0});
  manual_seed_all(11);
  const auto expected = nn::cross_entropy(alone.forward(data.x), data.label);
  expected.backward();

  const DataParallel parallel{module, {.devices = first_devices<TestType>(devices)}};
  manual_seed_all(11);
  const auto output = parallel.forward(data.x);
  const auto loss = nn::cross_entropy(output, data.label);
  loss.backward();

  REQUIRE(output.shape() == Dims(rows, 5));
  REQUIRE(std::abs(loss.item() - expected.item()) < 1e-12);
  REQUIRE(largest_difference(gradients_of_both(module), gradients_of_both(alone)) < 1e-12);
}

TEST_CASE("each of two replicas sees half a batch of sixteen", "[parallel][PAR-1]") {
  const auto data = batch<Cpu>(16, Cpu{0});
  auto module = seeded_network(Cpu{0});
  const DataParallel parallel{module, {.devices = first_devices<Cpu>(2)}};
  const auto output = parallel.forward(data.x);
  REQUIRE(output.outputs().size() == 2);
  REQUIRE(output.outputs()[0].shape() == Dims(8, 5));
  REQUIRE(output.outputs()[1].shape() == Dims(8, 5));
  REQUIRE(output.outputs()[1].device() == Cpu{1});
  REQUIRE(output.shape() == Dims(16, 5));
  REQUIRE(output.device() == Cpu{0});
}

TEST_CASE("five rows on four devices run three replicas", "[parallel][PAR-2]") {
  const auto data = batch<Cpu>(5, Cpu{0});
  auto module = seeded_network(Cpu{0});
  const DataParallel parallel{module, {.devices = first_devices<Cpu>(4)}};
  const auto output = parallel.forward(data.x);
  REQUIRE(output.outputs().size() == 3);
  REQUIRE(output.outputs()[2].shape() == Dims(1, 5));
}

TEST_CASE("the input may lie on any device, the output where it was asked for", "[parallel][PAR-1][DEV-4]") {
  const auto data = batch<Cpu>(6, Cpu{3});
  auto module = seeded_network(Cpu{0});
  const DataParallel parallel{module, {.devices = first_devices<Cpu>(2), .output_device = Cpu{2}}};
  REQUIRE(parallel.forward(data.x).device() == Cpu{2});
}

TEST_CASE("a module that is not on the first device is refused, with both devices named", "[parallel][PAR-2]") {
  auto module = seeded_network(Cpu{1});
  const std::string message = message_of<DeviceError>([&] {
    DataParallel{module, {.devices = first_devices<Cpu>(2)}};
  });
  REQUIRE(message.find("cpu:1") != std::string::npos);
  REQUIRE(message.find("cpu:0") != std::string::npos);
}

TEST_CASE("an empty list of devices means the module's own", "[parallel][PAR-2]") {
  auto module = seeded_network(Cpu{1});
  const DataParallel parallel{module, {.devices = {}}};
  REQUIRE(parallel.devices() == std::vector{Cpu{1}});
  REQUIRE(parallel.forward(batch<Cpu>(3, Cpu{0}).x).device() == Cpu{1});
}

TEST_CASE("a device named twice is refused", "[parallel][PAR-2]") {
  auto module = seeded_network(Cpu{0});
  const std::string message = message_of<DeviceError>([&] {
    DataParallel{module, {.devices = {Cpu{0}, Cpu{1}, Cpu{1}}}};
  });
  REQUIRE(message.find("cpu:1 is replica 1 and replica 2") != std::string::npos);
}

TEST_CASE("a replica's exception arrives as its own type and names replica and device", "[parallel][PAR-2]") {
  const auto fail = [] {
    parallel::run_on_replicas(first_devices<Cpu>(3), 3, [](std::size_t rank) {
      if (rank > 0) throw ShapeError("matmul: rank " + std::to_string(rank));
    });
  };
  REQUIRE(message_of<ShapeError>(fail) == "replica 1 on cpu:1: matmul: rank 1");
}

TEST_CASE("replicas of a run without gradients keep nothing", "[parallel][PAR-2][MEM-5]") {
  const auto data = batch<Cpu>(8, Cpu{0});
  auto module = seeded_network(Cpu{0});
  const DataParallel parallel{module, {.devices = first_devices<Cpu>(2)}};
  const nn::NoGrad scope{};
  const auto before = memory_allocated(Cpu{1});
  const auto output = parallel.forward(data.x);
  REQUIRE(memory_allocated(Cpu{1}) - before == 512); // the output alone: 4 x 5 x 8 bytes, rounded up
  REQUIRE_THROWS_AS(output.backward_from(output.value()), ValueError);
}

TEMPLATE_TEST_CASE("steps with the loss inside the replicas equal one device's", "[parallel][PAR-3][TRAIN-4]", Cpu,
                   Late) {
  const auto [rows, devices] = GENERATE(std::pair{13, 2}, std::pair{12, 3}, std::pair{5, 4}, std::pair{2, 4});
  const auto data = batch<TestType>(rows, TestType{0});
  auto alone = seeded_network(TestType{0});
  auto module = seeded_network(TestType{0});
  auto one = train_step(alone, nn::cross_entropy, optim::Adam{{.rate = 0.01f}});
  DataParallel parallel{module, {.devices = first_devices<TestType>(devices)}};
  auto many = train_step(parallel, nn::cross_entropy, optim::Adam{{.rate = 0.01f}});
  std::vector<double> losses{};
  manual_seed_all(3);
  for (int step = 0; step < 5; ++step) losses.push_back(one(data.x, data.label).item());
  manual_seed_all(3);
  for (int step = 0; step < 5; ++step)
    REQUIRE(std::abs(many(data.x, data.label).item() - losses[static_cast<std::size_t>(step)]) < 1e-12);
  REQUIRE(largest_difference(weights_of_both(module), weights_of_both(alone)) < 1e-12);
}

TEST_CASE("training on several devices goes on on one, and back", "[parallel][PAR-3][IO-3][IO-5]") {
  const auto data = batch<Cpu>(13, Cpu{0});
  auto module = seeded_network(Cpu{0});
  DataParallel parallel{module, {.devices = first_devices<Cpu>(2)}};
  auto many = train_step(parallel, nn::cross_entropy, optim::Adam{{.rate = 0.01f}});
  const auto steps = [&](auto& step) {
    for (int i = 0; i < 2; ++i) static_cast<void>(step(data.x, data.label));
  };
  steps(many);
  const io::Checkpoint checkpoint = io::checkpoint_of(module, many);
  steps(many);
  const std::vector<double> weights = weights_of_both(module);
  auto alone = seeded_network(Cpu{1});
  auto one = train_step(alone, nn::cross_entropy, optim::Adam{{.rate = 0.5f}}); // the checkpoint has another rate
  io::restore(checkpoint, alone, one);
  const auto there = batch<Cpu>(13, Cpu{1});
  for (int i = 0; i < 2; ++i) static_cast<void>(one(there.x, there.label));
  REQUIRE(one.steps() == 4);
  REQUIRE(largest_difference(weights_of_both(alone), weights) < 1e-12);
  many.rule.options = {.rate = 0.5, .beta1 = 0.5};
  io::restore(checkpoint, module, many);
  steps(many);
  REQUIRE(weights_of_both(module) == weights);
  io::restore(io::checkpoint_of(alone, one), module, many);
  REQUIRE(weights_of_both(module) == weights_of_both(alone));
}

TEST_CASE("a parallel step gives the same bits every time", "[parallel][PAR-1]") {
  const auto data = batch<Cpu>(13, Cpu{0});
  std::vector<double> first{};
  for (int repeat = 0; repeat < 20; ++repeat) {
    auto module = seeded_network(Cpu{0});
    DataParallel parallel{module, {.devices = first_devices<Cpu>(3)}};
    auto step = train_step(parallel, nn::cross_entropy, optim::MomentumSgd{{.rate = 0.1f}});
    manual_seed_all(5);
    for (int i = 0; i < 3; ++i) static_cast<void>(step(data.x, data.label));
    const std::vector<double> weights = weights_of_both(module);
    if (first.empty()) first = weights;
    REQUIRE(weights == first);
  }
}

TEST_CASE("the first device carries no more than the others", "[parallel][PAR-3]") {
  const auto zero = memory_allocated(Cpu{0});
  const auto one = memory_allocated(Cpu{1});
  auto module = seeded_network(Cpu{0});
  DataParallel parallel{module, {.devices = first_devices<Cpu>(2)}};
  auto step = train_step(parallel, nn::cross_entropy, optim::MomentumSgd{{.rate = 0.1f}});
  {
    const auto data = batch<Cpu>(16, Cpu{2});
    static_cast<void>(step(data.x, data.label));
  }
  REQUIRE(memory_allocated(Cpu{0}) - zero == memory_allocated(Cpu{1}) - one);
  REQUIRE(memory_allocated(Cpu{1}) - one > 0);
}

TEST_CASE("a step tells how its replicas share the work", "[parallel][PAR-3]") {
  auto module = seeded_network(Cpu{0});
  DataParallel parallel{module, {.devices = first_devices<Cpu>(2)}};
  auto step = train_step(parallel, nn::cross_entropy, optim::Sgd{});
  REQUIRE_THROWS_WITH(step.balance(), "balance: there was no step yet");
  const auto data = batch<Cpu>(5, Cpu{2});
  static_cast<void>(step(data.x, data.label));
  const parallel::Balance balance = step.balance();
  REQUIRE(balance.replicas[0].rows == 3);
  REQUIRE(balance.replicas[1].rows == 2);
  REQUIRE(balance.replicas[1].seconds > 0);
  REQUIRE(std::abs(balance.imbalance_of_rows() - 0.2) < 1e-12);
  REQUIRE(balance.replicas[1].bytes == static_cast<std::int64_t>(memory_allocated(Cpu{1})));
  REQUIRE(to_string(balance).find("cpu:1: 2 rows") != std::string::npos);
}

TEST_CASE("a data-parallel step refuses an empty batch, inference has an empty result", "[parallel][PAR-3]") {
  auto module = seeded_network(Cpu{0});
  DataParallel parallel{module, {.devices = first_devices<Cpu>(2)}};
  auto step = train_step(parallel, nn::cross_entropy, optim::Sgd{});
  const auto data = batch<Cpu>(0, Cpu{0});
  CHECK_THROWS_WITH(step(data.x, data.label),
                    Catch::StartsWith("train_step(Mlp): the batch is empty") && Catch::Contains("(0, 7), (0,)"));
  CHECK(step.steps() == 0);
  CHECK(parallel.forward(data.x).value().shape() == Dims(0, 5));
}

TEST_CASE("a replica that fails ends the step on every rank, with its own error", "[parallel][PAR-9][MEM-6]") {
  auto module = seeded_network(Cpu{0});
  DataParallel parallel{module, {.devices = first_devices<Cpu>(2)}};
  auto step = train_step(parallel, nn::cross_entropy, optim::Sgd{});
  const auto data = batch<Cpu>(200'000, Cpu{0});
  set_memory_limit(Cpu{1}, memory_reserved(Cpu{1}));
  REQUIRE_THROWS_AS(step(data.x, data.label), OutOfMemoryError);
  set_memory_limit(Cpu{1}, memory::no_limit);
}
