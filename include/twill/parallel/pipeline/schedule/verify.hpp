#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Verification of a schedule: every stage and micro-batch is computed once, on one rank, in an order that respects all
// dependencies; every message is sent and received; and ranks do not wait for each other in a cycle, neither with
// buffered sends, which return immediately, nor with rendezvous sends, which return when they are received. Errors are
// named by rank and action. `verified<S, Ranks, MicroBatches>` is a proof by the compiler, `schedule<S>(ranks,
// micro_batches)` the same for numbers known only at run time.

#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/core/list.hpp>
#include <twill/core/refused.hpp>
#include <twill/parallel/pipeline/schedule/action.hpp>
#include <twill/parallel/pipeline/schedule/schedule.hpp>
#include <twill/parallel/pipeline/schedule/simulate.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace twill { inline namespace v0 { namespace parallel { namespace pipeline {

/// Faults of a schedule.
enum class ScheduleFault : std::uint8_t {
  none,
  too_few_micro_batches,
  micro_batches_are_not_a_multiple,
  action_is_outside_the_schedule,
  stage_is_on_two_ranks,
  action_runs_twice,
  action_never_runs,
  gradient_is_both_whole_and_split,
  backward_before_its_forward,
  weight_gradient_before_its_input_gradient,
  input_is_not_there,
  sent_before_it_is_computed,
  message_is_not_received,
  message_is_not_sent,
  messages_overtake_each_other,
  deadlock,
  deadlock_with_rendezvous_sends,
};

/// A fault in words, for messages.
[[nodiscard]] constexpr std::string_view sentence(ScheduleFault fault) {
  constexpr std::string_view all[] = {"is sound",
                                      "needs more micro-batches",
                                      "needs a number of micro-batches that its number of ranks divides",
                                      "is outside the schedule",
                                      "belongs to a stage that another rank holds",
                                      "runs twice",
                                      "never runs",
                                      "is a gradient that is computed whole and in parts",
                                      "stands before its forward pass",
                                      "stands before its input gradient",
                                      "stands before its input is there",
                                      "stands before what it sends is computed",
                                      "is sent and never received",
                                      "is received and never sent",
                                      "is not the next message between the two ranks",
                                      "waits for ever",
                                      "waits for ever when sends wait for their receives"};
  return all[static_cast<int>(fault)];
}

/// The result of a proof: the first fault, or none.
struct Verdict {
  ScheduleFault fault = ScheduleFault::none; ///< the first one found
  int rank = -1;                             ///< where it was found; -1 if it is not on one rank
  Action action;                             ///< at which it was found

  /// True if there is no fault.
  [[nodiscard]] constexpr explicit operator bool() const { return fault == ScheduleFault::none; }
};

/// The fault, the rank and the action in one sentence.
[[nodiscard]] std::string to_string(const Verdict& verdict);

