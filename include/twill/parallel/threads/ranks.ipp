#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of parallel/threads/ranks.hpp.

#include <twill/parallel/threads/ranks.hpp>

namespace twill::inline v0::parallel::detail::inline TWILL_ISA {

TWILL_BODY void play_all(const std::vector<RankTask>& ranks) {
  struct Thrown {
    std::exception_ptr exception;
    bool tells_of_another;
  };
  std::mutex mutex;
  std::vector<Thrown> thrown; // in order; kept until all threads have ended
  thrown.reserve(ranks.size());
  const auto failed = [&](const RankTask& rank, bool tells_of_another) {
    {
      const std::lock_guard lock(mutex);
      thrown.push_back({std::current_exception(), tells_of_another});
    }
    rank.fail(std::current_exception());
  };
  const auto play = [&](const RankTask& rank) {
    try {
      rank.play();
    } catch (const CommunicatorError&) {
      failed(rank, true);
    } catch (...) {
      failed(rank, false);
    }
  };
  {
    RankThreads threads;
    try {
      for (std::size_t rank = 1; rank < ranks.size(); ++rank) threads.start([&, rank] { play(ranks[rank]); });
      if (!ranks.empty()) play(ranks[0]);
    } catch (...) { // the system gave no thread: those that run wait for ranks that will not come
      ranks[0].fail(std::current_exception());
      throw;
    }
  }
  // A sub-group that unwinding ended may have told others before the rank at fault came here.
  for (const Thrown& each : thrown)
    if (!each.tells_of_another) std::rethrow_exception(each.exception);
  if (!thrown.empty()) std::rethrow_exception(thrown.front().exception);
}

} // namespace twill::inline v0::parallel::detail::inline TWILL_ISA
