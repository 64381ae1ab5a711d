// SPDX-License-Identifier: Apache-2.0
//
// What plans are made of: links fitted and measured, costs of stages counted by hand and measured, and steps simulated from
// them.
#include "bench/support/machine.hpp"
#include "bench/support/measured_costs.hpp"
#include "tests/training/models.hpp"

#include <twill/nn/batch_norm.hpp>
#include <twill/nn/linear.hpp>
#include <twill/parallel/pipeline/run/costs.hpp>
#include <twill/parallel/pipeline/schedule/schedules.hpp>

#include <catch2/catch.hpp>

#include <array>
#include <vector>

namespace {

using namespace twill;
using namespace twill::test;
using namespace twill::pipeline;
using graph::Value;

TEST_CASE("a link is the line that is nearest in parts of the time", "[parallel][PAR-6]") {
  using bench::TimedBytes;
  std::vector<TimedBytes> messages;
  for (double bytes = 64; bytes < 1e7; bytes *= 4) messages.push_back({bytes, 2e-6 + bytes / 5e9});
  const Link exact = bench::fit_link(messages);
  CHECK(exact.latency_s == Approx(2e-6));
  CHECK(exact.bytes_per_s == Approx(5e9));
  CHECK(exact.time_s(5e9) == Approx(1 + 2e-6));
  // Faster than any line in the middle: no negative latency comes of it.
  const Link through_nothing = bench::fit_link({{10, 1}, {100, 11}});
  CHECK(through_nothing.latency_s == 0);
  CHECK(through_nothing.bytes_per_s > 9);
  CHECK(bench::fit_link({{10, 2}, {100, 1}}).bytes_per_s == 0); // not slower for more: as fast as can be
  CHECK_THROWS_WITH(bench::fit_link({{10, 1}, {10, 2}}), "fit_link: messages of two sizes at least are needed");
  CHECK_THROWS_WITH(bench::fit_link({{10, 1}, {20, 0}}),
                    "fit_link: a message takes a positive time, one of 20 bytes took none");
}

TEST_CASE("both ends of a link measure the same", "[parallel][PAR-6]") {
  auto communicators = parallel::thread_communicators(std::vector<Cpu>{Cpu{0}, Cpu{1}, Cpu{0}}, {.timeout_ms = 60000});
  std::vector<Link> links(3);
  parallel::run_ranks(communicators, [&](auto& communicator) {
    const int rank = communicator.rank();
    if (rank > 0)
      links[static_cast<std::size_t>(rank)] =
          bench::measure_link(communicator, 3 - rank, {.largest_bytes = 1 << 16, .round_trips = 3});
  });
  CHECK(links[1].latency_s >= 0);
  CHECK(links[1].time_s(1 << 16) > 0);
  CHECK(links[1].latency_s == links[2].latency_s);
  CHECK(links[1].bytes_per_s == links[2].bytes_per_s);
  CHECK_THROWS_WITH(bench::measure_link(communicators[1], 1),
                    "measure_link: a link joins two ranks, got 1 on both sides");
}

struct Lower {
  static constexpr Value forward(Input<Dim<"batch">, 5> x) {
    return tanh(nn::batch_norm(nn::linear(x, 6, "lower"), "norm"));
  }
};
struct Head {
  static constexpr Value forward(Input<Dim<"batch">, 6> x) { return nn::linear(x, 3, "head"); }
};
using Two = BasicPipeline<ZeroBubbleH1, double, Cpu, Lower, Head>;

TEST_CASE("counted costs are arithmetic and bytes at the rates of a machine", "[parallel][PAR-6]") {
  constexpr double never = 1e300;
  const std::array shape{Dims(7, 5)};
  const auto arithmetic = counted_costs<Two>(shape, {.operations_per_s = 2, .bytes_per_s = never});
  CHECK(arithmetic[0].forward_s == Approx(7 * 5 * 6)); // a multiply-add is two operations
  CHECK(arithmetic[0].input_gradient_s == 0);          // the first stage has none
  CHECK(arithmetic[0].weight_gradient_s == Approx(7 * 5 * 6));
  CHECK(arithmetic[1].forward_s == Approx(7 * 6 * 3));
  CHECK(arithmetic[1].input_gradient_s == Approx(7 * 6 * 3));
  CHECK(arithmetic[1].weight_gradient_s == Approx(7 * 6 * 3));
  const auto traffic = counted_costs<Two>(shape, {.operations_per_s = never, .bytes_per_s = 8});
  CHECK(traffic[1].forward_s >= 7 * 6 + 6 * 3 + 7 * 3); // in elements: input, weights, result
  CHECK(traffic[1].forward_s <= 7 * 6 + 6 * 3 + 3 + 4 * 7 * 3);
  const auto launches = counted_costs<Two>(shape, {never, never, 1});
  CHECK(launches[1].forward_s >= 1);
  CHECK(launches[0].forward_s > launches[1].forward_s);
  CHECK(arithmetic[0].output_bytes == 7 * 6 * 8);
}

TEST_CASE("measuring a pipeline's stages changes nothing that a step would see", "[parallel][PAR-6]") {
  Two pipe{{Cpu{0}, Cpu{1}}};
  const auto x = random_rows<double, 5>(Cpu{0}, 8);
  const auto labels = random_labels(Cpu{0}, 8, 3);
  const auto values = [&] {
    std::vector<double> all;
    pipe.for_each_stage([&](auto& network) {
      for (const auto& view : network.parameters()) {
        const auto* data = static_cast<const double*>(view.buffer.data());
        all.insert(all.end(), data, data + view.buffer.bytes() / sizeof(double));
      }
    });
    return all;
  };
  const std::vector<double> before = values();
  const bench::HinderedCosts measured = bench::measured_costs(pipe, nn::cross_entropy, {.rounds = 2}, x, labels);
  CHECK(values() == before);
  std::apply([](auto&... stage) { CHECK((stage.is_idle() && ...)); }, pipe.all());
  const List<StageCost> bytes = stage_bytes<Two>(std::array{Dims(8, 5)});
  const List<StageCost>& costs = measured.stages;
  REQUIRE(costs.size() == 2);
  for (std::size_t stage = 0; stage < 2; ++stage) {
    CHECK(costs[stage].forward_s > 0);
    CHECK(costs[stage].weight_gradient_s > 0);
    CHECK(measured.alone_share[stage] > 0);
    CHECK(measured.alone_share[stage] <= 1);
    CHECK(costs[stage].kept_bytes == bytes[stage].kept_bytes);
    CHECK(costs[stage].output_bytes == bytes[stage].output_bytes);
  }
  const Prediction step = bench::simulate_hindered<ZeroBubbleH1>(measured, 6);
  const double busy_s = 6 * (costs[1].forward_s + costs[1].input_gradient_s + costs[1].weight_gradient_s);
  CHECK(step.step_s >= 0.999 * measured.alone_share[1] * busy_s);
  CHECK(step.sent_bytes == List<std::int64_t>{6 * 8 * 6 * 8, 6 * 8 * 6 * 8});
  CHECK(messages_of(step.timeline).size() == 2 * 6);
}

TEST_CASE("a machine is measured by what it does", "[parallel][PAR-6]") {
  const Machine machine = bench::measure_machine(Cpu{0}, 1 << 18);
  CHECK(machine.operations_per_s > 1e6);
  CHECK(machine.bytes_per_s > 1e5);
  CHECK(machine.launch_s > 0);
}

TEST_CASE("devices that share a stage add up what they have made, and weights are updated at the end",
          "[parallel][PAR-6]") {
  const StageCost cost{.forward_s = 1, .input_gradient_s = 2, .output_bytes = 10, .shared_bytes = 400, .update_s = 5};
  const Cluster cluster{.replicas = 64, .tensor_ranks = 4, .between_tensor_ranks = {.bytes_per_s = 100}};
  const double shared = 2 * 3 * (400.0 / 4 / 100);
  const Prediction step = simulate<GPipe>({{4, cost}, 3}, cluster);
  CHECK(step.step_s == Approx((3 + 4 - 1) * (1 + shared + 2 + shared) + 5));
  CHECK(step.sent_bytes[0] == 3 * 10 + 3 * 2 * 2 * 400 * 3 / 4);
  CHECK(cluster.devices(4) == 1024);
  CHECK_THROWS_WITH(simulate<ZeroBubbleV>({{3, cost}, 8}),
                    "pipeline::simulate: ZBV has 2 stages on each rank, costs are given for 3");
}

} // namespace