namespace detail {

/// The first fault in each rank's own order, including transfers if the schedule has any.
[[nodiscard]] constexpr Verdict verify_orders(const Schedule& schedule, bool has_transfers) {
  PerAction<char> done{schedule, 0};
  for (int rank = 0; rank < schedule.ranks; ++rank)
    for (const Action& action : schedule.order(rank)) {
      const auto wrong = [&](ScheduleFault fault) { return Verdict{fault, rank, action}; };
      if (!schedule.is_inside(action)) return wrong(ScheduleFault::action_is_outside_the_schedule);
      if (schedule.rank(action.stage) != rank) return wrong(ScheduleFault::stage_is_on_two_ranks);
      const auto has = [&](Work work, int stage) { return done(work, stage, action.micro_batch) != 0; };
      if (has(action.work, action.stage)) return wrong(ScheduleFault::action_runs_twice);
      done(action) = 1;
      const int s = action.stage;
      // If another rank's: whether it was received here.    If this one's: whether it was computed before.
      const auto is_there = [&](int stage, Work received, Work computed, Work or_computed) {
        if (stage < 0 || stage >= schedule.stages) return true;
        if (schedule.rank(stage) != rank) return !has_transfers || has(received, s);
        return has(computed, stage) || has(or_computed, stage);
      };
      switch (action.work) {
      case Work::forward:
        if (!is_there(s - 1, Work::receive_forward, Work::forward, Work::forward))
          return wrong(ScheduleFault::input_is_not_there);
        break;
      case Work::backward:
      case Work::input_gradient:
        if (has(action.work == Work::backward ? Work::input_gradient : Work::backward, s))
          return wrong(ScheduleFault::gradient_is_both_whole_and_split);
        if (!has(Work::forward, s)) return wrong(ScheduleFault::backward_before_its_forward);
        if (!is_there(s + 1, Work::receive_backward, Work::backward, Work::input_gradient))
          return wrong(ScheduleFault::input_is_not_there);
        break;
      case Work::weight_gradient:
        if (has(Work::backward, s)) return wrong(ScheduleFault::gradient_is_both_whole_and_split);
        if (!has(Work::input_gradient, s)) return wrong(ScheduleFault::weight_gradient_before_its_input_gradient);
        break;
      case Work::send_forward:
        if (!has(Work::forward, s)) return wrong(ScheduleFault::sent_before_it_is_computed);
        break;
      case Work::send_backward:
        if (!has(Work::backward, s) && !has(Work::input_gradient, s))
          return wrong(ScheduleFault::sent_before_it_is_computed);
        break;
      default:
        break;
      }
    }
  for (int stage = 0; stage < schedule.stages; ++stage)
    for (int i = 0; i < schedule.micro_batches; ++i) {
      const auto missing = [&](Work work) {
        return Verdict{ScheduleFault::action_never_runs, schedule.rank(stage), {work, stage, i}};
      };
      if (done(Work::forward, stage, i) == 0) return missing(Work::forward);
      if (done(Work::backward, stage, i) == 0 && done(Work::input_gradient, stage, i) == 0)
        return missing(Work::backward);
      if (done(Work::backward, stage, i) == 0 && done(Work::weight_gradient, stage, i) == 0)
        return missing(Work::weight_gradient);
    }
  return {};
}

/// Whether both ends of each message exist, and whether the messages between two ranks come in the order they are sent.
[[nodiscard]] constexpr Verdict verify_messages(const Schedule& schedule) {
  const auto ranks = static_cast<std::size_t>(schedule.ranks);
  PerAction<char> present{schedule, 0};
  List<List<Action>> received(ranks * ranks, List<Action>{});
  for (int rank = 0; rank < schedule.ranks; ++rank)
    for (const Action& action : schedule.order(rank)) {
      if (is_computed(action.work)) continue;
      present(action) = 1;
      const Action other = counterpart(action);
      if (!schedule.is_inside(other)) return {ScheduleFault::action_is_outside_the_schedule, rank, action};
      if (!is_sent(action.work))
        received[static_cast<std::size_t>(schedule.rank(other.stage)) * ranks + static_cast<std::size_t>(rank)]
            .push_back(action);
    }
  List<std::size_t> next(ranks * ranks, 0);
  for (int rank = 0; rank < schedule.ranks; ++rank)
    for (const Action& action : schedule.order(rank)) {
      if (is_computed(action.work)) continue;
      const Action other = counterpart(action);
      if (present(other) == 0)
        return {is_sent(action.work) ? ScheduleFault::message_is_not_received : ScheduleFault::message_is_not_sent,
                rank, action};
      if (!is_sent(action.work)) continue;
      const std::size_t channel =
          static_cast<std::size_t>(rank) * ranks + static_cast<std::size_t>(schedule.rank(other.stage));
      if (!(received[channel][next[channel]++] == other))
        return {ScheduleFault::messages_overtake_each_other, rank, action};
    }
  return {};
}

/// Lets all ranks run as far as possible. A send ends immediately, or, if sends wait, together with its receive.
[[nodiscard]] constexpr Verdict verify_progress(const Schedule& schedule, bool sends_wait) {
  List<std::size_t> at(static_cast<std::size_t>(schedule.ranks), 0);
  PerAction<char> sent{schedule, 0};
  const auto current = [&](int rank) -> const Action* {
    const List<Action>& order = schedule.order(rank);
    const std::size_t i = at[static_cast<std::size_t>(rank)];
    return i < order.size() ? &order[i] : nullptr;
  };
  for (bool moved = true; moved;) {
    moved = false;
    for (int rank = 0; rank < schedule.ranks; ++rank)
      while (const Action* const action = current(rank)) {
        std::size_t& own = at[static_cast<std::size_t>(rank)];
        if (!is_computed(action->work)) {
          const Action other = counterpart(*action);
          if (sends_wait) {
            const int peer = schedule.rank(other.stage);
            const Action* const waiting = current(peer);
            if (waiting == nullptr || !(*waiting == other)) break;
            ++at[static_cast<std::size_t>(peer)];
          } else if (is_sent(action->work)) {
            sent(*action) = 1;
          } else if (sent(other) == 0) {
            break;
          }
        }
        ++own;
        moved = true;
      }
  }
  for (int rank = 0; rank < schedule.ranks; ++rank)
    if (const Action* const action = current(rank))
      return {sends_wait ? ScheduleFault::deadlock_with_rendezvous_sends : ScheduleFault::deadlock, rank, *action};
  return {};
}

/// Whether the computation alone can be carried out.
[[nodiscard]] constexpr Verdict verify_dependencies(const Schedule& schedule) {
  const Timeline timeline = simulate(schedule, UniformCost{});
  if (timeline.is_complete) return {};
  for (int rank = 0; rank < schedule.ranks; ++rank) {
    std::size_t computed = 0;
    for (const Action& action : schedule.order(rank))
      if (is_computed(action.work) && computed++ == timeline.ranks[static_cast<std::size_t>(rank)].size())
        return {ScheduleFault::deadlock, rank, action};
  }
  return {};
}

} // namespace detail

