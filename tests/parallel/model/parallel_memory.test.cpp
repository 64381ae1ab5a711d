// SPDX-License-Identifier: Apache-2.0
//
// The bytes of each rank of a mesh as they are counted, against what was known before, on devices whose streams run late.
#include "tests/support/late_device.hpp"

#include <twill/memory/statistics.hpp>
#include <twill/nn/linear.hpp>
#include <twill/nn/losses.hpp>
#include <twill/nn/stage_boundary.hpp>
#include <twill/optim/adam.hpp>
#include <twill/parallel/fit/estimate.hpp>
#include <twill/parallel/model/memory.hpp>

#include <catch2/catch.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

using namespace twill;
using namespace twill::test;
using parallel::Axis;

namespace {

struct Wide {
  static constexpr graph::Value forward(Input<Dim<"batch">, 5> x) {
    const graph::Value y = nn::stage_boundary(tanh(nn::linear(x, 300, "lower")));
    return nn::linear(tanh(nn::linear(y, 80, "middle")), 3, "head");
  }
};
using Grid = parallel::Mesh<Axis<"data", 2>, Axis<"pipe", 2>>;
template <class C> using OnGrid = ParallelModel<Grid, pipeline::OneForwardOneBackward, C, Wide>;

TEST_CASE("what a rank of a mesh takes is known to the byte, with states shared out among replicas",
          "[parallel][PAR-7]") {
  const pipeline::StepOptions options{.micro_batches = 3};
  const pipeline::ReplicaOptions replicas{.buckets = {.first_bucket_bytes = 1000, .bucket_bytes = 50'000}};
  constexpr std::int64_t rows = 17; // 9 and 8
  using C = parallel::ThreadCommunicator<Late>;
  const auto predicted = [&](auto shared) {
    return pipeline::memory<OnGrid<C>>(Grid{}, replicas, nn::cross_entropy, optim::Adam{}, options, shared,
                                       Tensor<float, Meta, Shape<dyn, 5>>(Meta{0}, Dims(rows, 5)),
                                       Tensor<std::int64_t, Meta, Shape<dyn>>(Meta{0}, Dims(rows)));
  };
  const std::vector<pipeline::RankMemory> wanted = predicted(parallel::zero<1>);

  std::vector<pipeline::RankMemory> found(4);
  auto world = parallel::thread_communicators(std::vector<Late>{Late{0}, Late{1}, Late{2}, Late{3}});
  parallel::run_ranks(world, [&](C& member) {
    const Late device = member.device();
    pipeline::RankMemory& own = found[static_cast<std::size_t>(member.rank())];
    const Tensor<float, Late, Shape<dyn, 5>> x(device, Dims(rows, 5));
    const Tensor<std::int64_t, Late, Shape<dyn>> labels(device, Dims(rows));
    x.fill(0.5f), labels.fill(1);
    synchronize(device);
    const std::int64_t before = memory_allocated(device);
    OnGrid<C> model{member, RandomDraw{}, replicas};
    own.weights = memory_allocated(device) - before;
    auto step = train_step(model, nn::cross_entropy, optim::Adam{}, options, parallel::zero<1>);
    const parallel::Rows rows_here = model.rows_of(rows);
    for (int i = 0; i < 2; ++i) {
      reset_peak_memory_stats(device);
      step(parallel::rows_of<0>(x, rows_here), parallel::rows_of<0>(labels, rows_here));
      synchronize(device);
    }
    own.held = memory_allocated(device) - before;
    own.peak = max_memory_allocated(device) - before;
  });
  for (std::size_t rank = 0; rank < 4; ++rank) {
    CAPTURE(rank);
    CHECK(found[rank].weights == wanted[rank].weights);
    CHECK(found[rank].held == wanted[rank].held);
    CHECK(found[rank].peak == wanted[rank].peak);
  }
  // 300 x 80 weights of the second stage and its others have two states each, of which a replica has half.
  const std::vector<pipeline::RankMemory> whole = predicted(parallel::zero<0>);
  const std::int64_t states = 2 * 4 * (300 * 80 + 80 + 80 * 3 + 3);
  for (const std::size_t rank : {1u, 3u}) {
    CHECK(whole[rank].held - wanted[rank].held > states / 2 - 4096);
    CHECK(whole[rank].held - wanted[rank].held < states / 2 + 4096);
  }
}

TEST_CASE("what is known of a mesh is what is estimated of a pipeline and its replicas", "[parallel][PAR-7]") {
  constexpr std::int64_t rows = 17;
  const pipeline::ReplicaOptions replicas{.buckets = {.first_bucket_bytes = 1000, .bucket_bytes = 50'000}};
  using Labels = Tensor<std::int64_t, Cpu, Shape<dyn>>;
  using Step = training::StepOf<Wide, nn::cross_entropy, optim::Adam, Labels>;
  parallel::fit::Estimator estimator{parallel::fit::traces_of<Step>, {{"batch", rows}}, {}, replicas.buckets};
  const auto check = [&](auto shared) {
    constexpr int stage = decltype(shared)::stage;
    const auto known = pipeline::memory<OnGrid<parallel::ThreadCommunicator<Late>>>(
        Grid{}, replicas, nn::cross_entropy, optim::Adam{}, {.micro_batches = 3}, shared,
        Tensor<float, Meta, Shape<dyn, 5>>(Meta{0}, Dims(rows, 5)),
        Tensor<std::int64_t, Meta, Shape<dyn>>(Meta{0}, Dims(rows)));
    const auto estimated =
        estimator.report({.data = 2, .pipeline = 2, .zero = stage, .schedule = "1f1b", .micro_batches = 3});
    for (const std::size_t rank : {0u, 1u}) {
      INFO("zero " << stage << ", rank " << rank);
      CHECK(estimated.ranks[rank].bytes.total() == known[rank].peak);
      CHECK(estimated.ranks[rank].held_bytes == known[rank].held);
    }
  };
  check(parallel::zero<0>);
  check(parallel::zero<1>);
}

} // namespace
