#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Adds to a schedule what passes between its ranks. The actions of all ranks are taken in the order in which they end when
// each kind of work takes one tick; behind each whose result goes elsewhere, the send is put at the end of its own rank's
// list and the receive at the end of the other's, at once. Every list then follows one order of all events, in which both
// ends of a message are one event: no rank can wait for another in a circle, buffered or not. What each channel carries has
// one order on both sides.

#include <twill/core/list.hpp>
#include <twill/parallel/pipeline/schedule/action.hpp>
#include <twill/parallel/pipeline/schedule/schedule.hpp>
#include <twill/parallel/pipeline/schedule/simulate.hpp>

#include <cstddef>
#include <utility>

namespace twill::inline v0::pipeline {

/// The same schedule with sends and receives.    requires: the schedule computes each action once and can be carried out
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

} // namespace twill::inline v0::pipeline
