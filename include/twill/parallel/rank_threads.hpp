#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Threads for the ranks of a group, kept for the next group when they have nothing to do: what kernels keep for each thread,
// such as plans of convolutions and working memory, is made once and not at every step. The ranks of one step after the
// other get the same threads. They are asleep between steps and never end, as the threads of devices. They may use all cores
// of the process, whoever first needs them: a thread without cores of its own would get those of the one that makes it,
// which may be pinned, as the threads of host devices are. Read next: parallel/ranks.hpp.

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
[[nodiscard]] TWILL_COLD inline twill::detail::CoreSet cores_of_first_thread() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  if (sched_getaffinity(getpid(), sizeof(mask), &mask) != 0) return {};
  twill::detail::CoreSet cores;
  for (int core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(static_cast<std::size_t>(core), &mask)) cores.add(core);
  return twill::detail::cores_before_binding(cores, twill::detail::OpenMpPlaces{});
}

/// A thread that runs one function after the other.
class RankThread {
public:
  /// throws: SystemError when the system gives no thread
  [[nodiscard]] static RankThread* make() {
    auto own = std::make_unique<RankThread>();
    twill::detail::start_thread(cores_of_first_thread(), "twill-rank",
                                {[](void* thread, int) { static_cast<RankThread*>(thread)->serve(); }, own.get()});
    return own.release(); // the thread never ends
  }

  /// requires: `work` throws nothing, and the one before was waited for
  void start(std::function<void()> work) {
    {
      const std::lock_guard lock(mutex_);
      work_ = std::move(work);
    }
    changed_.notify_all();
  }
  /// Returns when what was started has ended and is destroyed.
  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !work_; });
  }

private:
  void serve() {
    for (std::unique_lock lock(mutex_);;) {
      changed_.wait(lock, [this] { return static_cast<bool>(work_); });
      lock.unlock();
      work_();
      lock.lock();
      work_ = nullptr;
      changed_.notify_all();
    }
  }

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
  ~RankThreads() {
    for (RankThread* const thread : taken_) thread->wait();
    Idle& idle = idle_threads();
    const std::lock_guard lock(idle.mutex);
    for (std::size_t i = taken_.size(); i-- > 0;) idle.threads.push_back(taken_[i]); // the first is the next first one
  }

  /// Runs a function beside the caller.    requires: it throws nothing    throws: SystemError when the system gives no thread
  void start(std::function<void()> work) {
    taken_.reserve(taken_.size() + 1);
    RankThread* thread = nullptr;
    {
      Idle& idle = idle_threads();
      const std::lock_guard lock(idle.mutex);
      if (idle.process != getpid()) { // a process that was forked has memory of threads, and none of them
        idle.process = getpid();
        idle.threads.clear();
      }
      if (idle.threads.empty()) {
        idle.threads.reserve(++idle.made); // so that giving back throws nothing
      } else {
        thread = idle.threads.back();
        idle.threads.pop_back();
      }
    }
    if (thread == nullptr) thread = RankThread::make();
    taken_.push_back(thread);
    thread->start(std::move(work));
  }

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
