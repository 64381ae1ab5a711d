// SPDX-License-Identifier: Apache-2.0
//
// Ranks of a distributed model that throw or hang, one after the other, at every call of their communicator and inside forward
// pass, loss, backward pass and update: all ranks hear of it by name, nothing is leaked, each weight is an old or a new one, and a
// fresh group trains on to the bits of a run in which nothing went wrong. Each run is a simulation of another seed.

#include "tests/parallel/group/endings.hpp"
#include "tests/support/four_devices.hpp"
#include "tests/training/models.hpp"

#include <twill/nn/linear.hpp>
#include <twill/parallel/data/distributed_step.hpp>

#include <catch2/catch.hpp>

#include <cstdint>
#include <string>
#include <vector>

using namespace twill;
using namespace twill::test;

namespace {

struct Model {
  static constexpr auto forward(Input<Dim<"batch">, 4> x) {
    return nn::linear(fault_point<Place::forward>(tanh(nn::linear(x, 5, "hidden"))), 3, "output");
  }
};
using Network = nn::Network<Model, Cpu, double>;
constexpr int ranks = 3;
constexpr int steps = 3; ///< the last is there to hear of faults in the update of the one before

/// What one run of all ranks leaves.
struct Run {
  std::vector<Ending> endings{};
  std::vector<std::vector<double>> weights{}; ///< of each rank
};

/// Zero's update is in pieces of weights, which no kernel of one's own would know: its faults are those of calls.
template <int Stage> auto rule_of_stage() {
  if constexpr (Stage == 0)
    return FaultySgd{};
  else
    return optim::Sgd{{.rate = 0.1}};
}

template <int Stage>
Run trained(Trial& trial, std::int64_t timeout_ms, const std::vector<double>& weights, int count = steps) {
  auto group = faulty_threads(trial, ranks, timeout_ms);
  std::vector<Network> networks{};
  for (int rank = 0; rank < ranks; ++rank) {
    networks.emplace_back(Cpu{rank});
    set_weights(networks.back(), weights);
  }
  Run run{};
  run.endings = play(trial, group, [&](FaultyThreads& communicator) {
    const int rank = communicator.rank();
    const auto x = waves<4>(Cpu{rank}, 2 + rank);
    const auto y = waves<3>(Cpu{rank}, 2 + rank);
    DistributedDataParallel model{networks[static_cast<std::size_t>(rank)],
                                  communicator,
                                  {.buckets = {.first_bucket_bytes = 64, .bucket_bytes = 100}}};
    auto step = train_step(model, faulty_loss, rule_of_stage<Stage>(), parallel::zero<Stage>);
    for (int i = 0; i < count; ++i) static_cast<void>(step(x, y));
    step.gather_weights();
  });
  for (const Network& network : networks)
    if (network.state()->is_whole())
      run.weights.push_back(weights_of(network));
    else if (Stage == 3) // what was not gathered is refused
      CHECK_THROWS_AS(weights_of(network), ValueError);
    else
      FAIL("weights that nobody shared out are not there");
  return run;
}

template <int Stage> void check_all_faults() {
  const std::vector<double> start = [] {
    manual_seed_all(7);
    return weights_of(Network{Cpu{0}});
  }();
  std::vector<std::vector<std::vector<double>>> known{{start, start, start}}; // after each number of steps
  Turns turns{};
  for (int count = 1; count <= steps; ++count) {
    Trial none{{}};
    const Run run = trained<Stage>(none, 60'000, start, count);
    for (const Ending& ending : run.endings) REQUIRE(ending.is_done);
    known.push_back(run.weights);
    if (count < steps || Stage == 3) turns = turns_of(none, ranks); // gathering weights tells of the last update
  }
  const std::vector<std::int64_t> before = bytes_in_use(ranks);
  std::uint64_t seed = 0;
  const auto check = [&](const Fault& fault) {
    Simulation simulation{++seed};
    INFO("stage " << Stage << ": " << described(fault) << ", seed " << seed);
    simulation.run([&] {
      Trial trial{fault};
      const Run run = trained<Stage>(trial, timeout_ms_for(fault), start);
      REQUIRE(trial.was_met());
      REQUIRE(run.endings.size() == ranks);
      check_endings(run.endings, fault);
      CHECK(are_old_or_new(run.weights, known));
    });
    CHECK(bytes_in_use(ranks) == before);
  };
  for (std::size_t place = 0; place < turns.size(); ++place)
    for (int turn = 1; turn <= turns[place]; ++turn)
      for (int rank = 0; rank < ranks; ++rank)
        for (const Kind kind : {Kind::throws, Kind::hangs}) check({rank, static_cast<Place>(place), turn, kind});
  Trial none{{}};
  const Run again = trained<Stage>(none, 60'000, start);
  CHECK(again.weights == known.back());
}

} // namespace

TEST_CASE("a distributed rank that throws or hangs anywhere in a step ends the step on all ranks, which name it",
          "[parallel][PAR-9]") {
  check_all_faults<0>();
}
TEST_CASE("so does one whose ranks share out states and gradients", "[parallel][PAR-9]") {
  check_all_faults<1>();
  check_all_faults<2>();
}
TEST_CASE("so does one whose ranks share out weights, in every fetch and when they gather them",
          "[parallel][PAR-4][PAR-9]") {
  check_all_faults<3>();
}
