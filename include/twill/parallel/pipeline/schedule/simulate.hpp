#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Simulation of a pipeline schedule in time: each rank computes its actions in order, one after another, and an action
// starts when its rank is free and its inputs have arrived. Transfers take time but not a rank's time; they overlap the
// computation. The events give makespan, idle time, and the number of activations kept by each rank. Times are in the
// unit of the costs; with whole numbers they are exact. Runs in the compiler and at run time alike. Read next:
// parallel/pipeline/schedule/verify.hpp, parallel/pipeline/schedule/predict.hpp.

#include <twill/core/list.hpp>
#include <twill/parallel/pipeline/schedule/action.hpp>
#include <twill/parallel/pipeline/schedule/schedule.hpp>
#include <twill/parallel/pipeline/schedule/timeline.hpp>

#include <cstddef>
#include <utility>

namespace twill { inline namespace v0 { namespace parallel { namespace pipeline {

/// The time of each kind of work of a stage; a backward pass takes that of both gradients.
struct UniformCost {
  double forward = 1;         ///< time units
  double input_gradient = 1;  ///< time units
  double weight_gradient = 1; ///< time units

  /// Time units of an action; sends and receives take none.
  [[nodiscard]] constexpr double operator()(const Action& action) const {
    switch (action.work) {
    case Work::forward:
      return forward;
    case Work::backward:
      return input_gradient + weight_gradient;
    case Work::input_gradient:
      return input_gradient;
    case Work::weight_gradient:
      return weight_gradient;
    default:
      return 0;
    }
  }
};

/// Transfers that take the same time everywhere.
struct UniformTransfer {
  double time = 0; ///< time units

