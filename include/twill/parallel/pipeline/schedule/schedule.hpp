#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Pipeline schedules as tables: for each rank the actions it carries out, in order. Kinds of schedules are types that
// write the table for any number of ranks and micro-batches; those of the literature are in
// parallel/pipeline/schedule/schedules.hpp, and others are structs with the same members. `table<S>(ranks,
// micro_batches)` has only the computation, `with_transfers` adds the messages between ranks, and
// parallel/pipeline/schedule/verify.hpp proves either.

#include <twill/core/error.hpp>
#include <twill/core/list.hpp>
#include <twill/parallel/pipeline/schedule/action.hpp>

#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>

namespace twill { inline namespace v0 { namespace parallel { namespace pipeline {

/// The actions of each rank in order, for one step.
struct Schedule {
  int ranks = 0;             ///< their number
  int stages = 0;            ///< their number; each is on one rank
  int micro_batches = 0;     ///< their number
  List<int> rank_of;         ///< for each stage
  List<List<Action>> orders; ///< for each rank

  constexpr Schedule() = default;

  /// The rank of a stage.
  [[nodiscard]] constexpr int rank(int stage) const { return rank_of[static_cast<std::size_t>(stage)]; }
  /// The actions of a rank, in order.
  [[nodiscard]] constexpr List<Action>& order(int rank) { return orders[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] constexpr const List<Action>& order(int rank) const { return orders[static_cast<std::size_t>(rank)]; }
  /// Whether its stage and micro-batch are among those of the schedule.
  [[nodiscard]] constexpr bool is_inside(const Action& action) const {
    return action.stage >= 0 && action.stage < stages && action.micro_batch >= 0 && action.micro_batch < micro_batches;
  }
  /// Whether this stage's result goes to another rank.
  [[nodiscard]] constexpr bool sends(Work work, int stage) const {
    const int next = work == Work::forward ? stage + 1 : stage - 1;
    return work != Work::weight_gradient && next >= 0 && next < stages && rank(next) != rank(stage);
  }
};

/// A kind of schedule. `order` returns the computation of a rank; `rank_of` the rank of a stage. A least number of
/// micro-batches or a multiple is set by `least_micro_batches(ranks)` and `multiple_of(ranks)`.
template <class S>
concept ScheduleKind = requires {
  { S::name } -> std::convertible_to<std::string_view>;
  { S::stages_per_rank } -> std::convertible_to<int>;
  { S::rank_of(0, 1) } -> std::same_as<int>;
  { S::order(0, 1, 1) } -> std::same_as<List<Action>>;
};

/// The fewest micro-batches of a schedule of this number of ranks.
template <ScheduleKind S> [[nodiscard]] constexpr int least_micro_batches(int ranks) {
  if constexpr (requires { S::least_micro_batches(ranks); })
    return S::least_micro_batches(ranks);
  else
    return 1;
}
/// The divisor of the number of micro-batches.
template <ScheduleKind S> [[nodiscard]] constexpr int multiple_of(int ranks) {
  if constexpr (requires { S::multiple_of(ranks); })
    return S::multiple_of(ranks);
  else
    return 1;
}

/// The computation of a schedule. throws: ValueError, fewer than one rank or micro-batch
template <ScheduleKind S> [[nodiscard]] constexpr Schedule table(int ranks, int micro_batches) {
  if (ranks < 1 || micro_batches < 1)
    throw ValueError("pipeline::table: a schedule of " + std::string{S::name} +
                     " has at least one rank and one micro-batch, got " + std::to_string(ranks) + " and " +
                     std::to_string(micro_batches));
  Schedule schedule;
  schedule.ranks = ranks;
  schedule.stages = ranks * S::stages_per_rank;
  schedule.micro_batches = micro_batches;
  for (int stage = 0; stage < schedule.stages; ++stage) schedule.rank_of.push_back(S::rank_of(stage, ranks));
  for (int rank = 0; rank < ranks; ++rank) schedule.orders.push_back(S::order(rank, ranks, micro_batches));
  return schedule;
}

/// A schedule from the orders of all ranks in the notation of actions; a rank's stages are those that it names first.
[[nodiscard]] constexpr Schedule read_schedule(std::initializer_list<std::string_view> orders, int stages,
                                               int micro_batches) {
  Schedule schedule;
  schedule.ranks = static_cast<int>(orders.size());
  schedule.stages = stages;
  schedule.micro_batches = micro_batches;
  schedule.rank_of.resize(static_cast<std::size_t>(stages), -1);
  int rank = 0;
  for (const std::string_view text : orders) {
    schedule.orders.push_back(actions(text));
    for (const Action& action : schedule.orders.back())
      if (action.stage < stages && schedule.rank(action.stage) < 0)
        schedule.rank_of[static_cast<std::size_t>(action.stage)] = rank;
    ++rank;
  }
  return schedule;
}

}}}} // namespace twill::v0::parallel::pipeline
