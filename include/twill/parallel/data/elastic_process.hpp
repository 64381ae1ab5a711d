#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Elastic training on ranks that are processes, of MPI for example. A process that dies cannot be replaced inside of
// the group, so the launcher starts all ranks again, as many as before or fewer. The ranks left end in an error that
// names the one at fault, or by the launcher's SIGTERM, and save the newest commit on their way out, from which the
// next start goes on: a death costs the steps since that commit. Not in twill.hpp. Read next:
// parallel/messages/mpi.hpp.

#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/core/text.hpp>
#include <twill/parallel/data/elastic_state.hpp>
#include <twill/parallel/group/communicator.hpp>
#include <twill/parallel/group/on_termination.hpp>

#include <exception>

namespace twill { inline namespace v0 { namespace parallel { inline namespace TWILL_ISA {

/// Calls `body(world)` once, with `world` the group of all ranks and `state` this process's, begun from a folder that
/// all ranks see. `body` is that of `run_elastic(devices, ...)`: it makes network and step, restores the state, trains
/// on from there, and commits. When it throws, or SIGTERM comes, the newest commit is saved; so it is at the end, by
/// rank 0. After SIGTERM a process stays for a minute, or until it is killed, while others may still save. An exception
/// is rethrown, after the other ranks were told: main has to end with another status than 0, so that the launcher
/// starts again.
/// throws: what `body` throws; on the other ranks a CommunicatorError naming the rank at fault, at once if it threw,
/// or a TimeoutError after the time-out of `world` if it does not come; ValueError if another `OnTermination` is there
template <Communicator C, class F> void run_elastic(C& world, ElasticState& state, F body) {
  state.set_process_rank(world.rank());
  constexpr int stay_ms = 60'000; // Open MPI takes a second off the others' time for each process that ends
  const OnTermination saving{[&] { state.save(); }, stay_ms};
  try {
    body(world);
    if (world.rank() == 0) state.save();
  } catch (...) {
    const std::exception_ptr cause = std::current_exception();
    world.fail(cause);
    try {
      state.save();
    } catch (const std::exception& error) { // the cause says more
      warn(join_text({"run_elastic: the newest commit is not saved: ", error.what()}));
    }
    std::rethrow_exception(cause);
  }
}

}}}} // namespace twill::v0::parallel::TWILL_ISA
