// SPDX-License-Identifier: Apache-2.0
//
// Estimates of layers divided over ranks against steps of threads: bytes that pools count, traffic that communicators count and
// that follows from shapes, alone and with replicas; and ways to divide such a model that are refused.

#include "tests/support/message_of.hpp"
#include "tests/support/ranks.hpp"
#include "tests/training/models.hpp"

#include <twill/memory/statistics.hpp>
#include <twill/nn/losses.hpp>
#include <twill/nn/tensor_parallel.hpp>
#include <twill/optim/adam.hpp>
#include <twill/parallel/data/distributed_step.hpp>
#include <twill/parallel/fit/estimate.hpp>
#include <twill/parallel/fit/search.hpp>
#include <twill/parallel/group/rank_group.hpp>
#include <twill/parallel/threads/ranks.hpp>
#include <twill/training/train_step.hpp>

#include <catch2/catch.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

using namespace twill;
using namespace twill::test;
using parallel::fit::Bytes;

namespace {

/// Two pairs of a wide and a narrow layer.
struct Divided {
  using Ranks = RankAxis<"tensor", 2>;
  static constexpr auto forward(Input<Dim<"batch">, 20> x) {
    const auto first = nn::row_linear<Ranks>(tanh(nn::column_linear<Ranks>(x, 300, "first")), 30, "between");
    return nn::row_linear<Ranks>(tanh(nn::column_linear<Ranks>(tanh(first), 100, "second")), 7, "head");
  }
};
using Labels = Tensor<std::int64_t, Cpu, Shape<dyn>>;
using Step = training::StepOf<Divided, nn::cross_entropy, optim::Adam, Labels>;

[[nodiscard]] parallel::fit::Estimator estimator(std::int64_t rows, parallel::fit::Machine machine = {}) {
  return {parallel::fit::traces_of<Step>, {{"batch", rows}}, machine};
}

/// What a rank counts in the second step of a training.
struct Counted {
  std::int64_t peak = 0;
  std::int64_t held = 0;
  std::int64_t in_layers = 0;
  std::int64_t to_replicas = 0;
};

/// Steps of two replicas, or of one, on two ranks each. `make(network, replicas)` calls its argument with a step.
template <class Make> std::vector<Counted> count(int replicas, std::int64_t rows, const Make& make) {
  auto communicators = thread_group(2 * replicas);
  std::vector<Counted> all(communicators.size());
  parallel::run_ranks(communicators, [&](auto& world) {
    Counted& own = all[static_cast<std::size_t>(world.rank())];
    auto layers = world.split(world.rank() / 2, world.rank());
    auto peers = world.split(world.rank() % 2, world.rank());
    const Cpu device = world.device();
    const std::int64_t share = rows / replicas;
    const auto x = random_rows<float, 20>(device, share);
    const auto labels = random_labels(device, share, 7);
    const std::int64_t before = memory_allocated(device);
    kernel::RankGroups groups{};
    groups.add(parallel::rank_group<Divided::Ranks>(layers));
    nn::Network<Divided, Cpu> network{device, groups, RandomDraw{7, 0}};
    make(network, peers, [&](auto& step) {
      step(x, labels);
      synchronize(device);
      reset_peak_memory_stats(device);
      own.in_layers = -layers.traffic().total().sent_bytes;
      own.to_replicas = -peers.traffic().total().sent_bytes;
      step(x, labels);
      synchronize(device);
      own.in_layers += layers.traffic().total().sent_bytes;
      own.to_replicas += peers.traffic().total().sent_bytes;
      own.peak = max_memory_allocated(device) - before;
      own.held = memory_allocated(device) - before;
    });
  });
  return all;
}

// Forward, sums of 30 and of 7 outputs a row, backward one of the 30 inputs of the second pair: 67 numbers a row, around
// a ring of two, 2 (n-1)/n = 1 times.
constexpr std::int64_t in_layers(std::int64_t rows) { return 4 * 67 * rows; }

} // namespace

