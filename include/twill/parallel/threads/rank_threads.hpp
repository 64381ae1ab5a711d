#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Threads for the ranks of a group, kept for the next group when they have nothing to do: what kernels keep for each thread,
// such as plans of convolutions and working memory, is made once and not at every step. The ranks of one step after the
// other get the same threads. They are asleep between steps and never end, as the threads of devices. They may use all cores
// of the process, whoever first needs them: a thread without cores of its own would get those of the one that makes it,
// which may be pinned, as the threads of host devices are. Read next: parallel/threads/ranks.hpp.

#include <twill/core/config.hpp>
#include <twill/device/cpu/affinity.hpp>
#include <twill/device/cpu/core_set.hpp>
#include <twill/device/cpu/thread.hpp>

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include <sched.h>
#include <unistd.h>

namespace twill::inline v0::parallel::detail::inline TWILL_ISA {

/// The cores that the first thread of the process may use, whichever thread asks. None when the system does not tell.
[[nodiscard]] twill::detail::CoreSet cores_of_first_thread();

/// A thread that runs one function after the other.
class RankThread {
public:
  /// throws: SystemError when the system gives no thread
  [[nodiscard]] static RankThread* make();

  /// requires: `work` throws nothing, and the one before was waited for
  void start(std::function<void()> work);
  /// Returns when what was started has ended and is destroyed.
  void wait();

private:
  void serve();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::function<void()> work_;
};

/// The threads of a group while it plays.
class RankThreads {
public:
  RankThreads() = default;
  RankThreads(const RankThreads&) = delete;
  RankThreads& operator=(const RankThreads&) = delete;
  /// Waits for all of them and keeps them for whoever is next.
  ~RankThreads();

  /// Runs a function beside the caller.    requires: it throws nothing    throws: SystemError when the system gives no thread
  void start(std::function<void()> work);

private:
  struct Idle {
    std::mutex mutex{};
    std::vector<RankThread*> threads{};
    std::size_t made = 0; ///< in all, or tried
    pid_t process = getpid();
  };
  /// Never destroyed: ranks may play while the process ends.
  [[nodiscard]] static Idle& idle_threads() {
    static Idle& idle = *new Idle;
    return idle;
  }

  std::vector<RankThread*> taken_{};
};

} // namespace twill::inline v0::parallel::detail::inline TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/parallel/threads/rank_threads.ipp>
#endif
