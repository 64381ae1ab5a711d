// SPDX-License-Identifier: Apache-2.0
//
// Predictions against sums that can be done by hand, and for thousands of devices.
#include <twill/parallel/pipeline/predict.hpp>
#include <twill/parallel/pipeline/schedules.hpp>

#include <catch2/catch.hpp>

namespace {

using namespace twill;
using namespace twill::pipeline;

constexpr StageCost even{.forward_s = 1,
                         .input_gradient_s = 1,
                         .weight_gradient_s = 1,
                         .kept_bytes = 100,
                         .output_bytes = 10,
                         .gradient_bytes = 1000,
                         .fixed_bytes = 5000};

TEST_CASE("a pipeline on links as fast as can be takes what its formula says", "[parallel][PAR-6]") {
  const Prediction p = predict<OneForwardOneBackward>(4, 8, List<StageCost>(4, even));
  CHECK(p.step_s == 3 * (8 + 3));
  CHECK(p.bubble_s == 3 * 3);
  CHECK(p.all_reduce_s == 0);
  CHECK(p.peak_bytes == List<std::int64_t>{5400, 5300, 5200, 5100});
  CHECK(p.sent_bytes == List<std::int64_t>{80, 160, 160, 80}); // outputs forward, gradients of inputs back
}

TEST_CASE("stages of different costs are bound by the slowest", "[parallel][PAR-6]") {
  List<StageCost> stages(2, even);
  stages[1].forward_s = stages[1].input_gradient_s = stages[1].weight_gradient_s = 2;
  stages[1].kept_bytes = 7;
  const Prediction p = predict<GPipe>(2, 10, stages);
  CHECK(p.step_s == 1 + 10 * 6 + 2); // the fill of rank 0, all of rank 1, and the last gradients of rank 0
  CHECK(p.peak_bytes == List<std::int64_t>{6000, 5070});
}

TEST_CASE("links take latency and bytes over speed", "[parallel][PAR-6]") {
  const Cluster cluster{.between_stages = {.bytes_per_s = 20, .latency_s = 0.25}};
  const Prediction p = predict<GPipe>(2, 1, List<StageCost>(2, even), cluster);
  CHECK(p.step_s == 1 + 0.75 + 1 + 2 + 0.75 + 2);
  CHECK(p.bubble_s == 0.75 + 1 + 2 + 0.75);
}

TEST_CASE("gradients of replicas go around a ring when the last is there", "[parallel][PAR-6]") {
  const Cluster cluster{.replicas = 4, .between_replicas = {.bytes_per_s = 1000, .latency_s = 0.01}};
  const Prediction p = predict<OneForwardOneBackward>(2, 4, List<StageCost>(2, even), cluster);
  CHECK(p.all_reduce_s == Approx(2 * 3 * (0.01 + 0.25)));
  CHECK(p.step_s == Approx(3 * 5 + p.all_reduce_s));
  CHECK(p.sent_bytes[0] == 40 + 1500);
}

TEST_CASE("thousands of devices are planned in one simulation", "[parallel][PAR-6]") {
  const Cluster cluster{.replicas = 64, .between_stages = {1e10, 5e-6}, .between_replicas = {1e10, 5e-6}};
  const Prediction plain = predict<OneForwardOneBackward>(64, 256, List<StageCost>(64, even), cluster);
  const Prediction split = predict<ZeroBubbleH2>(64, 256, List<StageCost>(64, even), cluster);
  CHECK(split.step_s < plain.step_s);
  CHECK(split.bubble_s < 0.01 * plain.bubble_s);
  CHECK(split.peak_bytes[63] > plain.peak_bytes[63]);
}

TEST_CASE("costs for another number of stages are refused", "[parallel][PAR-6]") {
  CHECK_THROWS_WITH(predict<ZeroBubbleV>(4, 8, List<StageCost>(4, even)),
                    "pipeline::predict: ZBV on 4 ranks has 8 stages, costs are given for 4");
}

static_assert(predict(table<GPipe>(2, 2), List<StageCost>(2, even)).step_s == 9);

} // namespace
