#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// How far a rank's clock is from that of rank 0: processes on several machines count seconds from different moments. Each rank
// asks rank 0 for the time; the answer was true somewhere between question and answer, so half the way is wrong by half a
// round trip at most, and the fastest of several round trips is taken (Cristian, Probabilistic clock synchronization, 1989).

#include <twill/core/clock.hpp>
#include <twill/core/config.hpp>
#include <twill/parallel/group/communicator.hpp>
#include <twill/parallel/group/numbers.hpp>

namespace twill::inline v0::parallel::inline TWILL_ISA {

/// How this rank's clock relates to rank 0's, and how sure that is, in seconds.
struct ClockOffset {
  double offset_s = 0; ///< added to this rank's time it gives that of rank 0
  double error_s = 0;  ///< it is wrong by no more
};

/// A collective call. `clock()` gives this rank's seconds.    cost: `round_trips` for each rank, one rank after the other
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

/// The same for the steady clock, which all threads and processes of a machine share: where the clocks may be one, they are.
template <Communicator C> [[nodiscard]] ClockOffset clock_offset(C& communicator) {
  ClockOffset found = clock_offset(communicator, [] { return steady_seconds(); });
  if (found.offset_s >= -found.error_s && found.offset_s <= found.error_s) found.offset_s = 0;
  return found;
}

} // namespace twill::inline v0::parallel::inline TWILL_ISA
