#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Runs of pipelines under `parallel::Reproducible` beside those of `ReproducibleRuns`: the same task, with all stages in this
// process or with ranks that have their own, weights, states and loss at the end as of one network.

#include "tests/parallel/data/reproducible_runs.hpp"

#include <twill/parallel/pipeline/model/cut.hpp>
#include <twill/parallel/pipeline/model/state.hpp>
#include <twill/parallel/pipeline/run/reproducible_rank_step.hpp>
#include <twill/parallel/pipeline/run/reproducible_step.hpp>
#include <twill/parallel/pipeline/schedule/schedules.hpp>

#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace twill::test {

template <class Task, class S, class Cut> struct ReproduciblePipeline {
  using P = pipeline::BasicPipeline<S, float, Cpu, Cut>;

  /// A thread for each rank of one pipeline.
  static Run whole(int steps, pipeline::Checkpointing mode = pipeline::Checkpointing::never) {
    manual_seed_all(7);
    P pipe{first_devices(P::ranks)};
    auto step = train_step(pipe, Task::loss, Task::rule, {.micro_batches = Task::policy.shards, .checkpointing = mode},
                           Task::policy);
    double loss = 0;
    for (int i = 0; i < steps; ++i) {
      const auto [x, y] = Task::batch(i);
      loss = step(x, y).item();
    }
    std::apply([](auto&... stage) { REQUIRE((stage.is_idle() && ...)); }, pipe.all()); // nothing of a step is left
    return {steps, pipeline::state_dict(pipe), step.state_dict(), {}, loss};
  }

  /// Ranks that are threads, each with its own stages only.
  static Run in_parts(int steps) {
    manual_seed_all(7);
    const RandomDraw weights = generator(Cpu{0}).next();
    std::vector<std::unique_ptr<P>> pipes{};
    for (int rank = 0; rank < P::ranks; ++rank) pipes.push_back(std::make_unique<P>(Cpu{rank}, rank, weights));
    auto world = thread_group(P::ranks);
    Run end{steps, {}, {}, {}, 0};
    parallel::run_ranks(world, [&](auto& communicator) {
      auto step = train_step(*pipes[static_cast<std::size_t>(communicator.rank())], communicator, Task::loss,
                             Task::rule, Task::policy);
      double loss = 0;
      for (int i = 0; i < steps; ++i) {
        const auto [x, y] = Task::batch(i);
        loss = step(x, y).item();
      }
      nn::StateDict states = step.state_dict();
      if (communicator.rank() == 0) end.states = std::move(states), end.loss = loss;
    });
    for (const auto& pipe : pipes) {
      const nn::StateDict own = pipeline::state_dict(*pipe);
      for (const auto& [name, tensor] : own.entries())
        if (end.weights.find(name) == nullptr) end.weights.add(std::string{name}, tensor);
    }
    return end;
  }
};

} // namespace twill::test
