// SPDX-License-Identifier: Apache-2.0
//
// Estimated bytes against `step.memory`, `pipeline::memory` and the peaks that the pools of host devices count in steps
// that run, for one device, replicas, ZeRO's stages and pipelines; and the traffic of replicas against what communicators count.

#include "tests/support/message_of.hpp"
#include "tests/support/ranks.hpp"
#include "tests/training/models.hpp"

#include <twill/memory/statistics.hpp>
#include <twill/nn/batch_norm.hpp>
#include <twill/nn/linear.hpp>
#include <twill/nn/losses.hpp>
#include <twill/nn/slot.hpp>
#include <twill/nn/stage_boundary.hpp>
#include <twill/optim/adam.hpp>
#include <twill/parallel/data/data_parallel_step.hpp>
#include <twill/parallel/data/distributed_step.hpp>
#include <twill/parallel/fit/estimate.hpp>
#include <twill/parallel/pipeline/run/costs.hpp>
#include <twill/parallel/pipeline/run/memory.hpp>
#include <twill/parallel/pipeline/schedule/schedules.hpp>
#include <twill/parallel/threads/ranks.hpp>
#include <twill/training/train_step.hpp>

#include <catch2/catch.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace {

using namespace twill;
using namespace twill::test;
using graph::Value;
using parallel::fit::Bytes;
using pipeline::Checkpointing;

/// Two hidden layers, and a norm with running statistics.
struct Layers {
  static constexpr auto forward(Input<Dim<"batch">, 20> x) {
    const Value hidden = nn::batch_norm(tanh(nn::linear(x, 300, "first")), "norm");
    return nn::linear(tanh(nn::linear(hidden, 150, "second")), 7, "head");
  }
};
/// Four stages: what the first makes is used by the third, the second draws, a weight is that of two stages.
struct Staged {
  static constexpr Value forward(Input<Dim<"batch">, 5> x) {
    const Value shared = nn::parameter(x.graph(), "shared", {70, 70}, nn::initialise::fan_in_uniform(70));
    const Value low = nn::stage_boundary(tanh(nn::linear(tanh(nn::linear(x, 70, "lower")), shared)));
    const Value one = nn::stage_boundary(nn::dropout(tanh(nn::linear(low, 200, "one")), 0.25));
    const Value two = nn::stage_boundary(tanh(nn::linear(one, 70, "two")) * exp(low));
    return nn::linear(tanh(nn::linear(two, shared)), 3, "head");
  }
};
/// Two stages of different sizes.
struct Halves {
  static constexpr Value forward(Input<Dim<"batch">, 20> x) {
    const Value low = nn::stage_boundary(tanh(nn::linear(x, 310, "lower")));
    return nn::linear(tanh(nn::linear(low, 90, "upper")), 7, "head");
  }
};

/// Operands of a sum that a compiler may trace in one order and a program in the other.
struct Beside {
  static constexpr Value forward(Input<Dim<"batch">, 20> x) {
    const Value low = nn::stage_boundary(tanh(nn::linear(x, 310, "lower")));
    return nn::linear(relu(nn::linear(low, 90, "first")) + nn::linear(tanh(nn::linear(low, 50, "second")), 90, "third"),
                      7, "head");
  }
};

/// The second half on another device.
struct InTwoSlots {
  static constexpr auto forward(Input<Dim<"batch">, 20> x) {
    const auto hidden = tanh(nn::linear(x, 40, "hidden"));
    return nn::linear(relu(nn::linear(nn::to(hidden, nn::Slot{1}), 24, "away")), 7, "last");
  }
};

using Labels = Tensor<std::int64_t, Cpu, Shape<dyn>>;
template <class M> using Step = training::StepOf<M, nn::cross_entropy, optim::Adam, Labels>;
template <class M>
[[nodiscard]] parallel::fit::Estimator estimator(std::int64_t rows, parallel::BucketOptions buckets = {}) {
  return {parallel::fit::traces_of<Step<M>>, {{"batch", rows}}, {}, buckets};
}

constexpr parallel::BucketOptions small_buckets{.first_bucket_bytes = 64, .bucket_bytes = 20'000};

} // namespace

