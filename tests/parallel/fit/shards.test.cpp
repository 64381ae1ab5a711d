// SPDX-License-Identifier: Apache-2.0
//
// Estimated bytes and traffic of steps under `Reproducible` against what pools and communicators count, and against
// `step.memory`: one device, replicas in one process, ranks with each of ZeRO's stages, and pipelines.

#include "tests/support/ranks.hpp"
#include "tests/training/models.hpp"

#include <twill/memory/statistics.hpp>
#include <twill/nn/batch_norm.hpp>
#include <twill/nn/convolution.hpp>
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

#include <algorithm>
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
template <bool IsSynchronised> struct ShardedStages {
  static constexpr graph::Value forward(Input<Dim<"batch">, 20> x) {
    const graph::Value low = nn::stage_boundary(tanh(nn::linear(x, 310, "lower")));
    const graph::Value high = tanh(nn::linear(low, 90, "upper"));
    return nn::linear(nn::batch_norm(high, "norm", {.is_synchronised = IsSynchronised}), 7, "head");
  }
};

/// Both stages have norms, the first one two of them.
struct NormsInBoth {
  static constexpr graph::Value forward(Input<Dim<"batch">, 20> x) {
    constexpr nn::BatchNormOptions together{.is_synchronised = true};
    const graph::Value first = tanh(nn::batch_norm(nn::linear(x, 310, "first"), "norm", together));
    const graph::Value low = nn::batch_norm(nn::linear(first, 50, "second"), "other", together);
    return nn::linear(nn::batch_norm(tanh(nn::linear(nn::stage_boundary(low), 90, "third")), "last"), 7, "head");
  }
};

/// Four stages on two ranks, three of which share a weight.
struct SharingStages {
  static constexpr graph::Value forward(Input<Dim<"batch">, 20> x) {
    const graph::Value shared = nn::parameter(x.graph(), "shared", {20, 20}, nn::initialise::fan_in_uniform(20));
    graph::Value y = nn::stage_boundary(tanh(nn::linear(x, shared)));
    y = nn::stage_boundary(tanh(nn::linear(y, 90, "upper")));
    y = nn::stage_boundary(tanh(nn::linear(tanh(nn::linear(y, 20, "lower")), shared)));
    return nn::linear(nn::linear(y, shared), 7, "head");
  }
};

/// A step of two ranks beside its estimate, repeated: threads take no other course.
template <class M, class S, class Loss>
void check_stages_with_shards(std::string_view schedule, pipeline::Checkpointing mode, int shards, Loss loss,
                              const auto& x, const auto& y, parallel::fit::Estimator estimator) {
  const parallel::Reproducible policy{.shards = shards};
  const std::vector<Cpu> devices{Cpu{0}, Cpu{1}};
  std::vector<std::int64_t> before;
  for (const Cpu device : devices) before.push_back(memory_allocated(device));
  pipeline::BasicPipeline<S, float, Cpu, pipeline::Cut<M>> pipe{devices};
  auto step = train_step(pipe, loss, optim::Adam{}, {.micro_batches = shards, .checkpointing = mode}, policy);
  step(x, y);
  const auto report = estimator.report(
      {.pipeline = 2, .shards = shards, .schedule = schedule, .micro_batches = shards, .checkpointing = mode});
  for (int repeated = 0; repeated < 5; ++repeated) {
    for (const Cpu device : devices) reset_peak_memory_stats(device);
    step(x, y);
    for (std::size_t rank = 0; rank < 2; ++rank) {
      INFO(schedule << ", checkpointing " << static_cast<int>(mode) << ", rank " << rank);
      synchronize(devices[rank]);
      CHECK(report.ranks[rank].bytes.total() == max_memory_allocated(devices[rank]) - before[rank]);
      CHECK(report.ranks[rank].held_bytes == memory_allocated(devices[rank]) - before[rank]);
    }
  }
}

