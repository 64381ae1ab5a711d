// SPDX-License-Identifier: Apache-2.0
//
// Estimated bytes and traffic of four ranks on a mesh, replicas of a pipeline and divided layers in one, against what the
// pools and the communicators of threads count; the stages share a weight.

#include "tests/support/ranks.hpp"
#include "tests/training/models.hpp"

#include <twill/memory/statistics.hpp>
#include <twill/nn/linear.hpp>
#include <twill/nn/losses.hpp>
#include <twill/nn/stage_boundary.hpp>
#include <twill/nn/tensor_parallel.hpp>
#include <twill/optim/adam.hpp>
#include <twill/parallel/fit/estimate.hpp>
#include <twill/parallel/model/parallel_model.hpp>
#include <twill/parallel/threads/ranks.hpp>

#include <catch2/catch.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <vector>

using namespace twill;
using namespace twill::test;
using parallel::Axis;
using parallel::Operation;
using pipeline::Checkpointing;

namespace {

/// Two stages of divided layers, which share a divided weight; on one rank plain layers.
template <int N> struct Pair {
  using Ranks = RankAxis<"tensor", N>;
  static constexpr graph::Value forward(Input<Dim<"batch">, 5> x) {
    const graph::Value low = tanh(nn::linear(x, 40, "lower"));
    const graph::Value shared =
        nn::sharded_parameter<Ranks>(x.graph(), "shared", {300, 40}, nn::initialise::fan_in_uniform(40));
    graph::Value y = nn::row_linear<Ranks>(tanh(nn::linear(graph::copy_to<Ranks>(low), shared)), 40, "first");
    y = nn::stage_boundary(tanh(y));
    y = nn::row_linear<Ranks>(tanh(nn::linear(graph::copy_to<Ranks>(y), shared)), 70, "second");
    return nn::linear(y, 3, "head");
  }
};
using Labels = Tensor<std::int64_t, Cpu, Shape<dyn>>;

/// What a rank counts in the second step of a training.
struct Counted {
  std::int64_t peak = 0;
  std::int64_t held = 0;
  std::int64_t sent = 0;   ///< along "pipe"
  std::int64_t summed = 0; ///< along "data", but for buffers
  std::int64_t in_layers = 0;
};

template <class M, FixedString Name, class Model> [[nodiscard]] std::int64_t sent_along(Model& model) {
  if constexpr (M::template has<Name>) {
    const parallel::OperationTraffic& traffic = model.groups().template along<Name>().traffic();
    if (Name.view() == "pipe") return traffic[Operation::send].sent_bytes;
    return traffic.total().sent_bytes - traffic[Operation::broadcast].sent_bytes;
  } else {
    return 0;
  }
}

template <class M, pipeline::ScheduleKind S, int N, int Stage>
std::vector<Counted> count(std::int64_t rows, const pipeline::StepOptions& options,
                           const parallel::BucketOptions& buckets) {
  std::vector<Counted> all(4);
  auto world = thread_group(4);
  parallel::run_ranks(world, [&](auto& member) {
    using C = std::remove_reference_t<decltype(member)>;
    Counted& own = all[static_cast<std::size_t>(member.rank())];
    const Cpu device = member.device();
    const auto x = random_rows<float, 5>(device, rows);
    const auto labels = random_labels(device, rows, 3);
    const std::int64_t before = memory_allocated(device);
    ParallelModel<M, S, C, Pair<N>> model{member, RandomDraw{7, 0}, {.buckets = buckets}};
    auto step = train_step(model, nn::cross_entropy, optim::Adam{}, options, parallel::zero<Stage>);
    const parallel::Rows here = model.rows_of(rows);
    const auto note = [&](int sign) {
      own.sent += sign * sent_along<M, "pipe">(model);
      own.summed += sign * sent_along<M, "data">(model);
      own.in_layers += sign * sent_along<M, "tensor">(model);
    };
    step(parallel::rows_of<0>(x, here), parallel::rows_of<0>(labels, here));
    synchronize(device);
    reset_peak_memory_stats(device);
    note(-1);
    step(parallel::rows_of<0>(x, here), parallel::rows_of<0>(labels, here));
    synchronize(device);
    note(1);
    own.peak = max_memory_allocated(device) - before;
    own.held = memory_allocated(device) - before;
  });
  return all;
}

template <int N>
[[nodiscard]] parallel::fit::Report report(std::int64_t rows, const parallel::fit::Options& options,
                                           const parallel::BucketOptions& buckets) {
  using Step = training::StepOf<Pair<N>, nn::cross_entropy, optim::Adam, Labels>;
  parallel::fit::Estimator estimator{parallel::fit::traces_of<Step>, {{"batch", rows}}, {}, buckets};
  return estimator.report(options);
}

constexpr parallel::BucketOptions small_buckets{.first_bucket_bytes = 1000, .bucket_bytes = 50'000};

template <int Stage> void check_replicas(const parallel::BucketOptions& buckets) {
  using Grid = parallel::Mesh<Axis<"data", 2>, Axis<"pipe", 2>>;
  constexpr std::int64_t rows = 17; // 9 and 8
  const auto counted = count<Grid, pipeline::OneForwardOneBackward, 1, Stage>(rows, {.micro_batches = 3}, buckets);
  const auto estimated =
      report<1>(rows, {.data = 2, .pipeline = 2, .zero = Stage, .schedule = "1f1b", .micro_batches = 3}, buckets);
  REQUIRE(estimated.ranks.size() == 2); // those of the first replica
  for (std::size_t rank = 0; rank < 2; ++rank) {
    INFO("zero " << Stage << ", rank " << rank);
    const auto& own = estimated.ranks[rank];
    CHECK(own.bytes.total() == counted[rank].peak);
    CHECK(own.held_bytes == counted[rank].held);
    CHECK(own.sent_bytes == counted[rank].sent);
    CHECK(own.sent_to[1 - rank] == counted[rank].sent);
    CHECK(own.summed_bytes == counted[rank].summed - (rank == 0 ? 8 : 16)); // the numbers of rows, and the loss
  }
}

template <class S> void check_divided(std::string_view schedule, Checkpointing mode) {
  using Grid = parallel::Mesh<Axis<"pipe", 2>, Axis<"tensor", 2>>;
  constexpr std::int64_t rows = 23; // 5, 5, 5, 5, 3
  const auto counted = count<Grid, S, 2, 0>(rows, {.micro_batches = 5, .checkpointing = mode}, {});
  const auto estimated =
      report<2>(rows, {.pipeline = 2, .schedule = schedule, .micro_batches = 5, .checkpointing = mode}, {});
  CHECK(estimated.options.devices() == 4);
  REQUIRE(estimated.ranks.size() == 2); // the first of each pair
  for (std::size_t rank = 0; rank < 4; ++rank) {
    INFO(schedule << ", checkpointing " << static_cast<int>(mode) << ", rank " << rank);
    const auto& own = estimated.ranks[rank / 2];
    CHECK(own.bytes.total() == counted[rank].peak);
    CHECK(own.held_bytes == counted[rank].held);
    CHECK(own.sent_bytes == counted[rank].sent);
    CHECK(own.layer_bytes == counted[rank].in_layers);
    CHECK(own.layer_bytes > 0);
  }
}

} // namespace

TEST_CASE("the bytes and the traffic of replicas of a pipeline are those of a mesh", "[parallel][PAR-7]") {
  for (const parallel::BucketOptions& buckets : {parallel::BucketOptions{}, small_buckets}) {
    check_replicas<0>(buckets);
    check_replicas<1>(buckets);
  }
}

TEST_CASE("the bytes and the traffic of divided layers in a pipeline are those of a mesh", "[parallel][PAR-7]") {
  check_divided<pipeline::OneForwardOneBackward>("1f1b", Checkpointing::never);
  check_divided<pipeline::OneForwardOneBackward>("1f1b", Checkpointing::always);
  check_divided<pipeline::ZeroBubbleH1>("zb-h1", Checkpointing::except_last);
}

TEST_CASE("calls in the divided layers of a pipeline take the time of their links", "[parallel][PAR-7]") {
  using Step = training::StepOf<Pair<2>, nn::cross_entropy, optim::Adam, Labels>;
  const parallel::fit::Machine machine{.device = {.operations_per_s = 1e30, .bytes_per_s = 1e30, .launch_s = 0},
                                       .between_stages = {},
                                       .between_replicas = {},
                                       .between_layers = {.bytes_per_s = 1e30, .latency_s = 3}};
  parallel::fit::Estimator estimator{parallel::fit::traces_of<Step>, {{"batch", 4}}, machine};
  const auto found = estimator.report({.pipeline = 2, .schedule = "gpipe", .micro_batches = 4});
  // For each micro-batch a stage sums once forward and once backward, in two messages each.
  CHECK(found.layers_s == Approx(4 * 2 * 2 * 3));
  // Five times forward, one after another in two stages, and then back.
  CHECK(found.step_s == Approx(2 * 5 * 2 * 3));
}

TEST_CASE("replicas of a pipeline that divide states fetch weights, which takes the time of their link",
          "[parallel][PAR-7]") {
  using Step = training::StepOf<Pair<1>, nn::cross_entropy, optim::Adam, Labels>;
  const parallel::fit::Machine machine{.device = {.operations_per_s = 1e30, .bytes_per_s = 1e30, .launch_s = 0},
                                       .between_stages = {},
                                       .between_replicas = {.bytes_per_s = 1e30, .latency_s = 3}};
  parallel::fit::Estimator estimator{parallel::fit::traces_of<Step>, {{"batch", 4}}, machine};
  const parallel::fit::Options options{.data = 2, .pipeline = 2, .schedule = "gpipe", .micro_batches = 2};
  CHECK(estimator.report(options).step_s == Approx(2 * 3)); // around a ring of two, there and back
  parallel::fit::Options shared = options;
  shared.zero = 1;
  CHECK(estimator.report(shared).step_s == Approx(3 * 3));
}