TEST_CASE("the bytes of a step on one device are those that its pool counts", "[parallel][MEM-2]") {
  const std::int64_t rows = GENERATE(2, 37, 128);
  const Cpu device{1};
  const auto x = random_rows<float, 20>(device, rows);
  const auto labels = random_labels(device, rows, 7);
  const std::int64_t before = memory_allocated(device);
  nn::Network<Layers, Cpu> model{device};
  auto step = train_step(model, nn::cross_entropy, optim::Adam{});
  step(x, labels);
  reset_peak_memory_stats(device);
  step(x, labels);
  synchronize(device);
  const auto report = estimator<Layers>(rows).report({});
  REQUIRE(report.ranks.size() == 1);
  CHECK(report.peak_bytes() == step.memory(nn::Slot{0}, x, labels).total());
  CHECK(report.peak_bytes() == max_memory_allocated(device) - before);
  CHECK(report.ranks[0].held_bytes == memory_allocated(device) - before);
  // 20 x 300 + 300, scale and shift of the norm, mean, variance and a count; 300 x 150 + 150; 150 x 7 + 7
  constexpr std::int64_t weights = 6000 + 300 + 600 + 45000 + 150 + 1050 + 7;
  CHECK(report.ranks[0].bytes[Bytes::weights] == 4 * (weights + 600) + 8);
  CHECK(report.ranks[0].bytes[Bytes::states] == 2 * 4 * weights);
}

TEST_CASE("the bytes of a model in two device slots are those that their pools count", "[parallel][MEM-2]") {
  constexpr std::int64_t rows = 37;
  const std::vector<Cpu> devices{Cpu{2}, Cpu{3}};
  const auto x = random_rows<float, 20>(devices[0], rows);
  const auto labels = random_labels(devices[1], rows, 7);
  std::vector<std::int64_t> before;
  for (const Cpu device : devices) before.push_back(memory_allocated(device));
  nn::Network<InTwoSlots, Cpu> model{devices};
  auto step = train_step(model, nn::cross_entropy, optim::Adam{});
  step(x, labels);
  for (const Cpu device : devices) synchronize(device), reset_peak_memory_stats(device);
  step(x, labels);
  auto own = estimator<InTwoSlots>(rows);
  const auto report = own.report({});
  CHECK(report.options.devices() == 2);
  REQUIRE(report.ranks.size() == 2);
  for (std::size_t slot = 0; slot < 2; ++slot) {
    INFO("slot " << slot);
    synchronize(devices[slot]);
    CHECK(report.ranks[slot].bytes.total() == max_memory_allocated(devices[slot]) - before[slot]);
    CHECK(report.ranks[slot].held_bytes == memory_allocated(devices[slot]) - before[slot]);
  }
  CHECK(report.ranks[0].sent_bytes == 4 * rows * 40);     // the hidden values
  CHECK(report.ranks[1].sent_bytes == 4 * rows * 40 + 4); // their gradients, and the loss
  CHECK(to_string(report.options) == "2 device slots");
  CHECK(
      message_of<ValueError>([&] { static_cast<void>(own.report({.data = 2})); }) ==
      "fit: a model with parts in 2 device slots is one replica on as many devices, without pipeline, ZeRO or divided "
      "layers, as nn::Network takes them");
}

TEST_CASE("the bytes of replicas in one process are those that their pools count", "[parallel][MEM-2]") {
  const std::int64_t rows = GENERATE(4, 37);
  const std::vector<Cpu> devices{Cpu{0}, Cpu{1}};
  const auto x = random_rows<float, 20>(devices[0], rows);
  const auto labels = random_labels(devices[0], rows, 7);
  std::vector<std::int64_t> before;
  for (const Cpu device : devices) before.push_back(memory_allocated(device));
  nn::Network<Layers, Cpu> model{devices[0]};
  DataParallel parallel{model, {.devices = devices}};
  auto step = train_step(parallel, nn::cross_entropy, optim::Adam{});
  step(x, labels);
  for (const Cpu device : devices) reset_peak_memory_stats(device);
  step(x, labels);
  const auto report = estimator<Layers>(rows).report({.data = 2, .is_replicated = true});
  REQUIRE(report.ranks.size() == 2);
  for (std::size_t rank = 0; rank < 2; ++rank) {
    INFO("rank " << rank << " of " << rows << " rows");
    synchronize(devices[rank]);
    CHECK(report.ranks[rank].bytes.total() == max_memory_allocated(devices[rank]) - before[rank]);
    CHECK(report.ranks[rank].held_bytes == memory_allocated(devices[rank]) - before[rank]);
  }
}

