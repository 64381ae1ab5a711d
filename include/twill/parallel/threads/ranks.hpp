#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Runs one function once for each rank of a group, all at the same time. The first exception poisons the group, so that no
// rank is left waiting, and is rethrown here as its own type. Read next: parallel/threads/rank_threads.hpp,
// parallel/threads/communicator.hpp.

#include <twill/core/config.hpp>
#include <twill/device/current.hpp>
#include <twill/parallel/group/communicator.hpp>
#include <twill/parallel/threads/rank_threads.hpp>

#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <tuple>
#include <vector>

namespace twill::inline v0::parallel::detail::inline TWILL_ISA {

/// What a rank does, and how it tells its group that it cannot go on.
struct RankTask {
  std::function<void()> play{};
  std::function<void(const std::exception_ptr&)> fail{};
};

/// Plays all ranks, the first one in this thread. throws: as `run_ranks`
void play_all(const std::vector<RankTask>& ranks);

/// Makes the current device of this thread at the end what it was at first. Touches no driver where it stayed. A type that
/// only names whose memory a group moves has no current device.
template <class D> class KeptDevice {};
template <DeviceName D> class KeptDevice<D> {
public:
  KeptDevice() = default;
  ~KeptDevice() {
    if (current_device<D>() == before_) return;
    if constexpr (requires { activate_again(before_); }) activate_again(before_); // does not throw
    twill::detail::current_index<D> = before_.index;
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

} // namespace twill::inline v0::parallel::detail::inline TWILL_ISA

namespace twill::inline v0::parallel::inline TWILL_ISA {

/// Calls `f(communicator)` for each communicator of a group, each in a thread of its own, and waits for all of them: also for
/// one that hangs, since no thread can be ended from outside and it works on what the caller has. The others end with a
/// TimeoutError that names it, which comes out of here once it returns; ranks that are processes do not wait for it.
/// Of the communicator's kind of devices, `set_device` in `f` lasts until its end: the next group has the same threads.
/// throws: the exception of the rank that threw first; one that only tells of another rank's failure gives way to its cause
template <Communicator C, class F> void run_ranks(std::vector<C>& communicators, F f) {
  std::vector<detail::RankTask> ranks;
  for (C& communicator : communicators) ranks.push_back(detail::task_of(communicator, f));
  detail::play_all(ranks);
}

/// The same for a group of ranks on devices of several kinds.
template <Communicator... C, class F> void run_ranks(std::tuple<C...>& communicators, F f) {
  detail::play_all(std::apply([&](C&... each) { return std::vector<detail::RankTask>{detail::task_of(each, f)...}; },
                              communicators));
}

} // namespace twill::inline v0::parallel::inline TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/parallel/threads/ranks.ipp>
#endif