TEST_CASE("bytes and traffic of divided layers are those of their steps", "[parallel][PAR-7][MEM-2]") {
  constexpr std::int64_t rows = 38;
  const auto counted = count(1, rows, [](auto& network, auto&, const auto& play) {
    auto step = train_step(network, nn::cross_entropy, optim::Adam{});
    play(step);
  });
  const auto report = estimator(rows).report({});
  REQUIRE(report.ranks.size() == 1);
  CHECK(report.options.tensor == 2);
  CHECK(report.options.devices() == 2);
  for (const Counted& rank : counted) {
    CHECK(report.ranks[0].bytes.total() == rank.peak);
    CHECK(report.ranks[0].held_bytes == rank.held);
    CHECK(report.ranks[0].layer_bytes == rank.in_layers);
  }
  CHECK(report.ranks[0].layer_bytes == in_layers(rows));
  // halves of 20 x 300 + 300, of 300 x 30, of 30 x 100 + 100 and of 100 x 7; whole biases of the sums
  constexpr std::int64_t weights = 3150 + 4500 + 30 + 1550 + 350 + 7;
  CHECK(report.ranks[0].bytes[Bytes::weights] == 4 * weights);
}

TEST_CASE("bytes and traffic of replicas of divided layers are those of their steps", "[parallel][PAR-7][MEM-2]") {
  constexpr std::int64_t rows = 38;
  const auto counted = count(2, rows, [](auto& network, auto& replicas, const auto& play) {
    DistributedDataParallel model{network, replicas};
    auto step = train_step(model, nn::cross_entropy, optim::Adam{});
    play(step);
  });
  const auto report = estimator(rows).report({.data = 2, .tensor = 2});
  REQUIRE(report.ranks.size() == 2); // the first rank of each replica
  CHECK(report.options.devices() == 4);
  for (std::size_t rank = 0; rank < 4; ++rank) {
    const auto& estimated = report.ranks[rank / 2];
    CHECK(estimated.bytes.total() == counted[rank].peak);
    CHECK(estimated.held_bytes == counted[rank].held);
    CHECK(estimated.layer_bytes == counted[rank].in_layers);
    CHECK(estimated.layer_bytes == in_layers(rows / 2));
    CHECK(estimated.summed_bytes == counted[rank].to_replicas - 32); // rows and draws: four numbers
  }
}

TEST_CASE("calls in divided layers take the time of their links", "[parallel][PAR-7]") {
  parallel::fit::Machine machine{.device = {.operations_per_s = 1e30, .bytes_per_s = 1e30, .launch_s = 0},
                                 .between_stages = {},
                                 .between_replicas = {},
                                 .between_layers = {.bytes_per_s = 100, .latency_s = 3}};
  // three sums around a ring of two, 2 (n-1) messages each
  CHECK(estimator(10, machine).report({}).layers_s == Approx(3 * 2 * 3 + in_layers(10) / 100.0));
  CHECK(estimator(10, machine).report({}).step_s == Approx(3 * 2 * 3 + in_layers(10) / 100.0));
}

TEST_CASE("divided layers are searched on multiples of their ranks, and other ways are refused", "[parallel][PAR-7]") {
  auto own = estimator(64);
  bool has_pipelines = false;
  for (const auto& report : parallel::fit::search(own, {.devices = 8, .most = 100})) {
    CHECK(report.options.devices() == 8);
    CHECK(report.options.data * report.options.pipeline == 4);
    has_pipelines = has_pipelines || report.options.pipeline > 1;
  }
  CHECK(has_pipelines);
  CHECK(message_of<ValueError>([&] { static_cast<void>(parallel::fit::search(own, {.devices = 3})); }) ==
        "fit: the model's layers are divided among 2 ranks, which do not divide 3 devices");
  CHECK(message_of<ValueError>([&] { static_cast<void>(own.report({.tensor = 4})); }) ==
        "fit: the model's type divides its layers among 2 ranks, got 4; the number is that of its RankAxis");
  CHECK(message_of<ValueError>([&] { static_cast<void>(own.report({.data = 2, .is_replicated = true})); }) ==
        "fit: divided layers are estimated on ranks, not in replicas of one process, or with parts computed again");
}
