// SPDX-License-Identifier: Apache-2.0
//
// Batch normalisation over all ranks and replicas of a step, with ranks that have no rows, and over micro-batches that are
// added up: the numbers of one device that sees the whole batch.

#include <twill/nn/batch_norm.hpp>
#include <twill/nn/convolution.hpp>
#include <twill/nn/linear.hpp>
#include <twill/nn/network.hpp>
#include <twill/optim/sgd.hpp>
#include <twill/parallel/data/data_parallel_step.hpp>
#include <twill/parallel/data/distributed_step.hpp>
#include <twill/parallel/threads/ranks.hpp>
#include <twill/training/accumulation.hpp>

#include "tests/support/four_devices.hpp"
#include "tests/support/numbers.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

using namespace twill;
using twill::test::largest_difference;

namespace {

template <bool Synchronised, bool Deferred> struct Images {
  static constexpr auto forward(Input<Dim<"batch">, 2, 5, 5> x) {
    constexpr nn::BatchNormOptions options{.is_synchronised = Synchronised, .is_deferred = Deferred};
    auto y = nn::conv2d(nn::batch_norm(x, "first", options), 3, "convolution", {.kernel = 3});
    y = relu(nn::batch_norm(y, "second", options));
    return nn::linear(flatten(y), 4, "output");
  }
};
template <bool Synchronised, bool Deferred = false>
using Network = nn::Network<Images<Synchronised, Deferred>, Cpu, double>;

struct Batch {
  Tensor<double, Cpu, Shape<dyn, 2, 5, 5>> x;
  Tensor<std::int64_t, Cpu, Shape<dyn>> label;

  [[nodiscard]] Batch rows(std::int64_t begin, std::int64_t count, Cpu device) const {
    return {parallel::rows_of<0>(x, {begin, count}).contiguous().to(device),
            parallel::rows_of<0>(label, {begin, count}).contiguous().to(device)};
  }
};

Batch batch(std::int64_t rows) {
  std::mt19937_64 engine{1};
  std::normal_distribution<double> normal{2, 3};
  Batch result{{Cpu{0}, Dims(rows, 2, 5, 5)}, {Cpu{0}, Dims(rows)}};
  for (std::int64_t i = 0; i < result.x.elements(); ++i) result.x.data()[i] = normal(engine);
  for (std::int64_t i = 0; i < rows; ++i) result.label.data()[i] = static_cast<std::int64_t>(engine() % 4);
  return result;
}

/// Weights and running statistics, but for what is kept of micro-batches.
template <class N> std::vector<double> state_of(const N& network) {
  std::vector<double> result{};
  for (const auto& view : network.parameters()) {
    if (view.name.find("deferred") != std::string_view::npos) continue;
    for (std::int64_t i = 0; i < view.shape.elements(); ++i)
      result.push_back(view.dtype == DType::int64
                           ? static_cast<double>(static_cast<const std::int64_t*>(view.buffer.data())[i])
                           : static_cast<const double*>(view.buffer.data())[i]);
  }
  return result;
}

template <class N> N seeded(Cpu device = Cpu{0}) {
  manual_seed_all(7);
  return N{device};
}

const optim::MomentumSgd rule{{.rate = 0.1, .momentum = 0.9}};
constexpr int steps = 3;

std::vector<double> of_one_device(const Batch& data) {
  auto network = seeded<Network<false>>();
  auto step = train_step(network, nn::cross_entropy, rule);
  for (int i = 0; i < steps; ++i) static_cast<void>(step(data.x, data.label));
  return state_of(network);
}

} // namespace

TEST_CASE("batch norm over all ranks is that of one device, for shards of any size", "[parallel][PAR-1]") {
  const Batch data = batch(9);
  const std::vector<double> expected = of_one_device(data);
  const std::vector<std::int64_t> shards =
      GENERATE(std::vector<std::int64_t>{9}, std::vector<std::int64_t>{4, 5}, std::vector<std::int64_t>{3, 0, 6});
  std::vector<Cpu> devices{};
  for (std::size_t rank = 0; rank < shards.size(); ++rank) devices.push_back(Cpu{static_cast<int>(rank)});
  auto communicators = parallel::thread_communicators(devices, {.timeout_ms = 60'000});
  std::vector<Network<true>> networks{};
  for (const Cpu& device : devices) networks.push_back(seeded<Network<true>>(device));
  parallel::run_ranks(communicators, [&](auto& communicator) {
    const auto rank = static_cast<std::size_t>(communicator.rank());
    std::int64_t begin = 0;
    for (std::size_t other = 0; other < rank; ++other) begin += shards[other];
    const Batch own = data.rows(begin, shards[rank], devices[rank]);
    DistributedDataParallel model{networks[rank], communicator, {.buckets = {64, 200}, .broadcasts_buffers = false}};
    auto step = train_step(model, nn::cross_entropy, rule);
    for (int i = 0; i < steps; ++i) static_cast<void>(step(own.x, own.label));
  });
  for (const auto& network : networks) REQUIRE(largest_difference(state_of(network), expected) < 1e-11);
}

TEST_CASE("batch norm over all replicas is that of one device, with more devices than rows", "[parallel][PAR-1]") {
  const std::int64_t rows = GENERATE(9, 3);
  const Batch data = batch(rows);
  auto module = seeded<Network<true>>();
  DataParallel parallel{module, {.devices = {Cpu{0}, Cpu{1}, Cpu{2}, Cpu{3}}}};
  auto step = train_step(parallel, nn::cross_entropy, rule);
  for (int i = 0; i < steps; ++i) static_cast<void>(step(data.x, data.label));
  REQUIRE(largest_difference(state_of(module), of_one_device(data)) < 1e-11);
}

TEST_CASE("replicas that run in stages refuse what they would have to add up in between", "[parallel][PAR-1]") {
  const Batch data = batch(9);
  auto module = seeded<Network<true>>();
  DataParallel several{module, {.devices = {Cpu{0}, Cpu{1}}}};
  CHECK_THROWS_WITH(several.forward(data.x),
                    Catch::Contains("a synchronised batch norm adds up over replicas in planned"));
  DataParallel one{module, {.devices = {Cpu{0}}}};
  CHECK_NOTHROW(one.forward(data.x));
  module.eval();
  CHECK_NOTHROW(several.forward(data.x));
}

TEST_CASE("micro-batches move deferred running statistics once, as one batch would", "[parallel][TRAIN-4]") {
  const Batch data = batch(9);
  auto alone = seeded<Network<false>>();
  auto module = seeded<Network<false, true>>();
  auto one = train_step(alone, nn::cross_entropy, optim::Sgd{{.rate = 0}});
  auto many = accumulated_step(module, nn::cross_entropy, optim::Sgd{{.rate = 0}});
  for (int i = 0; i < steps; ++i) {
    static_cast<void>(one(data.x, data.label));
    for (const auto& [begin, count] : {std::pair{0, 4}, std::pair{4, 2}, std::pair{6, 3}}) {
      const Batch piece = data.rows(begin, count, Cpu{0});
      many.add(piece.x, piece.label);
    }
    static_cast<void>(many.finish());
  }
  // The second one sees what each piece was normalised to.
  REQUIRE(largest_difference(to_vector(module.parameter<"first.running_mean">()),
                             to_vector(alone.parameter<"first.running_mean">())) < 1e-12);
  REQUIRE(largest_difference(to_vector(module.parameter<"first.running_var">()),
                             to_vector(alone.parameter<"first.running_var">())) < 1e-11);
  REQUIRE(to_vector(module.parameter<"first.num_batches_tracked">()) == std::vector<std::int64_t>{steps});
}