namespace {

template <int Stage> void check_ranks(int ranks, std::int64_t rows, parallel::BucketOptions buckets) {
  auto communicators = thread_group(ranks);
  const auto report = estimator<Layers>(rows, buckets).report({.data = ranks, .zero = Stage});
  const auto number = static_cast<std::size_t>(ranks);
  std::vector<std::int64_t> peaks(number), held(number), expected(number), sent(number);
  parallel::run_ranks(communicators, [&](auto& communicator) {
    const auto rank = static_cast<std::size_t>(communicator.rank());
    const Cpu device = communicator.device();
    const parallel::Rows own = parallel::chunk_rows(rows, ranks)[rank];
    const auto x = random_rows<float, 20>(device, own.count);
    const auto labels = random_labels(device, own.count, 7);
    const std::int64_t before = memory_allocated(device);
    nn::Network<Layers, Cpu> model{device};
    DistributedDataParallel distributed{model, communicator, {.buckets = buckets}};
    auto step = train_step(distributed, nn::cross_entropy, optim::Adam{}, parallel::zero<Stage>);
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
    INFO("zero " << Stage << ", rank " << rank << " of " << ranks << ", " << rows << " rows");
    CHECK(report.ranks[rank].bytes.total() == expected[rank]);
    CHECK(report.ranks[rank].bytes.total() == peaks[rank]);
    CHECK(report.ranks[rank].held_bytes == held[rank]);
    CHECK(report.ranks[rank].summed_bytes == sent[rank] - 32 * (ranks - 1)); // rows and draws: four numbers
  }
}

} // namespace

TEST_CASE("the bytes of ranks with each of ZeRO's stages are those that their pools count", "[parallel][MEM-2]") {
  const std::int64_t rows = GENERATE(8, 37);
  const parallel::BucketOptions buckets = GENERATE(small_buckets, parallel::BucketOptions{});
  const int ranks = GENERATE(2, 4);
  check_ranks<0>(ranks, rows, buckets);
  check_ranks<1>(ranks, rows, buckets);
  check_ranks<2>(ranks, rows, buckets);
  check_ranks<3>(ranks, rows, buckets);
}

namespace {

/// Compares with the steps of pipelines on `Meta`.
template <class S, class M> void check_pipeline(std::string_view schedule, int micro_batches, std::int64_t rows) {
  using P = pipeline::BasicPipeline<S, float, Meta, pipeline::Cut<M>>;
  constexpr std::int64_t columns = std::is_same_v<M, Staged> ? 5 : 20;
  const Tensor<float, Meta, Shape<dyn, columns>> x(Meta{0}, Dims(rows, columns));
  const Tensor<std::int64_t, Meta, Shape<dyn>> labels(Meta{P::ranks - 1}, Dims(rows));
  const Tensor<std::int64_t, Meta, Shape<dyn>> labels_of_v(Meta{0}, Dims(rows));
  const bool ends_at_first = schedule == "zbv";
  for (const Checkpointing mode : {Checkpointing::never, Checkpointing::except_last, Checkpointing::always}) {
    INFO(schedule << ", " << micro_batches << " micro-batches of " << rows << " rows, checkpointing "
                  << static_cast<int>(mode));
    const auto report = estimator<M>(rows).report(
        {.pipeline = P::ranks, .schedule = schedule, .micro_batches = micro_batches, .checkpointing = mode});
    const auto expected =
        pipeline::memory<P>(nn::cross_entropy, optim::Adam{}, {.micro_batches = micro_batches, .checkpointing = mode},
                            x, ends_at_first ? labels_of_v : labels);
    REQUIRE(report.ranks.size() == expected.size());
    for (std::size_t rank = 0; rank < expected.size(); ++rank) {
      INFO("rank " << rank);
      CHECK(report.ranks[rank].bytes.total() == expected[rank].peak);
      CHECK(report.ranks[rank].held_bytes == expected[rank].held);
    }
  }
}

} // namespace

TEST_CASE("the bytes of a pipeline's ranks are those of its steps, for every schedule", "[parallel][PAR-6]") {
  check_pipeline<pipeline::GPipe, Staged>("gpipe", 4, 16);
  check_pipeline<pipeline::GPipe, Staged>("gpipe", 3, 8); // 3, 3, 2
  check_pipeline<pipeline::OneForwardOneBackward, Staged>("1f1b", 5, 23);
  check_pipeline<pipeline::Interleaved<2>, Staged>("interleaved-2", 4, 19);
  check_pipeline<pipeline::ZeroBubbleH1, Staged>("zb-h1", 5, 23);
  check_pipeline<pipeline::ZeroBubbleH2, Staged>("zb-h2", 7, 20);
  check_pipeline<pipeline::ZeroBubbleV, Staged>("zbv", 4, 19);
}

namespace {

template <class S, class M = Halves> void check_counted(std::string_view schedule, Checkpointing mode) {
  constexpr std::int64_t rows = 46;
  const std::vector<Cpu> devices{Cpu{0}, Cpu{1}};
  const auto x = random_rows<float, 20>(devices[0], rows);
  const auto labels = random_labels(devices[1], rows, 7);
  std::vector<std::int64_t> before;
  for (const Cpu device : devices) before.push_back(memory_allocated(device));
  pipeline::BasicPipeline<S, float, Cpu, pipeline::Cut<M>> pipe{devices};
  auto step = train_step(pipe, nn::cross_entropy, optim::Adam{}, {.micro_batches = 4, .checkpointing = mode});
  step(x, labels);
  for (const Cpu device : devices) reset_peak_memory_stats(device);
  step(x, labels);
  const auto report =
      estimator<M>(rows).report({.pipeline = 2, .schedule = schedule, .micro_batches = 4, .checkpointing = mode});
  for (std::size_t rank = 0; rank < 2; ++rank) {
    INFO(schedule << ", checkpointing " << static_cast<int>(mode) << ", rank " << rank);
    synchronize(devices[rank]);
    CHECK(report.ranks[rank].bytes.total() == max_memory_allocated(devices[rank]) - before[rank]);
    CHECK(report.ranks[rank].held_bytes == memory_allocated(devices[rank]) - before[rank]);
  }
}

} // namespace

TEST_CASE("a mode of checkpointing for each stage is estimated as it runs", "[parallel][PAR-6]") {
  using P = pipeline::BasicPipeline<pipeline::OneForwardOneBackward, float, Meta, pipeline::Cut<Staged>>;
  const pipeline::StageCheckpointing modes{Checkpointing::never, Checkpointing::always, Checkpointing::except_last,
                                           Checkpointing::never};
  const Tensor<float, Meta, Shape<dyn, 5>> x(Meta{0}, Dims(23, 5));
  const Tensor<std::int64_t, Meta, Shape<dyn>> labels(Meta{3}, Dims(23));
  const auto known =
      pipeline::memory<P>(nn::cross_entropy, optim::Adam{}, {.micro_batches = 5, .checkpointing = modes}, x, labels);
  auto own = estimator<Staged>(23);
  const auto report = own.report({.pipeline = 4, .schedule = "1f1b", .micro_batches = 5, .checkpointing = modes});
  CHECK(to_string(report.options) == "pipeline 4, 1f1b, 5 micro-batches, checkpointing never,always,except-last,never");
  for (std::size_t rank = 0; rank < known.size(); ++rank) {
    INFO("rank " << rank);
    CHECK(report.ranks[rank].bytes.total() == known[rank].peak);
    CHECK(report.ranks[rank].held_bytes == known[rank].held);
  }
  const pipeline::StageCheckpointing two{Checkpointing::always, Checkpointing::never};
  CHECK_THROWS_WITH(own.report({.pipeline = 4, .micro_batches = 5, .checkpointing = two}),
                    "train_step: checkpointing is given for 2 stages, the pipeline has 4");
}

TEST_CASE("a simulation sends and keeps the bytes of the replay", "[parallel][PAR-6]") {
  using P = pipeline::BasicPipeline<pipeline::GPipe, float, Meta, pipeline::Cut<Halves>>;
  const List<pipeline::StageCost> costs = pipeline::stage_bytes<P>(std::array{Dims(12, 20)});
  const pipeline::Prediction simulated = pipeline::simulate<pipeline::GPipe>({costs, 4});
  const auto report = estimator<Halves>(48).report({.pipeline = 2, .schedule = "gpipe", .micro_batches = 4});
  for (std::size_t rank = 0; rank < 2; ++rank) {
    INFO("rank " << rank);
    CHECK(simulated.sent_bytes[rank] == report.ranks[rank].sent_bytes);
    // without states, running programs and messages
    CHECK(simulated.peak_bytes[rank] == costs[rank].fixed_bytes + 4 * costs[rank].kept_bytes);
    CHECK(simulated.peak_bytes[rank] + report.ranks[rank].bytes[Bytes::states] < report.ranks[rank].bytes.total());
  }
  CHECK(costs[0].kept_bytes == 15360); // 12 x 310 results of tanh, for its derivative: 14880 bytes in multiples of 512
}

TEST_CASE("the bytes of a pipeline of two host devices are those that their pools count", "[parallel][PAR-6]") {
  for (const Checkpointing mode : {Checkpointing::never, Checkpointing::except_last, Checkpointing::always}) {
    check_counted<pipeline::GPipe>("gpipe", mode);
    check_counted<pipeline::OneForwardOneBackward>("1f1b", mode);
  }
  check_counted<pipeline::ZeroBubbleH1, Beside>("zb-h1", Checkpointing::never);
}
