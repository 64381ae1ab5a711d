// SPDX-License-Identifier: Apache-2.0
//
// Elastic training of an MLP with dropout under `parallel::Reproducible`: whichever rank fails at whichever step, weights
// and states end in the bits of a run that nothing disturbed, with whole weights and with ZeRO; a run that ended goes on
// from its folder on fewer devices; a state of a process, played by threads, is saved by the rank that is left; and
// commits that do not fit are refused.

#include "tests/parallel/data/elastic_training.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/temporary_folder.hpp"

#include <twill/parallel/data/elastic_process.hpp>
#include <twill/parallel/threads/elastic.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

using namespace twill;
using namespace twill::test::elastic;
using parallel::ElasticState;
using test::message_of;

namespace {

using Options = parallel::ElasticOptions<Cpu>;
using Rank = parallel::ThreadCommunicator<Cpu>;

/// An elastic run of some ranks from the same seed.
template <int Stage, class Batches>
parallel::ElasticReport run(ElasticState& state, const Options& options, const Batches& batch, int ranks = 3) {
  manual_seed_all(7);
  const std::vector<Cpu> devices = test::first_devices(ranks);
  // region: group
  const parallel::ElasticReport report =
      parallel::run_elastic(devices, options, [&](auto& communicator) { train<Stage>(communicator, state, batch); });
  // end region
  return report;
}

bool agree(const io::Checkpoint& left, const io::Checkpoint& right) {
  const auto all = left.tensors();
  const auto others = right.tensors();
  return left.values() == right.values() &&
         std::equal(all.begin(), all.end(), others.begin(), others.end(), [](const auto& one, const auto& other) {
           return one.first == other.first && std::ranges::equal(one.second.bytes, other.second.bytes);
         });
}

const io::Checkpoint& undisturbed() {
  static const auto end = [] {
    ElasticState state{};
    REQUIRE(run<0>(state, {}, batch_of).restarts == 0);
    REQUIRE(state.step() == steps);
    return state.newest();
  }();
  return *end;
}

template <int Stage> void check_faults() {
  for (int fatal_rank = 0; fatal_rank < 3; ++fatal_rank)
    for (std::int64_t fatal_step = 0; fatal_step < steps; fatal_step += 3) {
      ElasticState state{};
      const auto report = run<Stage>(state, {.spares = {Cpu{3}}}, [&](const Rank& rank, auto step, const auto& own) {
        if (rank.device() == Cpu{fatal_rank} && step == fatal_step) throw std::runtime_error("the device is gone");
        if (rank.device() == Cpu{3} && step == steps - 1) throw std::runtime_error("the spare one, too");
        return batch_of(rank, step, own);
      });
      REQUIRE(report.restarts == 2);
      REQUIRE(report.devices.size() == 2);
      REQUIRE(agree(*state.newest(), undisturbed()));
    }
}

} // namespace

TEST_CASE("whichever rank fails, a reproducible run ends in the bits of one that nothing disturbed",
          "[parallel][elastic]") {
  check_faults<0>();
  check_faults<3>();
}

TEST_CASE("a run that ended goes on from its folder on other devices", "[parallel][elastic]") {
  const test::TemporaryFolder folder{};
  const parallel::ElasticFiles files{.folder = folder.path, .save_every = 1};
  {
    ElasticState state{files};
    const auto play = [&] {
      run<0>(state, {.most_restarts = 0}, [](const Rank& rank, auto step, const auto& own) {
        if (rank.rank() == 1 && step == 5) throw std::runtime_error("the machine stops");
        return batch_of(rank, step, own);
      });
    };
    REQUIRE(
        message_of<parallel::ElasticError>(play) ==
        "run_elastic: the limit .most_restarts, 0, is reached; failures: rank 1 on cpu:1 after restart 0: the machine "
        "stops");
  }
  ElasticState state{files};
  REQUIRE(state.step() == 4);
  run<3>(state, {}, batch_of, 2);
  REQUIRE(agree(*state.newest(), undisturbed()));
}

TEST_CASE("the newest commit of a process outlives rank 0 in the memory of another rank", "[parallel][elastic]") {
  const test::TemporaryFolder folder{};
  const parallel::ElasticFiles files{.folder = folder.path, .save_every = 100};
  {
    std::array<ElasticState, 3> states{ElasticState{files}, ElasticState{files}, ElasticState{files}};
    manual_seed_all(7);
    const auto play = [&] {
      auto communicators = test::thread_group(3);
      parallel::run_ranks(communicators, [&](Rank& rank) {
        ElasticState& own = states[static_cast<std::size_t>(rank.rank())];
        own.set_process_rank(rank.rank());
        train<0>(rank, own, [](const Rank& each, auto step, const auto& rows_of_it) {
          if (each.rank() == 0 && step == 5) throw std::runtime_error("the process dies");
          return batch_of(each, step, rows_of_it);
        });
      });
    };
    REQUIRE(message_of<std::runtime_error>(play) == "the process dies");
    REQUIRE(states[1].step() == 4);
    REQUIRE(states[2].newest() == nullptr); // .copies is 2
    REQUIRE(ElasticState{files}.newest() == nullptr);
    std::signal(SIGTERM, SIG_IGN); // so that this process stays
    {
      const parallel::OnTermination saving{[&] { states[1].save(); }};
      REQUIRE(message_of<ValueError>([] { parallel::OnTermination{[] {}}; }) ==
              "OnTermination: there is another one; a process has one at a time");
      static_cast<void>(std::raise(SIGTERM));
    }
    std::signal(SIGTERM, SIG_DFL);
  }
  ElasticState state{files};
  REQUIRE(state.step() == 4);
  run<3>(state, {}, batch_of, 2);
  REQUIRE(agree(*state.newest(), undisturbed()));
  state.save(); // the folder's own file is now newer than the copy
  REQUIRE(ElasticState{files}.step() == steps);
}

TEST_CASE("a commit that does not fit is refused by its step", "[parallel][elastic]") {
  std::array<ElasticState, 2> states{};
  run<0>(states[1], {}, batch_of, 1);
  const auto different = [&] {
    auto communicators = test::thread_group(2);
    parallel::run_ranks(communicators,
                        [&](Rank& rank) { train<0>(rank, states[static_cast<std::size_t>(rank.rank())], batch_of); });
  };
  REQUIRE(message_of<ValueError>(different) ==
          "ElasticState: rank 1 finds another commit, that of step 7, than rank 0, none, in folder ''; ranks that are "
          "threads share one state, processes a folder that all see");
  const auto not_restored = [&] {
    auto communicators = test::thread_group(1);
    nn::Network<Mlp> network{Cpu{0}};
    DistributedDataParallel model{network, communicators[0]};
    auto step = train_step(model, nn::cross_entropy, optim::Adam{{.rate = 0.01}}, parallel::zero<0>,
                           parallel::Reproducible{.shards = 4});
    states[1].commit(model, step);
  };
  REQUIRE(message_of<ValueError>(not_restored) ==
          "ElasticState: commit of step 0 after that of step 7; call restore(model, step) before the first step");
  REQUIRE(message_of<ValueError>([] { ElasticState{parallel::ElasticFiles{.save_every = 0}}; }) ==
          "ElasticState: .save_every is at least 1 step, got 0");
  REQUIRE(message_of<ValueError>([] { ElasticState{parallel::ElasticFiles{.copies = 0}}; }) ==
          "ElasticState: .copies is at least 1 rank, got 0");
}
