#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Predictions for a pipeline on a cluster that is not here: step time, bubble, and for each rank the peak of its memory
// and the bytes sent, from the times and bytes of the stages and the speed of the links. Replicas of a pipeline work
// identically in parallel, so one is simulated for any number of devices; their gradients are summed around a ring when
// a rank has computed its last one. Read next: parallel/pipeline/schedule/simulate.hpp.

#include <twill/core/error.hpp>
#include <twill/core/list.hpp>
#include <twill/parallel/pipeline/schedule/schedule.hpp>
#include <twill/parallel/pipeline/schedule/simulate.hpp>
#include <twill/parallel/pipeline/schedule/verify.hpp>

#include <cstddef>
#include <cstdint>
#include <string>

namespace twill { inline namespace v0 { namespace parallel { namespace pipeline {

/// One stage on one micro-batch, measured or counted.
struct StageCost {
  double forward_s = 0;            ///< of one micro-batch
  double input_gradient_s = 0;     ///< of one micro-batch
  double weight_gradient_s = 0;    ///< of one micro-batch
  std::int64_t kept_bytes = 0;     ///< activations from the forward pass to the last gradient
  std::int64_t between_bytes = -1; ///< and from the input gradient on, if different: the bytes for the last one
  std::int64_t output_bytes = 0;   ///< sent to the next stage, and its gradient back
  std::int64_t gradient_bytes = 0; ///< of the weights, for all micro-batches together
  std::int64_t fixed_bytes = 0;    ///< weights, gradients, optimiser state, working memory: always there
  std::int64_t shared_bytes =
      0;               ///< summed by the ranks of a tensor-parallel stage in a forward pass, and in a backward pass
  double update_s = 0; ///< of the weights, once a step
};

/// A connection between two ranks, as time = latency + bytes / bandwidth.
struct Link {
  double bytes_per_s = 0; ///< 0: infinite
  double latency_s = 0;   ///< of a message without content

  /// Seconds of a message of this number of bytes.
  [[nodiscard]] constexpr double time_s(double bytes) const {
    return latency_s + (bytes_per_s > 0 ? bytes / bytes_per_s : 0);
  }
};

/// Around a ring of n, each sends 2 (n-1)/n of the bytes in 2 (n-1) messages.
[[nodiscard]] constexpr double ring_all_reduce_s(double bytes, int ranks, const Link& link) {
  if (ranks < 2) return 0;
  return 2 * (ranks - 1) * link.time_s(bytes / ranks);
}

/// The connections and sizes that a prediction assumes.
struct Cluster {
  int replicas = 1;               ///< pipelines in parallel, each with its share of the batch
  Link between_stages = {};       ///< of neighbours in a pipeline
  Link between_replicas = {};     ///< of the same rank of two pipelines
  int tensor_ranks = 1;           ///< that share each stage, whose costs are those of one of them
  Link between_tensor_ranks = {}; ///< of one stage

  /// The devices of a pipeline with this number of ranks.
  [[nodiscard]] constexpr int devices(int ranks) const { return ranks * replicas * tensor_ranks; }
};

/// A predicted step: its time line, its seconds, and its bytes.
struct Prediction {
  Timeline timeline;             ///< of all ranks
  double step_s = 0;             ///< from the first action to the end of the update
  double bubble_s = 0;           ///< of the rank that idles longest
  double all_reduce_s = 0;       ///< of the rank whose gradients take longest
  List<std::int64_t> peak_bytes; ///< of activations, for each rank
  List<std::int64_t> sent_bytes; ///< by each rank in one step

