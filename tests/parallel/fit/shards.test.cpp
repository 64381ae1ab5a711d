// SPDX-License-Identifier: Apache-2.0
//
// Estimated bytes and traffic of steps under `Reproducible` against what pools and communicators count, and against
// `step.memory`: one device, replicas in one process, ranks with each of ZeRO's stages, and pipelines.

#include "tests/support/ranks.hpp"
#include "tests/training/models.hpp"

#include <twill/memory/statistics.hpp>
#include <twill/nn/batch_norm.hpp>
#include <twill/nn/linear.hpp>
#include <twill/nn/losses.hpp>
#include <twill/nn/stage_boundary.hpp>
#include <twill/optim/adam.hpp>
#include <twill/parallel/data/reproducible_replicas.hpp>
#include <twill/parallel/data/reproducible_step.hpp>
#include <twill/parallel/fit/estimate.hpp>
#include <twill/parallel/pipeline/run/reproducible_step.hpp>
#include <twill/parallel/pipeline/schedule/schedules.hpp>
#include <twill/parallel/threads/ranks.hpp>

#include <catch2/catch.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

using namespace twill;
using namespace twill::test;

namespace {

/// Rows of 20 floats and a label begin at places within cache lines; the norm writes buffers, and sums over ranks or not.
template <bool IsSynchronised> struct Sharded {
  static constexpr auto forward(Input<Dim<"batch">, 20> x) {
    const auto hidden = nn::batch_norm(tanh(nn::linear(x, 300, "first")), "norm", {.is_synchronised = IsSynchronised});
    return nn::linear(tanh(nn::linear(hidden, 150, "second")), 7, "head");
  }
};

template <class M> [[nodiscard]] parallel::fit::Estimator sharded_estimator(std::int64_t rows) {
  using Labels = Tensor<std::int64_t, Cpu, Shape<dyn>>;
  using Step = training::StepOf<M, nn::cross_entropy, optim::Adam, Labels>;
  return {parallel::fit::traces_of<Step>,
          {{"batch", rows}},
          {},
          parallel::BucketOptions{.first_bucket_bytes = 64, .bucket_bytes = 20'000}};
}

template <class M, int Stage> void check_shards_of_ranks(int ranks, std::int64_t rows, int shards) {
  auto communicators = thread_group(ranks);
  const auto report = sharded_estimator<M>(rows).report({.data = ranks, .zero = Stage, .shards = shards});
  const auto number = static_cast<std::size_t>(ranks);
  std::vector<std::int64_t> peaks(number), held(number), expected(number), sent(number);
  parallel::run_ranks(communicators, [&](auto& communicator) {
    const auto rank = static_cast<std::size_t>(communicator.rank());
    const Cpu device = communicator.device();
    const parallel::Reproducible policy{.shards = shards};
    const parallel::Rows own = policy.rows_of(rows, communicator.rank(), ranks);
    const auto x = random_rows<float, 20>(device, own.count);
    const auto labels = random_labels(device, own.count, 7);
    const std::int64_t before = memory_allocated(device);
    nn::Network<M, Cpu> model{device};
    DistributedDataParallel distributed{
        model, communicator, {.buckets = {.first_bucket_bytes = 64, .bucket_bytes = 20'000}}};
    auto step = train_step(distributed, nn::cross_entropy, optim::Adam{}, parallel::zero<Stage>, policy);
    step(x, labels);
    synchronize(device);
    reset_peak_memory_stats(device);
    const auto sent_so_far = [&] { // but for buffers, which rank 0 sends
      const auto& traffic = communicator.traffic();
      return traffic.total().sent_bytes - traffic[parallel::Operation::broadcast].sent_bytes;
    };
    sent[rank] = -sent_so_far();
    step(x, labels);
    synchronize(device);
    sent[rank] += sent_so_far();
    peaks[rank] = max_memory_allocated(device) - before;
    held[rank] = memory_allocated(device) - before;
    expected[rank] = step.memory(x, labels).total();
  });
  REQUIRE(report.ranks.size() == number);
  for (std::size_t rank = 0; rank < number; ++rank) {
    INFO("zero " << Stage << ", rank " << rank << " of " << ranks << ", " << rows << " rows in " << shards);
    CHECK(report.ranks[rank].bytes.total() == peaks[rank]);
    CHECK(report.ranks[rank].held_bytes == held[rank]);
    CHECK(expected[rank] == peaks[rank]);
    if (!std::is_same_v<M, Sharded<true>>) // whose sums inside of the model are not counted
      CHECK(report.ranks[rank].summed_bytes == sent[rank] - 32 * (ranks - 1));
  }
}

} // namespace

TEST_CASE("the bytes of ranks with shards are those that their pools count, with each of ZeRO's stages",
          "[parallel][MEM-2]") {
  for (const auto& [ranks, rows, shards] : {std::tuple{2, 37, 3}, std::tuple{3, 48, 8}}) {
    check_shards_of_ranks<Sharded<false>, 0>(ranks, rows, shards);
    check_shards_of_ranks<Sharded<false>, 1>(ranks, rows, shards);
    check_shards_of_ranks<Sharded<false>, 2>(ranks, rows, shards);
    check_shards_of_ranks<Sharded<false>, 3>(ranks, rows, shards);
    check_shards_of_ranks<Sharded<true>, 0>(ranks, rows, shards);
  }
}

TEST_CASE("the bytes of one device and of replicas with shards are those that their pools count", "[parallel][MEM-2]") {
  constexpr std::int64_t rows = 37;
  constexpr parallel::Reproducible policy{.shards = 5};
  for (const int replicas : {1, 2}) {
    const std::vector<Cpu> all{Cpu{0}, Cpu{1}};
    const std::vector<Cpu> devices(all.begin(), all.begin() + replicas);
    const auto x = random_rows<float, 20>(devices[0], rows);
    const auto labels = random_labels(devices[0], rows, 7);
    std::vector<std::int64_t> before;
    for (const Cpu device : devices) before.push_back(memory_allocated(device));
    nn::Network<Sharded<false>, Cpu> model{devices[0]};
    const auto check = [&](auto& step) {
      step(x, labels);
      for (const Cpu device : devices) reset_peak_memory_stats(device);
      step(x, labels);
      const auto report = sharded_estimator<Sharded<false>>(rows).report(
          {.data = replicas, .shards = policy.shards, .is_replicated = replicas > 1});
      REQUIRE(report.ranks.size() == devices.size());
      for (std::size_t rank = 0; rank < devices.size(); ++rank) {
        INFO("rank " << rank << " of " << replicas);
        synchronize(devices[rank]);
        CHECK(report.ranks[rank].bytes.total() == max_memory_allocated(devices[rank]) - before[rank]);
        CHECK(report.ranks[rank].held_bytes == memory_allocated(devices[rank]) - before[rank]);
      }
    };
    if (replicas == 1) {
      auto step = train_step(model, nn::cross_entropy, optim::Adam{}, policy);
      check(step);
      CHECK(step.memory(x, labels).total() ==
            sharded_estimator<Sharded<false>>(rows).report({.shards = 5}).peak_bytes());
    } else {
      DataParallel parallel{model, {.devices = devices}};
      auto step = train_step(parallel, nn::cross_entropy, optim::Adam{}, policy);
      check(step);
    }
  }
}

namespace {

/// Two stages of different sizes, the second of which has a norm.
struct ShardedStages {
  static constexpr graph::Value forward(Input<Dim<"batch">, 20> x) {
    const graph::Value low = nn::stage_boundary(tanh(nn::linear(x, 310, "lower")));
    return nn::linear(nn::batch_norm(tanh(nn::linear(low, 90, "upper")), "norm"), 7, "head");
  }
};

template <class S> void check_stages_with_shards(std::string_view schedule, pipeline::Checkpointing mode) {
  constexpr std::int64_t rows = 37; // 7, 7, 8, 7, 8
  constexpr parallel::Reproducible policy{.shards = 5};
  const std::vector<Cpu> devices{Cpu{0}, Cpu{1}};
  const auto x = random_rows<float, 20>(devices[0], rows);
  const auto labels = random_labels(devices[1], rows, 7);
  std::vector<std::int64_t> before;
  for (const Cpu device : devices) before.push_back(memory_allocated(device));
  pipeline::BasicPipeline<S, float, Cpu, pipeline::Cut<ShardedStages>> pipe{devices};
  auto step = train_step(pipe, nn::cross_entropy, optim::Adam{}, {.micro_batches = 5, .checkpointing = mode}, policy);
  step(x, labels);
  for (const Cpu device : devices) reset_peak_memory_stats(device);
  step(x, labels);
  const auto report = sharded_estimator<ShardedStages>(rows).report({.pipeline = 2,
                                                                     .shards = policy.shards,
                                                                     .schedule = schedule,
                                                                     .micro_batches = policy.shards,
                                                                     .checkpointing = mode});
  for (std::size_t rank = 0; rank < 2; ++rank) {
    INFO(schedule << ", checkpointing " << static_cast<int>(mode) << ", rank " << rank);
    synchronize(devices[rank]);
    CHECK(report.ranks[rank].bytes.total() == max_memory_allocated(devices[rank]) - before[rank]);
    CHECK(report.ranks[rank].held_bytes == memory_allocated(devices[rank]) - before[rank]);
  }
}

} // namespace

TEST_CASE("the bytes of a pipeline's ranks with shards are those that their pools count", "[parallel][PAR-6]") {
  for (const auto mode : {pipeline::Checkpointing::never, pipeline::Checkpointing::always}) {
    check_stages_with_shards<pipeline::GPipe>("gpipe", mode);
    check_stages_with_shards<pipeline::ZeroBubbleH1>("zb-h1", mode);
  }
}

TEST_CASE("shards that no step has are refused", "[parallel][MEM-2]") {
  auto own = sharded_estimator<Sharded<false>>(8);
  CHECK_THROWS_WITH(
      own.report({.data = 4, .shards = 3}),
      "fit: a batch under Reproducible has at least one shard for each of 4 replicas and one row for each "
      "shard, got 3 shards and 8 rows");
  CHECK_THROWS_WITH(
      own.report({.shards = 9}),
      "fit: a batch under Reproducible has at least one shard for each of 1 replicas and one row for each "
      "shard, got 9 shards and 8 rows");
  CHECK_THROWS_WITH(own.report({.pipeline = 2, .shards = 4, .micro_batches = 2}),
                    "fit: each shard of a batch is a micro-batch of a pipeline under Reproducible, got 4 shards and 2 "
                    "micro-batches");
}
