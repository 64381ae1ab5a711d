#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Runs under `parallel::Reproducible` that are compared bit by bit: one task, a model with its batches, trained on one
// device, on replicas and on ranks with a stage of ZeRO, whole or from where another run was interrupted.

#include <twill/parallel/data/reproducible_replicas.hpp>
#include <twill/parallel/data/reproducible_step.hpp>
#include <twill/parallel/threads/ranks.hpp>

#include "tests/support/ranks.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace twill::test {

[[nodiscard]] inline bool are_equal(const nn::StateDict& left, const nn::StateDict& right) {
  if (left.size() != right.size()) return false;
  for (const auto& [name, tensor] : left.entries())
    if (right.find(name) == nullptr || !std::ranges::equal(right.find(name)->bytes, tensor.bytes)) return false;
  return true;
}

/// The end of a run, from which another one may go on.
struct Run {
  int steps = 0;
  nn::StateDict weights{};
  nn::StateDict states{};
  RandomDraw draw{};
  double loss = 0;

  friend bool operator==(const Run& left, const Run& right) {
    return left.steps == right.steps && left.loss == right.loss && are_equal(left.weights, right.weights) &&
           are_equal(left.states, right.states);
  }
};

/// The runs of a task: `Network`, `policy`, `rows` in a batch, `loss`, `rule`, and `batch(step)`, a pair of tensors.
template <class Task> struct ReproducibleRuns {
  using Network = typename Task::Network;

  /// A run of a network by itself, up to a number of steps.
  static Run alone(int steps, const Run& from = {}) {
    Network network = begin(from);
    auto step = train_step(network, Task::loss, Task::rule, Task::policy);
    return whole_batches(step, network, steps, from);
  }

  static Run replicated(int devices, int steps, const Run& from = {}) {
    Network network = begin(from);
    DataParallel model{network, {.devices = first_devices(devices)}};
    auto step = train_step(model, Task::loss, Task::rule, Task::policy);
    return whole_batches(step, network, steps, from);
  }

  template <int Stage> static Run shared(int ranks, int steps, const Run& from = {}) {
    auto communicators = thread_group(ranks);
    std::vector<Network> networks{};
    networks.push_back(begin(from));
    for (int rank = 1; rank < ranks; ++rank) networks.emplace_back(Cpu{rank});
    Run end{};
    parallel::run_ranks(communicators, [&](auto& communicator) {
      const int rank = communicator.rank();
      Network& network = networks[static_cast<std::size_t>(rank)];
      DistributedDataParallel model{
          network, communicator, {.buckets = {.first_bucket_bytes = 64, .bucket_bytes = 300}}};
      auto step = train_step(model, Task::loss, Task::rule, parallel::zero<Stage>, Task::policy);
      if (from.steps > 0) step.load_state_dict(from.states);
      const parallel::Rows own = step.rows_of(Task::rows);
      double loss = 0;
      for (int i = from.steps; i < steps; ++i) {
        const auto [x, y] = Task::batch(i);
        loss = step(parallel::rows_of<0>(x, own).to(Cpu{rank}), parallel::rows_of<0>(y, own).to(Cpu{rank})).item();
      }
      nn::StateDict states = step.state_dict();
      step.gather_weights();
      if (rank == 0) end = {steps, nn::state_dict(network), std::move(states), generator(Cpu{0}).state(), loss};
    });
    for (const Network& network : networks) REQUIRE(are_equal(nn::state_dict(network), end.weights));
    return end;
  }

private:
  static Network begin(const Run& from) {
    manual_seed_all(7);
    Network network{Cpu{0}};
    if (from.steps == 0) return network;
    nn::load_state_dict(network, from.weights);
    generator(Cpu{0}).set_state(from.draw);
    return network;
  }

  template <class Step> static Run whole_batches(Step& step, const Network& network, int steps, const Run& from) {
    if (from.steps > 0) step.load_state_dict(from.states);
    double loss = 0;
    for (int i = from.steps; i < steps; ++i) {
      const auto [x, y] = Task::batch(i);
      loss = step(x, y).item();
    }
    return {steps, nn::state_dict(network), step.state_dict(), generator(Cpu{0}).state(), loss};
  }
};

} // namespace twill::test