  constexpr Prediction() = default;
};

/// The largest number of bytes of activations kept by each rank at a time.
[[nodiscard]] constexpr List<std::int64_t> peak_kept_bytes(const Schedule& schedule, const List<StageCost>& stages) {
  List<std::int64_t> peaks;
  for (const List<Action>& order : schedule.orders) {
    std::int64_t kept = 0;
    std::int64_t peak = 0;
    for (const Action& action : order) {
      const StageCost& own = stages[static_cast<std::size_t>(action.stage)];
      const std::int64_t between = own.between_bytes < 0 ? own.kept_bytes : own.between_bytes;
      if (action.work == Work::forward) kept += own.kept_bytes;
      if (action.work == Work::input_gradient) kept += between - own.kept_bytes;
      if (kept > peak) peak = kept;
      if (action.work == Work::backward) kept -= own.kept_bytes;
      if (action.work == Work::weight_gradient) kept -= between;
    }
    peaks.push_back(peak);
  }
  return peaks;
}

/// A step of a schedule with these stages on this cluster. Weights are updated when all gradients are there.
/// `timeline_of(cost, transfer)` returns the times of the actions, given the seconds of each and of its message.
/// requires: a cost for each stage, and a sound schedule
template <class TimelineOf>
[[nodiscard]] constexpr Prediction predict(const Schedule& schedule, const List<StageCost>& stages,
                                           const Cluster& cluster, const TimelineOf& timeline_of) {
  Prediction result;
  const auto stage = [&](const Action& action) -> const StageCost& {
    return stages[static_cast<std::size_t>(action.stage)];
  };
  // The gradient of a stage's input is as large as the output of the stage before.
  const auto bytes = [&](const Action& action) {
    const int from = action.work == Work::forward ? action.stage : action.stage - 1;
    return stages[static_cast<std::size_t>(from)].output_bytes;
  };
  const auto transfer = [&](const Action& action) {
    return cluster.between_stages.time_s(static_cast<double>(bytes(action)));
  };
  const auto cost = [&](const Action& action) {
    const StageCost& own = stage(action);
    const double shared = action.work == Work::weight_gradient
                              ? 0
                              : ring_all_reduce_s(static_cast<double>(own.shared_bytes), cluster.tensor_ranks,
                                                  cluster.between_tensor_ranks);
    return UniformCost{own.forward_s, own.input_gradient_s, own.weight_gradient_s}(action) + shared;
  };
  result.timeline = timeline_of(cost, transfer);
  add_messages(result.timeline, schedule, transfer, bytes);
  result.bubble_s = result.timeline.bubble();
  result.peak_bytes = peak_kept_bytes(schedule, stages);
  for (int rank = 0; rank < schedule.ranks; ++rank) {
    std::int64_t gradients = 0;
    std::int64_t sent = 0;
    double update = 0;
    for (int s = 0; s < schedule.stages; ++s) {
      if (schedule.rank(s) != rank) continue;
      const StageCost& own = stages[static_cast<std::size_t>(s)];
      gradients += own.gradient_bytes;
      update += own.update_s;
      if (const int t = cluster.tensor_ranks; t > 1) // around a ring, there and back
        sent += 2 * (2 * own.shared_bytes * (t - 1) / t) * schedule.micro_batches;
      result.peak_bytes[static_cast<std::size_t>(rank)] += own.fixed_bytes;
      if (schedule.sends(Work::forward, s)) sent += own.output_bytes * schedule.micro_batches;
      if (schedule.sends(Work::backward, s))
        sent += stages[static_cast<std::size_t>(s - 1)].output_bytes * schedule.micro_batches;
    }
    const int n = cluster.replicas;
    const double reduced = ring_all_reduce_s(static_cast<double>(gradients), n, cluster.between_replicas);
    if (n > 1) sent += 2 * gradients * (n - 1) / n;
    result.sent_bytes.push_back(sent);
    const List<TimedAction>& events = result.timeline.ranks[static_cast<std::size_t>(rank)];
    const double end = (events.empty() ? 0 : events.back().end) + reduced + update;
    if (end > result.step_s) result.step_s = end;
    if (reduced > result.all_reduce_s) result.all_reduce_s = reduced;
  }
  return result;
}

/// A step in which each rank computes as if it were alone.
[[nodiscard]] constexpr Prediction predict(const Schedule& schedule, const List<StageCost>& stages,
                                           const Cluster& cluster = {}) {
  return predict(schedule, stages, cluster,
                 [&](const auto& cost, const auto& transfer) { return simulate(schedule, cost, transfer); });
}

/// A step of a kind of schedule, which is proved first.
/// throws: ValueError if the schedule cannot be carried out, or the number of stages is not that of its ranks
template <ScheduleKind S>
[[nodiscard]] Prediction predict(int ranks, int micro_batches, const List<StageCost>& stages,
                                 const Cluster& cluster = {}) {
  if (stages.size() != static_cast<std::size_t>(ranks * S::stages_per_rank))
    throw ValueError("pipeline::predict: " + std::string{S::name} + " on " + std::to_string(ranks) + " ranks has " +
                     std::to_string(ranks * S::stages_per_rank) + " stages, costs are given for " +
                     std::to_string(stages.size()));
  return predict(schedule<S>(ranks, micro_batches), stages, cluster);
}

/// The costs of a step: its stages, on each of its micro-batches.
struct CostModel {
  List<StageCost> stages; ///< in order
  int micro_batches = 1;  ///< of a step

  constexpr CostModel() = default;
  /// These stages on a number of micro-batches.
  constexpr CostModel(List<StageCost> costs, int number_of_micro_batches)
      : stages{static_cast<List<StageCost>&&>(costs)}, micro_batches{number_of_micro_batches} {}
};

/// A step of a pipeline on a cluster that need not be here, with as many ranks as the stages fill:
/// `simulate<ZeroBubbleH1>({counted_costs<P>(shapes, machine), 32}, {.replicas = 64, .between_stages = link})`.
/// throws: ValueError if the schedule cannot be carried out, or the stages do not fill the ranks
template <ScheduleKind S> [[nodiscard]] Prediction simulate(const CostModel& costs, const Cluster& cluster = {}) {
  const int stages = static_cast<int>(costs.stages.size());
  if (stages == 0 || stages % S::stages_per_rank != 0)
    throw ValueError("pipeline::simulate: " + std::string{S::name} + " has " + std::to_string(S::stages_per_rank) +
                     " stages on each rank, costs are given for " + std::to_string(stages));
  return predict<S>(stages / S::stages_per_rank, costs.micro_batches, costs.stages, cluster);
}

}}}} // namespace twill::v0::parallel::pipeline
