#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Simulation of a pipeline's step on ranks that hinder each other, such as cores that share caches and memory: an
// action goes the faster the fewer other ranks compute meanwhile. Everything else is as in `pipeline::simulate`, which
// it equals where nothing is hindered. Time goes from one beginning or end of an action to the next; between them
// speeds stay. Read next: bench/support/measured_costs.hpp.

#include <twill/core/list.hpp>
#include <twill/parallel/pipeline/schedule/action.hpp>
#include <twill/parallel/pipeline/schedule/predict.hpp>
#include <twill/parallel/pipeline/schedule/schedule.hpp>
#include <twill/parallel/pipeline/schedule/simulate.hpp>
#include <twill/parallel/pipeline/schedule/timeline.hpp>

#include <cstddef>

namespace bench {

using namespace twill::pipeline;
using twill::List;

/// A rank at work.
struct RankAtWork {
  std::size_t next = 0; ///< in its order
  bool is_busy = false;
  double start = 0;
  double left = 0; ///< of its action, in the time that it takes while all ranks compute
};

/// When each action starts and ends: `cost(action)` is its time while all ranks compute, and `alone(action)` the part
/// of it that it takes while no other rank does; with some of them it lies between, in proportion to their number.
/// requires: every action lies inside the schedule
template <class Cost, class Alone, class Transfer = UniformTransfer>
[[nodiscard]] constexpr Timeline simulate_hindered(const Schedule& schedule, const Cost& cost, const Alone& alone,
                                                   const Transfer& transfer = {}) {
  constexpr double never = -1;
  Timeline timeline;
  timeline.ranks.resize(static_cast<std::size_t>(schedule.ranks));
  List<RankAtWork> ranks(static_cast<std::size_t>(schedule.ranks), RankAtWork{});
  twill::pipeline::detail::PerAction<double> ready{schedule, never};
  std::size_t unfinished = 0;
  for (const List<Action>& order : schedule.orders)
    for (const Action& action : order) unfinished += is_computed(action.work) ? 1 : 0;

  double now = 0;
  for (bool moved = true; moved && unfinished > 0;) {
    // Ranks that can begin begin; the others tell when they could.
    double next_arrival = never;
    int busy = 0;
    for (int rank = 0; rank < schedule.ranks; ++rank) {
      RankAtWork& own = ranks[static_cast<std::size_t>(rank)];
      const List<Action>& order = schedule.order(rank);
      while (!own.is_busy && own.next < order.size() && !is_computed(order[own.next].work)) ++own.next;
      if (!own.is_busy && own.next < order.size()) {
        const double arrived = twill::pipeline::detail::inputs_ready(schedule, ready, order[own.next]);
        if (arrived != never && arrived <= now) {
          own.is_busy = true;
          own.start = now;
          own.left = cost(order[own.next]);
        } else if (arrived != never && (next_arrival == never || arrived < next_arrival)) {
          next_arrival = arrived;
        }
      }
      busy += own.is_busy ? 1 : 0;
    }
    // s = a + (1 - a) (busy - 1) / (ranks - 1): how long a unit of work takes with so many ranks at it
    const auto slowness = [&](const Action& action) {
      const double others = schedule.ranks > 1 ? static_cast<double>(busy - 1) / (schedule.ranks - 1) : 0;
      return alone(action) + (1 - alone(action)) * others;
    };
    double until = next_arrival;
    for (int rank = 0; rank < schedule.ranks; ++rank) {
      const RankAtWork& own = ranks[static_cast<std::size_t>(rank)];
      if (!own.is_busy) continue;
      const double end = now + own.left * slowness(schedule.order(rank)[own.next]);
      if (until == never || end < until) until = end;
    }
    moved = until != never;
    if (!moved) break;
    for (int rank = 0; rank < schedule.ranks; ++rank) {
      RankAtWork& own = ranks[static_cast<std::size_t>(rank)];
      if (!own.is_busy) continue;
      const Action& action = schedule.order(rank)[own.next];
      const double end = now + own.left * slowness(action);
      if (end > until) {
        own.left -= (until - now) / slowness(action);
        continue;
      }
      timeline.ranks[static_cast<std::size_t>(rank)].push_back({rank, action, own.start, end});
      ready(action) = end + (schedule.sends(action.work, action.stage) ? transfer(action) : 0);
      own.is_busy = false;
      ++own.next;
      --unfinished;
    }
    now = until;
  }
  timeline.is_complete = unfinished == 0;
  return timeline;
}

/// Costs of stages while all ranks compute, and the part of these times that each stage takes while no other rank does.
struct HinderedCosts {
  List<StageCost> stages{};
  List<double> alone_share{}; ///< 1: the rank is not hindered
};

/// `pipeline::predict` for ranks that hinder each other.
[[nodiscard]] constexpr Prediction predict_hindered(const Schedule& schedule, const HinderedCosts& costs,
                                                    const Cluster& cluster = {}) {
  const auto alone = [&](const Action& action) { return costs.alone_share[static_cast<std::size_t>(action.stage)]; };
  return predict(schedule, costs.stages, cluster, [&](const auto& cost, const auto& transfer) {
    return simulate_hindered(schedule, cost, alone, transfer);
  });
}

/// A step of so many micro-batches on the ranks that the stages fill.
template <ScheduleKind S>
[[nodiscard]] Prediction simulate_hindered(const HinderedCosts& costs, int micro_batches, const Cluster& cluster = {}) {
  const int ranks = static_cast<int>(costs.stages.size()) / S::stages_per_rank;
  return predict_hindered(schedule<S>(ranks, micro_batches), costs, cluster);
}

} // namespace bench