/// 37 rows and labels, in 5 shards of 7, 7, 8, 7, 8 rows unless told otherwise.
template <class M, class S>
void check_labels_with_shards(std::string_view schedule, pipeline::Checkpointing mode, int shards = 5) {
  constexpr std::int64_t rows = 37;
  const auto x = random_rows<float, 20>(Cpu{0}, rows);
  const auto labels = random_labels(Cpu{1}, rows, 7);
  check_stages_with_shards<M, S>(schedule, mode, shards, nn::cross_entropy, x, labels, sharded_estimator<M>(rows));
}

/// The result is an image of a convolution.
struct ImageStages {
  static constexpr graph::Value forward(Input<Dim<"batch">, 2, 6, 5> x) {
    const graph::Value low = nn::stage_boundary(relu(nn::conv2d(x, 9, "lower", {.kernel = 3, .padding = 1})));
    return nn::conv2d(relu(nn::conv2d(low, 4, "middle", {.kernel = 3, .padding = 1})), 3, "upper", {.kernel = 3});
  }
};

template <std::int64_t... Extents> auto random_images(Cpu device, std::int64_t rows) {
  const auto flat = random_rows<float, (Extents * ...)>(device, rows);
  Tensor<float, Cpu, Shape<dyn, Extents...>> images(device, Dims(rows, Extents...));
  std::copy_n(flat.data(), flat.elements(), images.data());
  return images;
}

template <class S> void check_images_with_shards(std::string_view schedule, pipeline::Checkpointing mode) {
  constexpr std::int64_t rows = 37;
  const auto x = random_images<2, 6, 5>(Cpu{0}, rows);
  const auto y = random_images<3, 4, 3>(Cpu{1}, rows);
  using Step = training::StepOf<ImageStages, nn::mse, optim::Adam, std::remove_cvref_t<decltype(y)>>;
  check_stages_with_shards<ImageStages, S>(schedule, mode, 5, nn::mse, x, y,
                                           {parallel::fit::traces_of<Step>, {{"batch", rows}}});
}

} // namespace

TEST_CASE("the bytes of a pipeline's ranks with shards are those that their pools count", "[parallel][PAR-6]") {
  for (const auto mode : {pipeline::Checkpointing::never, pipeline::Checkpointing::always}) {
    check_labels_with_shards<ShardedStages<false>, pipeline::GPipe>("gpipe", mode);
    check_labels_with_shards<ShardedStages<false>, pipeline::ZeroBubbleH1>("zb-h1", mode);
  }
}

TEST_CASE("the bytes of stages whose shards meet are those that their pools count", "[parallel][PAR-6]") {
  for (const auto mode : {pipeline::Checkpointing::never, pipeline::Checkpointing::always}) {
    check_labels_with_shards<ShardedStages<true>, pipeline::OneForwardOneBackward>("1f1b", mode);
    check_labels_with_shards<NormsInBoth, pipeline::GPipe>("gpipe", mode);
    check_labels_with_shards<NormsInBoth, pipeline::ZeroBubbleH1>("zb-h1", mode);
  }
}

TEST_CASE("the bytes of stages that share weights shard by shard are those that their pools count",
          "[parallel][PAR-6]") {
  check_labels_with_shards<SharingStages, pipeline::Interleaved<2>>("interleaved-2", pipeline::Checkpointing::never, 6);
}

TEST_CASE("the bytes of a pipeline whose result is an image are those that its pools count", "[parallel][PAR-6]") {
  for (const auto mode : {pipeline::Checkpointing::never, pipeline::Checkpointing::always}) {
    check_images_with_shards<pipeline::GPipe>("gpipe", mode);
    check_images_with_shards<pipeline::ZeroBubbleH1>("zb-h1", mode);
  }
}

TEST_CASE("stages whose shards meet and are not all computed again are refused", "[parallel][PAR-6]") {
  CHECK_THROWS_WITH(
      sharded_estimator<ShardedStages<true>>(37).report(
          {.pipeline = 2, .shards = 5, .micro_batches = 5, .checkpointing = pipeline::Checkpointing::except_last}),
      "Reproducible: stage 1 of the pipeline sums over the batch inside its run, so that its "
      "micro-batches run together and none is the last; give it Checkpointing::always or "
      "Checkpointing::never");
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
