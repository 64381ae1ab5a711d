#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Parallel execution of one function for each rank of a group. The first exception ends the group, so that no rank is
// left waiting, and is rethrown here as its own type. Threads are kept for the next group: data that kernels keep for
// each thread, such as plans of convolutions and working memory, is made once and not at every step. They are asleep
// between steps and never end, like the threads of devices, and may use all cores of the process, whichever thread
// first needs them: a thread without its own cores would get those of its creator, which may be pinned. Read next:
// parallel/threads/communicator.hpp.

#include <twill/core/config.hpp>
#include <twill/device/cpu/cores.hpp>
#include <twill/device/current.hpp>
#include <twill/parallel/group/communicator.hpp>
#include <twill/parallel/group/waiting.hpp>

#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include <sched.h>
#include <unistd.h>

namespace twill { inline namespace v0 { namespace parallel { namespace detail { inline namespace TWILL_ISA {

/// The cores that the first thread of the process may use, asked from any thread. None when the system does not tell.
[[nodiscard]] twill::cpu::CoreSet cores_of_first_thread();

/// A thread that runs one function after another.
class RankThread {
public:
  /// throws: SystemError when the system gives no thread
  [[nodiscard]] static RankThread* make();

  /// requires: `work` throws nothing, and the one before was waited for
  void start(std::function<void()> work);
  /// Returns when the started work has ended and is destroyed.
  void wait();

private:
  void serve();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::function<void()> work_;
  std::optional<Strand> strand_; ///< of the work
};

/// The threads of a running group.
class RankThreads {
public:
  RankThreads() = default;
  RankThreads(const RankThreads&) = delete;
  RankThreads& operator=(const RankThreads&) = delete;
  /// Waits for all of them and keeps them for the next group.
  ~RankThreads();

  /// Runs a function in parallel.    requires: it throws nothing    throws: SystemError when the system gives no thread
  void start(std::function<void()> work);

private:
  struct Idle {
    std::mutex mutex{};
    std::vector<RankThread*> threads{};
    std::size_t made = 0; ///< in total, or tried
    pid_t process = getpid();
  };
  /// Never destroyed: ranks may run while the process ends.
  [[nodiscard]] static Idle& idle_threads() {
    static Idle& idle = *new Idle;
    return idle;
  }

  std::vector<RankThread*> taken_{};
};

/// The function of a rank, and its way to report a failure to its group.
struct RankTask {
  std::function<void()> play{};
  std::function<void(const std::exception_ptr&)> fail{};
};

/// Runs all ranks, the first one in this thread. throws: like `run_ranks`
void play_all(const std::vector<RankTask>& ranks);

/// Restores the current device of this thread at the end. Calls no driver if it stayed. A type that only names the
/// owner of a group's memory has no current device.
template <class D> class KeptDevice {};
template <DeviceName D> class KeptDevice<D> {
public:
  KeptDevice() = default;
  ~KeptDevice() {
    if (current_device<D>() != before_) restore_device(before_);
  }
  KeptDevice(const KeptDevice&) = delete;
  KeptDevice& operator=(const KeptDevice&) = delete;

private:
  D before_{current_device<D>()};
};

template <Communicator C, class F> [[nodiscard]] RankTask task_of(C& communicator, F& f) {
  const auto play = [&] {
    [[maybe_unused]] const KeptDevice<typename C::Device> kept{};
    f(communicator);
  };
  return {play, [&](const std::exception_ptr& cause) { communicator.fail(cause); }};
}

}}}}} // namespace twill::v0::parallel::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace parallel { inline namespace TWILL_ISA {

/// Calls `f(communicator)` for each communicator of a group, each in its own thread, and waits for all of them: also
/// for one that hangs, since no thread can be ended from outside and it works on the caller's memory. The others end
/// with a TimeoutError that names it, which is thrown here once it returns; ranks that are processes do not wait for
/// it. `set_device` in `f`, for the communicator's kind of devices, lasts until its end: the next group has the same
/// threads.
/// throws: the exception of the rank that threw first; one that only reports another rank's failure gives way to its
/// cause
template <Communicator C, class F> void run_ranks(std::vector<C>& communicators, F f) {
  std::vector<detail::RankTask> ranks;
  for (C& communicator : communicators) ranks.push_back(detail::task_of(communicator, f));
  detail::play_all(ranks);
}

/// Runs a group of ranks on devices of several kinds.
template <Communicator... C, class F> void run_ranks(std::tuple<C...>& communicators, F f) {
  detail::play_all(std::apply([&](C&... each) { return std::vector<detail::RankTask>{detail::task_of(each, f)...}; },
                              communicators));
}

}}}} // namespace twill::v0::parallel::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/parallel/threads/ranks.ipp>
#endif
