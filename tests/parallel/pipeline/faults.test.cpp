// SPDX-License-Identifier: Apache-2.0
//
// Ranks of a pipeline that throw or hang, one after the other, at every call of their communicator and inside of stages, loss and
// updates: all ranks hear of it by name, whoever waited for whom; nothing is leaked, each weight is an old or a new one, and a
// fresh group, or the step itself where it makes its own, trains on to the bits of a run in which nothing went wrong. Each run is a
// simulation of another seed.

#include "tests/parallel/group/endings.hpp"
#include "tests/support/four_devices.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/numbers.hpp"
#include "tests/training/models.hpp"

#include <twill/nn/linear.hpp>
#include <twill/parallel/data/chunk.hpp>
#include <twill/parallel/group/rank_group.hpp>
#include <twill/parallel/model/parallel_model.hpp>
#include <twill/parallel/pipeline/run/rank_step.hpp>
#include <twill/parallel/pipeline/run/step.hpp>
#include <twill/parallel/pipeline/schedule/schedules.hpp>
#include <twill/parallel/threads/ranks.hpp>

#include <catch2/catch.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

using namespace twill;
using namespace twill::test;

namespace {

struct Middle {
  static constexpr auto forward(Input<Dim<"batch">, 4> x) {
    return fault_point<Place::forward>(tanh(nn::linear(x, 4, "middle")));
  }
};
struct Head {
  static constexpr auto forward(Input<Dim<"batch">, 4> x) {
    return nn::linear(fault_point<Place::forward>(x), 3, "head");
  }
};
template <class S> using Stages = pipeline::BasicPipeline<S, double, Cpu, Middle, Middle, Head>;
constexpr int ranks = 3;
constexpr int steps = 3; ///< the last is there to hear of faults in the update of the one before
constexpr int rows = 7;  ///< 2, 2, 2 and 1 in micro-batches
constexpr int micro_batches = 4;

template <class P> std::vector<std::vector<double>> weights_of_stages(P& pipe) {
  std::vector<std::vector<double>> weights;
  pipe.for_each_stage([&](auto& network) { weights.push_back(weights_of(network)); });
  return weights;
}

/// The same weights whoever draws them.
template <class P> void start_anew(P& pipe) {
  std::uint64_t salt = 0;
  pipe.for_each_stage([&](auto& network) {
    std::vector<double> weights = weights_of(network);
    for (double& weight : weights) weight = 0.3 * static_cast<double>((++salt * 7919) % 101) / 50.5 - 0.3;
    set_weights(network, weights);
  });
}

template <class P> bool is_idle(P& pipe) {
  bool idle = true;
  pipe.for_each_stage_here([&](auto& stage) { idle = idle && stage.is_idle(); });
  return idle;
}

struct Run {
  std::vector<Ending> endings{};
  std::vector<std::vector<double>> weights{};
  bool is_idle = true; ///< no stage has kept anything of a micro-batch
};

/// Each rank with its own stage over a communicator.
template <class S> Run stepped(Trial& trial, std::int64_t timeout_ms, int count = steps) {
  auto group = faulty_threads(trial, ranks, timeout_ms);
  const auto x = waves<4>(Cpu{0}, rows);
  const auto y = waves<3>(Cpu{0}, rows);
  std::vector<std::unique_ptr<Stages<S>>> pipes;
  for (int rank = 0; rank < ranks; ++rank) {
    pipes.push_back(std::make_unique<Stages<S>>(Cpu{rank}, rank, RandomDraw{}));
    start_anew(*pipes.back());
  }
  Run run{};
  run.endings = play(trial, group, [&](FaultyThreads& communicator) {
    auto step = train_step(*pipes[static_cast<std::size_t>(communicator.rank())], communicator, faulty_loss,
                           FaultySgd{}, {.micro_batches = micro_batches});
    for (int i = 0; i < count; ++i) static_cast<void>(step(x, y));
  });
  for (auto& pipe : pipes) {
    run.weights.push_back(weights_of_stages(*pipe)[0]);
    run.is_idle = run.is_idle && is_idle(*pipe);
  }
  return run;
}

/// Every rank at every place, or one rank for each.
template <class S> void check_ranks(bool every_rank) {
  std::vector<std::vector<std::vector<double>>> known;
  Turns turns{};
  for (int count = 0; count <= steps; ++count) {
    Trial none{{}};
    const Run run = stepped<S>(none, 60'000, count);
    for (const Ending& ending : run.endings) REQUIRE(ending.is_done);
    known.push_back(run.weights);
    if (count < steps) turns = turns_of(none, ranks);
  }
  const std::vector<std::int64_t> before = bytes_in_use(ranks);
  std::uint64_t seed = 0;
  const auto check = [&](const Fault& fault) {
    Simulation simulation{++seed};
    INFO(S::name << ": " << described(fault) << ", seed " << seed);
    simulation.run([&] {
      Trial trial{fault};
      const Run run = stepped<S>(trial, timeout_ms_for(fault));
      if (!trial.was_met()) return; // ranks come to some places less often than others
      REQUIRE(run.endings.size() == ranks);
      check_endings(run.endings, fault);
      CHECK(are_old_or_new(run.weights, known));
      CHECK(run.is_idle);
    });
    CHECK(bytes_in_use(ranks) == before);
  };
  for (std::size_t place = 0; place < turns.size(); ++place)
    for (int turn = 1; turn <= turns[place]; ++turn)
      for (int rank = 0; rank < ranks; ++rank)
        if (every_rank || turn % ranks == rank)
          for (const Kind kind : {Kind::throws, Kind::hangs}) check({rank, static_cast<Place>(place), turn, kind});
  Trial none{{}};
  CHECK(stepped<S>(none, 60'000).weights == known.back());
}

/// All stages in one step, which goes on with a group of its own.
template <class S> void check_step_of_all(bool every_rank) {
  const auto x = waves<4>(Cpu{0}, rows);
  const auto y = waves<3>(Cpu{0}, rows);
  const std::vector<Cpu> devices{Cpu{0}, Cpu{1}, Cpu{2}};
  std::vector<std::vector<std::vector<double>>> known;
  Turns turns{};
  for (int count = 0; count <= 2; ++count) {
    Trial none{{}};
    Stages<S> pipe{devices};
    start_anew(pipe);
    auto step = train_step(pipe, faulty_loss, FaultySgd{}, {.micro_batches = micro_batches});
    for (int i = 0; i < count; ++i) static_cast<void>(step(x, y));
    known.push_back(weights_of_stages(pipe));
    turns = turns_of(none, ranks);
  }
  const std::vector<std::int64_t> before = bytes_in_use(ranks);
  std::uint64_t seed = 0;
  int late = 0;
  const auto check = [&](const Fault& fault) {
    Simulation simulation{++seed};
    INFO(S::name << ": " << described(fault) << ", seed " << seed);
    simulation.run([&] {
      Trial trial{fault};
      Stages<S> pipe{devices};
      start_anew(pipe);
      auto step = train_step(pipe, faulty_loss, FaultySgd{},
                             {.micro_batches = micro_batches, .timeout_ms = timeout_ms_for(fault)});
      std::string text;
      int named = -1;
      try {
        for (int i = 0; i < 2; ++i) static_cast<void>(step(x, y));
      } catch (const Injected& error) {
        text = error.what();
        named = error.rank;
      } catch (const parallel::TimeoutError& error) {
        text = error.what();
        named = error.rank();
      }
      if (!trial.was_met()) return;
      INFO(text);
      if (text.empty() && fault.kind == Kind::hangs) { // nobody waited for it: it was late
        CHECK(weights_of_stages(pipe) == known.back());
        ++late;
        return;
      }
      CHECK(named == fault.rank);
      CHECK(text.find(fault.kind == Kind::throws ? "injected" : "rank " + std::to_string(fault.rank) + " on cpu:") !=
            std::string::npos);
      CHECK(are_old_or_new(weights_of_stages(pipe), known));
      CHECK(is_idle(pipe));
      start_anew(pipe); // the faulty turn is over, and the step has made a fresh group
      for (int i = 0; i < 2; ++i) static_cast<void>(step(x, y));
      CHECK(weights_of_stages(pipe) == known.back());
    });
    CHECK(bytes_in_use(ranks) == before);
  };
  for (const Place place : {Place::forward, Place::loss, Place::backward, Place::update})
    for (int turn = 1; turn <= turns[static_cast<std::size_t>(place)]; ++turn)
      for (int rank = 0; rank < ranks; ++rank)
        if (every_rank || turn % ranks == rank) {
          check({rank, place, turn, Kind::throws});
          check({rank, place, turn, Kind::hangs, long_enough_ms}); // nobody knows here when the others have ended
        }
  CHECK(late < static_cast<int>(seed) / 4); // of the hanging ones
}

/// Two replicas of a pipeline of two stages: everybody waits for somebody who waits for the culprit, in groups of their own.
using Grid = parallel::Mesh<parallel::Axis<"data", 2>, parallel::Axis<"pipe", 2>>;
using OnGrid =
    ParallelModel<Grid, pipeline::OneForwardOneBackward, FaultyThreads, pipeline::InStages<Middle, Head>, double>;

std::vector<Ending> meshed(Trial& trial, std::int64_t timeout_ms, std::vector<std::vector<double>>& weights) {
  auto group = faulty_threads(trial, 4, timeout_ms);
  const auto x = waves<4>(Cpu{0}, 4);
  const auto y = waves<3>(Cpu{0}, 4);
  weights.assign(4, {});
  return play(trial, group, [&](FaultyThreads& communicator) {
    OnGrid model{communicator, RandomDraw{3, 0}};
    start_anew(model.pipeline());
    auto step = train_step(model, faulty_loss, FaultySgd{}, {.micro_batches = 2});
    for (int i = 0; i < steps; ++i) static_cast<void>(step(x, y));
    weights[static_cast<std::size_t>(communicator.rank())] = weights_of_stages(model.pipeline())[0];
  });
}

void check_mesh() {
  std::vector<std::vector<double>> expected;
  Trial none{{}};
  for (const Ending& ending : meshed(none, 60'000, expected)) REQUIRE(ending.is_done);
  const int calls = none.count(0, Place::call);
  const std::vector<std::int64_t> before = bytes_in_use(4);
  std::uint64_t seed = 0;
  const auto check = [&](const Fault& fault) {
    Simulation simulation{++seed};
    INFO("mesh: " << described(fault) << ", seed " << seed);
    Trial trial{fault};
    std::vector<std::vector<double>> weights;
    const std::vector<Ending> endings = simulation.run([&] { return meshed(trial, timeout_ms_for(fault), weights); });
    REQUIRE(trial.was_met());
    for (int rank = 0; rank < 4; ++rank) {
      const Ending& ending = endings[static_cast<std::size_t>(rank)];
      INFO("rank " << rank << ": " << ending.text);
      CHECK_FALSE(ending.is_done);
      if (rank == fault.rank && fault.kind == Kind::throws)
        CHECK(ending.is_injected);
      else
        CHECK(ending.origin == fault.rank); // also of a group with other numbers
      if (rank != fault.rank) CHECK(ending.text.find("on cpu:" + std::to_string(fault.rank)) != std::string::npos);
    }
    CHECK(bytes_in_use(4) == before);
  };
  for (int rank = 0; rank < 4; ++rank) {
    for (const Kind kind : {Kind::throws, Kind::hangs}) {
      for (int turn = 1; turn <= calls - calls / steps; ++turn) check({rank, Place::call, turn, kind});
      check({rank, Place::forward, 3, kind});
      check({rank, Place::update, 1, kind});
    }
  }
  Trial again{{}};
  std::vector<std::vector<double>> weights;
  static_cast<void>(meshed(again, 60'000, weights));
  CHECK(weights == expected);
  // A rank that has no memory for its stages never comes to a step: the others hear why, wherever they wait.
  empty_cache(Cpu{2});
  set_memory_limit(Cpu{2}, memory_reserved(Cpu{2}));
  const std::vector<Ending> endings = meshed(again, 60'000, weights);
  set_memory_limit(Cpu{2}, memory::no_limit);
  CHECK(bytes_in_use(4) == before);
  for (const Ending& ending : endings) {
    INFO(ending.text);
    CHECK_FALSE(ending.is_done);
    CHECK(ending.text.find(&ending == &endings[2] ? "cpu:2" : "rank 2 on cpu:2 failed: ") != std::string::npos);
    CHECK(ending.text.find("memory") != std::string::npos);
    CHECK(ending.again.find("rank 2 on cpu:2 failed: ") == 0);
  }
}

/// The weights of both replicas' ranks after all steps, of replicas put together by hand.
std::vector<std::vector<double>> replicas_by_hand() {
  Trial none{{}};
  const std::vector<Cpu> devices{Cpu{0}, Cpu{1}, Cpu{2}, Cpu{0}, Cpu{1}, Cpu{2}};
  std::vector<FaultyThreads> group;
  for (auto& communicator : parallel::thread_communicators(devices, {.timeout_ms = 60'000}))
    group.emplace_back(std::move(communicator), none);
  const auto x = waves<4>(Cpu{0}, rows);
  const auto y = waves<3>(Cpu{0}, rows);
  std::vector<std::vector<double>> weights(2 * ranks);
  parallel::run_ranks(group, [&](FaultyThreads& world) {
    const int replica = world.rank() / ranks;
    FaultyThreads along_pipe = world.split(replica, world.rank());
    FaultyThreads along_data = world.split(along_pipe.rank(), world.rank());
    kernel::RankGroups groups{};
    groups.add(parallel::rank_group<RankAxis<"data", 2>>(along_data));
    Stages<pipeline::OneForwardOneBackward> pipe{world.device(), along_pipe.rank(), RandomDraw{}, groups};
    start_anew(pipe);
    auto step = train_step(pipe, along_pipe, along_data, faulty_loss, FaultySgd{}, {.micro_batches = 2});
    const parallel::Rows own{4 * replica, replica == 0 ? 4 : 3};
    for (int i = 0; i < steps; ++i) static_cast<void>(step(parallel::rows_of<0>(x, own), parallel::rows_of<0>(y, own)));
    weights[static_cast<std::size_t>(world.rank())] = weights_of_stages(pipe)[0];
  });
  return weights;
}

} // namespace

TEST_CASE("replicas of a pipeline that it knows of are one network, those that it does not know of are refused",
          "[parallel][PAR-7]") {
  Trial none{{}};
  const Run expected = stepped<pipeline::OneForwardOneBackward>(none, 60'000);
  const std::vector<std::vector<double>> found = replicas_by_hand();
  for (std::size_t rank = 0; rank < found.size(); ++rank)
    CHECK(largest_difference(found[rank], expected.weights[rank % ranks]) < 1e-12);
  auto group = faulty_threads(none, ranks, 60'000);
  Stages<pipeline::OneForwardOneBackward> alone{Cpu{0}, 0, RandomDraw{}};
  const std::string refusal = message_of<ValueError>([&] {
    static_cast<void>(train_step(alone, group[0], group[0], faulty_loss, FaultySgd{}, {.micro_batches = 2}));
  });
  CHECK(refusal.find("train_step: the pipeline is not a member of the group of its 3 replicas") == 0);
  CHECK(refusal.find("make it a ParallelModel") != std::string::npos);
}
TEST_CASE("a rank of replicas of pipelines that throws or hangs is named on all ranks of all groups",
          "[parallel][PAR-9][PAR-7]") {
  check_mesh();
}
TEST_CASE("a rank of a pipeline that throws or hangs anywhere ends the step on all ranks, which name it",
          "[parallel][PAR-9]") {
  check_ranks<pipeline::OneForwardOneBackward>(true);
  check_ranks<pipeline::GPipe>(false);
  check_ranks<pipeline::ZeroBubbleH1>(false);
}
TEST_CASE("a pipeline whose stage throws or hangs says so by the same type or the rank's name, and trains on",
          "[parallel][PAR-9]") {
  check_step_of_all<pipeline::OneForwardOneBackward>(true);
  check_step_of_all<pipeline::GPipe>(false);
  check_step_of_all<pipeline::ZeroBubbleH1>(false);
}
