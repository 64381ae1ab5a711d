#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Common timeline of all ranks' own events. Clocks of processes on several machines count seconds from different
// moments, so each rank asks rank 0 for the time: the answer was true between question and answer, the midpoint is
// wrong by half a round trip at most, and the fastest of several round trips is used (Cristian, Probabilistic clock
// synchronization, 1989). None of this runs inside a step. Read next: parallel/pipeline/run/rank_step.hpp.

#include <twill/core/clock.hpp>
#include <twill/core/config.hpp>
#include <twill/parallel/group/communicator.hpp>
#include <twill/parallel/group/numbers.hpp>
#include <twill/parallel/pipeline/schedule/timeline.hpp>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace twill { inline namespace v0 { namespace parallel { inline namespace TWILL_ISA {

/// The difference of this rank's clock from rank 0's, and its uncertainty, in seconds.
struct ClockOffset {
  double offset_s = 0; ///< added to this rank's time it gives that of rank 0
  double error_s = 0;  ///< its greatest error
};

/// A collective call. `clock()` returns this rank's seconds.    cost: `round_trips` for each rank, one after another
template <Communicator C, class Clock>
[[nodiscard]] ClockOffset clock_offset(C& communicator, Clock clock, int round_trips = 16) {
  Numbers time(communicator, 1);
  ClockOffset found{};
  for (int asking = 1; asking < communicator.size(); ++asking)
    for (int round = 0; round < round_trips; ++round) {
      if (communicator.rank() == 0) {
        time.receive(asking);
        time.values()[0] = clock();
        time.send(asking);
      } else if (communicator.rank() == asking) {
        const double asked = clock();
        time.send(0);
        time.receive(0);
        const double answered = clock();
        const double error = 0.5 * (answered - asked);
        if (round == 0 || error < found.error_s) found = {time.values()[0] - 0.5 * (asked + answered), error};
      }
    }
  return found;
}

/// The offset of the steady clock, which all threads and processes of a machine share: zero if the clocks may be one.
template <Communicator C> [[nodiscard]] ClockOffset clock_offset(C& communicator) {
  ClockOffset found = clock_offset(communicator, [] { return steady_seconds(); });
  if (found.offset_s >= -found.error_s && found.offset_s <= found.error_s) found.offset_s = 0;
  return found;
}

}}}} // namespace twill::v0::parallel::TWILL_ISA

namespace twill { inline namespace v0 { namespace parallel { namespace pipeline { namespace detail {
inline namespace TWILL_ISA {

inline constexpr std::size_t numbers_of_event = 6;

void write_event(const TimedAction& event, double* to);
[[nodiscard]] TimedAction read_event(int rank, const double* from, double later);

}}}}}} // namespace twill::v0::parallel::pipeline::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace parallel { namespace pipeline { inline namespace TWILL_ISA {

/// A collective call: the events of all ranks, on every rank, in seconds from the earliest beginning. `own` are this
/// rank's in seconds since its `begin`; `clock` compares its clock, in which `begin` was read, with that of rank 0.
template <parallel::Communicator C>
[[nodiscard]] Timeline gather_timeline(C& communicator, const RankTimeline& own, double begin,
                                       const parallel::ClockOffset& clock) {
  const auto ranks = static_cast<std::size_t>(communicator.size());
  parallel::Numbers head(communicator, 3);
  head.values() = {begin + clock.offset_s, static_cast<double>(own.computed.size()),
                   static_cast<double>(own.messages.size())};
  const std::vector<double> heads = head.all();
  double origin = heads[0];
  std::size_t most = 1;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    origin = std::min(origin, heads[3 * rank]);
    most = std::max(most, static_cast<std::size_t>(heads[3 * rank + 1] + heads[3 * rank + 2]));
  }

  parallel::Numbers events(communicator, most * detail::numbers_of_event);
  double* next = events.values().data();
  for (const auto* list : {&own.computed, &own.messages})
    for (const TimedAction& event : *list) {
      detail::write_event(event, next);
      next += detail::numbers_of_event;
    }
  const std::vector<double> all = events.all();

  Timeline timeline;
  timeline.ranks.resize(ranks);
  timeline.messages.resize(ranks);
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const double* from = all.data() + rank * most * detail::numbers_of_event;
    const auto computed = static_cast<std::size_t>(heads[3 * rank + 1]);
    const auto messages = static_cast<std::size_t>(heads[3 * rank + 2]);
    for (std::size_t i = 0; i < computed + messages; ++i, from += detail::numbers_of_event)
      (i < computed ? timeline.ranks : timeline.messages)[rank].push_back(
          detail::read_event(static_cast<int>(rank), from, heads[3 * rank] - origin));
  }
  timeline.is_complete = true;
  return timeline;
}

}}}}} // namespace twill::v0::parallel::pipeline::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/parallel/pipeline/run/gather.ipp>
#endif
