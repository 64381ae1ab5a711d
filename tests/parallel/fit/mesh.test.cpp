// SPDX-License-Identifier: Apache-2.0
//
// Estimated bytes of replicas of a pipeline against those of the steps of a mesh, whole and with states shared out.

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
using parallel::Axis;

namespace {

struct Wide {
  static constexpr graph::Value forward(Input<Dim<"batch">, 5> x) {
    const graph::Value y = nn::stage_boundary(tanh(nn::linear(x, 300, "lower")));
    return nn::linear(tanh(nn::linear(y, 80, "middle")), 3, "head");
  }
};
using Grid = parallel::Mesh<Axis<"data", 2>, Axis<"pipe", 2>>;
using OnGrid = ParallelModel<Grid, pipeline::OneForwardOneBackward, parallel::ThreadCommunicator<Meta>, Wide>;
using Step = training::StepOf<Wide, nn::cross_entropy, optim::Adam, Tensor<std::int64_t, Cpu, Shape<dyn>>>;

template <int Stage> void check(const parallel::BucketOptions& buckets) {
  constexpr std::int64_t rows = 17; // 9 and 8
  const std::vector<pipeline::RankMemory> wanted =
      pipeline::memory<OnGrid>(Grid{}, {.buckets = buckets}, nn::cross_entropy, optim::Adam{}, {.micro_batches = 3},
                               parallel::zero<Stage>, Tensor<float, Meta, Shape<dyn, 5>>(Meta{0}, Dims(rows, 5)),
                               Tensor<std::int64_t, Meta, Shape<dyn>>(Meta{0}, Dims(rows)));
  parallel::fit::Estimator estimator{parallel::fit::traces_of<Step>, {{"batch", rows}}, {}, buckets};
  const auto report =
      estimator.report({.data = 2, .pipeline = 2, .zero = Stage, .schedule = "1f1b", .micro_batches = 3});
  REQUIRE(report.ranks.size() == 2); // those of the first replica
  for (std::size_t rank = 0; rank < 2; ++rank) {
    INFO("zero " << Stage << ", rank " << rank);
    CHECK(report.ranks[rank].bytes.total() == wanted[rank].peak);
    CHECK(report.ranks[rank].held_bytes == wanted[rank].held);
  }
}

} // namespace

TEST_CASE("the bytes of replicas of a pipeline are those of the steps of a mesh", "[parallel][PAR-7]") {
  for (const parallel::BucketOptions buckets :
       {parallel::BucketOptions{}, parallel::BucketOptions{.first_bucket_bytes = 1000, .bucket_bytes = 50'000}}) {
    check<0>(buckets);
    check<1>(buckets);
  }
}
