#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Timelines of a pipeline's ranks, measured or simulated: actions computed by a rank, one after another, and the
// messages between ranks, which run in parallel with them. A message is an event on either side, from the moment at
// which that side was ready for it to its end; both together give its time in flight. All ranks count from one origin.
// profile/gantt.hpp draws it. Read next: parallel/pipeline/schedule/simulate.hpp.

#include <twill/core/list.hpp>
#include <twill/parallel/pipeline/schedule/action.hpp>

#include <cstddef>
#include <cstdint>

namespace twill { inline namespace v0 { namespace parallel { namespace pipeline {

/// The time of an action, in seconds of a run or in units of a simulation.
struct TimedAction {
  int rank = 0;           ///< that ran it
  Action action;          ///< the one that ran
  double start = 0;       ///< since the step began
  double end = 0;         ///< since the step began
  std::int64_t bytes = 0; ///< of a message
};

/// The part of one rank.
struct RankTimeline {
  List<TimedAction> computed; ///< in order
  List<TimedAction> messages; ///< sends and receives, in the order of their ends as seen by the rank

  constexpr RankTimeline() = default;
};

/// All actions of a step, and the messages between ranks.
struct Timeline {
  List<List<TimedAction>> ranks;    ///< the computation of each rank, in order
  List<List<TimedAction>> messages; ///< the messages sent and received by each rank; empty: unknown
  bool is_complete = false;         ///< false: some action waits forever

  constexpr Timeline() = default;

  /// From the first start to the last end of all.
  [[nodiscard]] constexpr double makespan() const {
    double last = 0;
    for (const List<TimedAction>& events : ranks)
      if (!events.empty() && events.back().end > last) last = events.back().end;
    return last;
  }
  /// The idle time of a rank between its first and its last action.
  [[nodiscard]] constexpr double idle(int rank) const {
    const List<TimedAction>& events = ranks[static_cast<std::size_t>(rank)];
    if (events.empty()) return 0;
    double busy = 0;
    for (const TimedAction& event : events) busy += event.end - event.start;
    return events.back().end - events.front().start - busy;
  }
  /// The bubble: the idle time of the most idle rank.
  [[nodiscard]] constexpr double bubble() const {
    double most = 0;
    for (std::size_t rank = 0; rank < ranks.size(); ++rank)
      if (const double own = idle(static_cast<int>(rank)); own > most) most = own;
    return most;
  }
};

/// A message between two ranks, as seen by both sides.
struct TimedMessage {
  int from = 0;           ///< the rank that sent
  int to = 0;             ///< the rank that received
  Action send;            ///< the action that sent it
  double sent = 0;        ///< when the sender was ready
  double wanted = 0;      ///< when the receiver was ready
  double delivered = 0;   ///< when the receiver had it
  std::int64_t bytes = 0; ///< of all tensors in it

  /// The time at which both were ready.
  [[nodiscard]] constexpr double start() const { return sent > wanted ? sent : wanted; }
};

/// The messages of a timeline, in the order of the receivers' events; those with one side unknown are omitted.
[[nodiscard]] constexpr List<TimedMessage> messages_of(const Timeline& timeline) {
  int stages = 0;
  int micro_batches = 0;
  for (const List<TimedAction>& events : timeline.messages)
    for (const TimedAction& event : events) {
      if (event.action.stage >= stages) stages = event.action.stage + 1;
      if (event.action.micro_batch >= micro_batches) micro_batches = event.action.micro_batch + 1;
    }
  const auto place = [&](const Action& action) {
    const int direction = action.work == Work::send_forward ? 0 : 1;
    return static_cast<std::size_t>((direction * stages + action.stage) * micro_batches + action.micro_batch);
  };
  List<const TimedAction*> sends(static_cast<std::size_t>(2 * stages * micro_batches), nullptr);
  for (const List<TimedAction>& events : timeline.messages)
    for (const TimedAction& event : events)
      if (is_sent(event.action.work)) sends[place(event.action)] = &event;
  List<TimedMessage> messages;
  for (const List<TimedAction>& events : timeline.messages)
    for (const TimedAction& event : events) {
      const Action send = counterpart(event.action);
      if (!is_sent(send.work) || send.stage < 0 || send.stage >= stages) continue;
      if (const TimedAction* const sent = sends[place(send)]; sent != nullptr)
        messages.push_back({sent->rank, event.rank, send, sent->start, event.start, event.end, event.bytes});
    }
  return messages;
}

}}}} // namespace twill::v0::parallel::pipeline
