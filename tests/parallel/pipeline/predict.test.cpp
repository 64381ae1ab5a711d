// SPDX-License-Identifier: Apache-2.0
//
// Predictions against sums that can be done by hand, and for thousands of devices.
#include "bench/support/hindered.hpp"

#include <twill/parallel/pipeline/schedule/predict.hpp>
#include <twill/parallel/pipeline/schedule/schedules.hpp>

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

TEST_CASE("a rank that computes alone is as fast as it was measured alone", "[parallel][PAR-6]") {
  const auto of = [](double alone_share) {
    const StageCost cost{.forward_s = 1, .input_gradient_s = 2};
    return bench::HinderedCosts{List<StageCost>(2, cost), List<double>(2, alone_share)};
  };
  CHECK(bench::simulate_hindered<GPipe>(of(0.5), 1).step_s == 0.5 * (1 + 1 + 2 + 2)); // one after the other
  // F0 alone, F1 and F0 together, F1 and B alone, B and B together, B alone
  const Prediction p = bench::simulate_hindered<GPipe>(of(0.5), 2);
  CHECK(p.step_s == 0.5 + 1 + 0.5 + 1 + 2 + 1);
  CHECK(p.timeline.is_complete);
  CHECK(p.timeline.ranks[1][0].start == 0.5);
  CHECK(p.timeline.ranks[1][0].end == 1.5);
  CHECK(p.timeline.ranks[1][1].end == 2);
  // Two of three ranks: half way between. Speeds change while an action is under way.
  const Schedule three = schedule<GPipe>(3, 2);
  const auto unit = [](const Action&) { return 1.0; };
  const Timeline timeline = bench::simulate_hindered(three, unit, [](const Action&) { return 0.5; });
  CHECK(timeline.ranks[0][1].end == 0.5 + 0.75);
  CHECK(timeline.ranks[1][1].end == 0.5 + 2 * 0.75);
  // Links take their time, and with ranks that do not hinder each other nothing changes.
  const auto transfer = [](const Action&) { return 0.25; };
  const Schedule many = schedule<ZeroBubbleH1>(4, 9);
  const auto unequal = [](const Action& action) { return 1.0 + action.stage % 2; };
  const Timeline apart = bench::simulate_hindered(
      many, unequal, [](const Action&) { return 1.0; }, transfer);
  const Timeline plain = simulate(many, unequal, transfer);
  REQUIRE(apart.is_complete);
  for (std::size_t rank = 0; rank < 4; ++rank) {
    REQUIRE(apart.ranks[rank].size() == plain.ranks[rank].size());
    for (std::size_t i = 0; i < plain.ranks[rank].size(); ++i) {
      CHECK(apart.ranks[rank][i].action == plain.ranks[rank][i].action);
      CHECK(apart.ranks[rank][i].end == Approx(plain.ranks[rank][i].end));
    }
  }
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