/// Proves a schedule that has its sends and receives.
[[nodiscard]] constexpr Verdict verify(const Schedule& schedule) {
  if (const Verdict verdict = detail::verify_orders(schedule, true); !verdict) return verdict;
  if (const Verdict verdict = detail::verify_messages(schedule); !verdict) return verdict;
  if (const Verdict verdict = detail::verify_progress(schedule, false); !verdict) return verdict;
  return detail::verify_progress(schedule, true);
}

/// Proves the computation of a schedule, without sends and receives.
[[nodiscard]] constexpr Verdict verify_computation(const Schedule& schedule) {
  if (const Verdict verdict = detail::verify_orders(schedule, false); !verdict) return verdict;
  return detail::verify_dependencies(schedule);
}

/// Proves a kind of schedule for this number of ranks and micro-batches, including the messages between ranks.
template <ScheduleKind S> [[nodiscard]] constexpr Verdict verify(int ranks, int micro_batches) {
  if (micro_batches < least_micro_batches<S>(ranks)) return {ScheduleFault::too_few_micro_batches, -1, {}};
  if (micro_batches % multiple_of<S>(ranks) != 0) return {ScheduleFault::micro_batches_are_not_a_multiple, -1, {}};
  const Schedule computed = table<S>(ranks, micro_batches);
  if (const Verdict verdict = verify_computation(computed); !verdict) return verdict;
  return verify(with_transfers(computed));
}

/// The schedule with its sends and receives, proved.
/// throws: ValueError that names the schedule, the numbers, and the rank and action at fault
template <ScheduleKind S> [[nodiscard]] Schedule schedule(int ranks, int micro_batches) {
  if (const Verdict verdict = verify<S>(ranks, micro_batches); !verdict) {
    std::string text = "pipeline::schedule: " + std::string{S::name} + " with " + std::to_string(ranks) +
                       " ranks and " + std::to_string(micro_batches) + " micro-batches: " + to_string(verdict);
    if (verdict.fault == ScheduleFault::too_few_micro_batches)
      text += ", at least " + std::to_string(least_micro_batches<S>(ranks));
    throw ValueError(text);
  }
  return with_transfers(table<S>(ranks, micro_batches));
}

/// Declared and never defined: the compiler prints its arguments, which name the fault and its place.
template <ScheduleFault What, class ScheduleKind, class... Values> struct schedule_is_refused;

namespace with {
template <int Value> struct ranks;
template <int Value> struct micro_batches;
template <int Value> struct needed;
template <int Value> struct rank;
template <Work Value> struct action;
template <int Value> struct stage;
template <int Value> struct micro_batch;
} // namespace with

/// The compiler's proof; a program with a schedule that cannot be carried out does not compile.
template <ScheduleKind S, int Ranks, int MicroBatches> struct Proof {
  static constexpr Verdict verdict = verify<S>(Ranks, MicroBatches); ///< the result of `verify`
  /// Whether it found nothing; else the program does not compile, and the message says why.
  static constexpr bool value = [] {
    if constexpr (verdict.fault == ScheduleFault::too_few_micro_batches)
      static_cast<void>(
          sizeof(Mistake<schedule_is_refused<verdict.fault, S, with::ranks<Ranks>, with::micro_batches<MicroBatches>,
                                             with::needed<least_micro_batches<S>(Ranks)>>>));
    else if constexpr (verdict.fault == ScheduleFault::micro_batches_are_not_a_multiple)
      static_cast<void>(sizeof(
          Mistake<schedule_is_refused<verdict.fault, S, with::ranks<Ranks>, with::micro_batches<MicroBatches>>>));
    else if constexpr (verdict.fault != ScheduleFault::none)
      static_cast<void>(sizeof(
          Mistake<
              schedule_is_refused<verdict.fault, S, with::rank<verdict.rank>, with::action<verdict.action.work>,
                                  with::stage<verdict.action.stage>, with::micro_batch<verdict.action.micro_batch>>>));
    return true;
  }();
};
/// Proved by the compiler: true, or an error that names the fault of the schedule.
template <ScheduleKind S, int Ranks, int MicroBatches>
inline constexpr bool verified = Proof<S, Ranks, MicroBatches>::value;

}}}} // namespace twill::v0::parallel::pipeline

#if TWILL_HEADER_ONLY
#include <twill/parallel/pipeline/schedule/verify.ipp>
#endif