  /// Time units of any message.
  [[nodiscard]] constexpr double operator()(const Action&) const { return time; }
};

namespace detail {

/// A value for each kind of work on each stage and micro-batch.
template <class T> class PerAction {
public:
  constexpr PerAction(const Schedule& schedule, T value)
      : stages_{schedule.stages},
        micro_batches_{schedule.micro_batches},
        values_(static_cast<std::size_t>(kinds_of_work * schedule.stages * schedule.micro_batches), value) {}
  [[nodiscard]] constexpr T& operator()(Work work, int stage, int micro_batch) {
    return values_[static_cast<std::size_t>((static_cast<int>(work) * stages_ + stage) * micro_batches_ + micro_batch)];
  }
  [[nodiscard]] constexpr T& operator()(const Action& action) {
    return (*this)(action.work, action.stage, action.micro_batch);
  }

private:
  int stages_;
  int micro_batches_;
  List<T> values_;
};

/// The time at which all inputs of an action are there: -1 for never, or not yet.
[[nodiscard]] constexpr double inputs_ready(const Schedule& schedule, PerAction<double>& ready, const Action& action) {
  constexpr double never = -1;
  const auto of_gradient = [&](int stage) {
    const double whole = ready(Work::backward, stage, action.micro_batch);
    return whole != never ? whole : ready(Work::input_gradient, stage, action.micro_batch);
  };
  if (action.work == Work::forward)
    return action.stage == 0 ? 0 : ready(Work::forward, action.stage - 1, action.micro_batch);
  if (action.work == Work::weight_gradient) return of_gradient(action.stage);
  if (ready(Work::forward, action.stage, action.micro_batch) == never) return never;
  return action.stage + 1 == schedule.stages ? 0 : of_gradient(action.stage + 1);
}

} // namespace detail

/// The start and end of each action of a schedule. `cost(action)` is the time of a rank's computation,
/// `transfer(action)` that of sending its result to another rank.    requires: every action is inside the schedule
template <class Cost, class Transfer = UniformTransfer>
[[nodiscard]] constexpr Timeline simulate(const Schedule& schedule, const Cost& cost, const Transfer& transfer = {}) {
  constexpr double never = -1;
  Timeline timeline;
  timeline.ranks.resize(static_cast<std::size_t>(schedule.ranks));
  List<std::size_t> next(static_cast<std::size_t>(schedule.ranks), 0);
  detail::PerAction<double> ready{schedule, never}; // when its result is there for its readers

  std::size_t left = 0;
  for (const List<Action>& order : schedule.orders) left += order.size();
  for (bool moved = true; moved && left > 0;) {
    moved = false;
    for (int rank = 0; rank < schedule.ranks; ++rank) {
      const List<Action>& order = schedule.order(rank);
      List<TimedAction>& events = timeline.ranks[static_cast<std::size_t>(rank)];
      for (std::size_t& at = next[static_cast<std::size_t>(rank)]; at < order.size(); ++at, --left, moved = true) {
        const Action& action = order[at];
        if (!is_computed(action.work)) continue;
        const double arrived = detail::inputs_ready(schedule, ready, action);
        if (arrived == never) break;
        const double free = events.empty() ? 0 : events.back().end;
        const double start = arrived > free ? arrived : free;
        const double end = start + cost(action);
        events.push_back({rank, action, start, end});
        ready(action) = end + (schedule.sends(action.work, action.stage) ? transfer(action) : 0);
      }
    }
  }
  timeline.is_complete = left == 0;
  return timeline;
}

/// Adds to a simulated timeline the messages between ranks: `transfer` as above, `bytes(action)` of the action's
/// result.
template <class Transfer, class Bytes>
constexpr void add_messages(Timeline& timeline, const Schedule& schedule, const Transfer& transfer,
                            const Bytes& bytes) {
  timeline.messages.clear();
  timeline.messages.resize(timeline.ranks.size());
  for (const List<TimedAction>& events : timeline.ranks)
    for (const TimedAction& event : events) {
      const Action& made = event.action;
      if (!schedule.sends(made.work, made.stage)) continue;
      const Work work = made.work == Work::forward ? Work::send_forward : Work::send_backward;
      const Action send{work, made.stage, made.micro_batch};
      const Action receive = counterpart(send);
      const int to = schedule.rank(receive.stage);
      const double end = event.end + transfer(made);
      timeline.messages[static_cast<std::size_t>(event.rank)].push_back(
          {event.rank, send, event.end, end, bytes(made)});
      timeline.messages[static_cast<std::size_t>(to)].push_back({to, receive, event.end, end, bytes(made)});
    }
}

/// The largest number of activations kept by each rank at a time: a forward pass adds one, the end of its last gradient
/// removes it.    requires: backward passes come after their forward passes
[[nodiscard]] constexpr List<int> peak_activations(const Schedule& schedule) {
  List<int> peaks;
  for (const List<Action>& order : schedule.orders) {
    int kept = 0;
    int peak = 0;
    for (const Action& action : order) {
      if (action.work == Work::forward) ++kept;
      if (kept > peak) peak = kept;
      if (action.work == Work::backward || action.work == Work::weight_gradient) --kept;
    }
    peaks.push_back(peak);
  }
  return peaks;
}

/// The schedule with sends and receives. Actions are taken in the order in which they end when each kind of work takes
/// one tick; after each whose result goes elsewhere, the send is put at the end of its own rank's list and the receive
/// at the end of the other's. Every list then follows one order of all events, in which both ends of a message are one
/// event: ranks cannot wait for each other in a cycle, buffered or not. The messages of each channel have one order on
/// both sides.
/// requires: the schedule computes each action once and can be carried out
[[nodiscard]] constexpr Schedule with_transfers(const Schedule& schedule) {
  const Timeline timeline = simulate(schedule, UniformCost{}, UniformTransfer{});
  Schedule result = schedule;
  for (List<Action>& order : result.orders) order.clear();
  List<std::size_t> next(static_cast<std::size_t>(schedule.ranks), 0);
  while (true) {
    const TimedAction* first = nullptr;
    for (std::size_t rank = 0; rank < timeline.ranks.size(); ++rank) {
      const List<TimedAction>& events = timeline.ranks[rank];
      if (next[rank] < events.size() && (first == nullptr || events[next[rank]].end < first->end))
        first = &events[next[rank]];
    }
    if (first == nullptr) return result;
    const Action action = first->action;
    ++next[static_cast<std::size_t>(first->rank)];
    result.order(first->rank).push_back(action);
    if (!schedule.sends(action.work, action.stage)) continue;
    const Action send{action.work == Work::forward ? Work::send_forward : Work::send_backward, action.stage,
                      action.micro_batch};
    const Action receive = counterpart(send);
    result.order(first->rank).push_back(send);
    result.order(schedule.rank(receive.stage)).push_back(receive);
  }
}

}}}} // namespace twill::v0::parallel::pipeline
