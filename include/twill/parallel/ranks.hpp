#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Runs one function once for each rank of a group, all at the same time. The first exception poisons the group, so that no
// rank is left waiting, and is rethrown here as its own type. Read next: parallel/threads.hpp.

#include <twill/core/config.hpp>
#include <twill/parallel/communicator.hpp>

#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace twill::inline v0::parallel::inline TWILL_ISA {

/// Calls `f(communicator)` for each communicator of a group, each in a thread of its own, and waits for all of them.
/// throws: the exception of the rank that threw first; one that only tells of another rank's failure gives way to its cause
template <Communicator C, class F> void run_ranks(std::vector<C>& communicators, F f) {
  struct Thrown {
    std::exception_ptr exception;
    bool tells_of_another;
  };
  std::mutex mutex;
  std::vector<Thrown> thrown; // in order; kept until all threads have ended
  thrown.reserve(communicators.size());
  const auto failed = [&](C& communicator, bool tells_of_another) {
    {
      const std::lock_guard lock(mutex);
      thrown.push_back({std::current_exception(), tells_of_another});
    }
    communicator.fail(std::current_exception());
  };
  const auto play = [&](C& communicator) {
    try {
      f(communicator);
    } catch (const CommunicatorError&) {
      failed(communicator, true);
    } catch (...) {
      failed(communicator, false);
    }
  };
  std::vector<std::thread> threads;
  threads.reserve(communicators.size());
  try {
    for (std::size_t rank = 1; rank < communicators.size(); ++rank)
      threads.emplace_back([&, rank] { play(communicators[rank]); });
    if (!communicators.empty()) play(communicators[0]);
  } catch (...) { // the system gave no thread: those that run wait for ranks that will not come
    communicators[0].fail(std::current_exception());
    for (std::thread& thread : threads) thread.join();
    throw;
  }
  for (std::thread& thread : threads) thread.join();
  // A sub-group that unwinding ended may have told others before the rank at fault came here.
  for (const Thrown& each : thrown)
    if (!each.tells_of_another) std::rethrow_exception(each.exception);
  if (!thrown.empty()) std::rethrow_exception(thrown.front().exception);
}

} // namespace twill::inline v0::parallel::inline TWILL_ISA
