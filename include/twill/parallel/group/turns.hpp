#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Turns of threads that run one at a time, in their order: each goes on up to its next pause, then the one after it.
// Work that has to wait for work beside it, such as shards of a batch that add up values inside their runs, so takes
// the same course every time, and allocates alike. Not in twill.hpp. Read next: parallel/data/shard_meeting.hpp.

#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/parallel/group/waiting.hpp>

#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace twill { inline namespace v0 { namespace parallel { namespace detail { inline namespace TWILL_ISA {

/// Turns of a number of threads, the caller's the first.
class Turns {
public:
  explicit Turns(std::size_t count) : is_done_(count, false) {}
  Turns(const Turns&) = delete;
  Turns& operator=(const Turns&) = delete;

  /// Calls `run(place)` for each place, in a thread of its own. Returns when all have ended.
  /// throws: the first exception of any
  template <class Run> void run_all(const Run& run) {
    is_done_.assign(is_done_.size(), false);
    turn_ = 0;
    failure_ = nullptr;
    const auto run_one = [&](std::size_t place) {
      wait_for(place);
      try {
        if (!failure_) run(place);
      } catch (...) { // a thread that only left because of another's failure comes later
        if (!failure_) failure_ = std::current_exception();
      }
      is_done_[place] = true;
      give_on(place);
    };
    const std::vector<Strand> strands(is_done_.size() - 1);
    std::vector<std::thread> others{};
    for (const Strand& strand : strands)
      others.emplace_back([&, place = others.size() + 1] { strand.run([&] { run_one(place); }); });
    run_one(0);
    for (std::size_t i = 0; i < others.size(); ++i) {
      strands[i].join();
      others[i].join();
    }
    if (failure_) std::rethrow_exception(failure_);
  }

  /// Lets the threads after the calling one go on, each up to a pause or its end.
  /// throws: ValueError if one of them has failed, which is not what the caller of `run_all` hears
  void pause() {
    const std::size_t place = turn_;
    give_on(place);
    wait_for(place);
    if (failure_) throw ValueError("another part of the work has failed");
  }

private:
  void wait_for(std::size_t place) {
    std::unique_lock lock{mutex_};
    moved_.wait(lock, [&] { return turn_ == place; });
  }
  /// The turn is that of the next thread that has not ended.
  void give_on(std::size_t place) {
    const std::unique_lock lock{mutex_};
    const std::size_t count = is_done_.size();
    turn_ = count;
    for (std::size_t i = 1; i <= count && turn_ == count; ++i)
      if (!is_done_[(place + i) % count]) turn_ = (place + i) % count;
    moved_.notify_all();
  }

  Mutex mutex_{};
  Condition moved_{"another shard of the rank"};
  std::size_t turn_ = 0;      ///< changed, like `is_done_`, by the thread whose turn it is
  std::vector<bool> is_done_; ///< of each
  std::exception_ptr failure_{};
};

}}}}} // namespace twill::v0::parallel::detail::TWILL_ISA
