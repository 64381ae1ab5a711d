#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// The meeting point of a group of threads, and the world of all ranks that its sub-groups share, with one lock for all
// of them. A collective call meets twice: all ranks publish their calls and `meet`; each works on its share of all
// ranks' memory; all `part`. Only the first meeting can end in an error: while ranks work on each other's memory none
// is let go, and that work is finite. A rank tells the world when a call begins to wait; which rank of a collective
// call is missing is looked up when it is asked. Read next: parallel/threads/mail.hpp.

#include <twill/core/config.hpp>
#include <twill/parallel/group/call_check.hpp>
#include <twill/parallel/group/failure.hpp>

#include <atomic>
#include <condition_variable> // brings the clocks along; all of <chrono>, with calendars, would be costly in every file
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace parallel { namespace detail { inline namespace TWILL_ISA {

class ThreadGroup;

class ThreadWorld final : public WaitChain {
public:
  /// A call that a rank waits in. Negative `peer`: a collective one.
  struct Wait {
    const ThreadGroup* group = nullptr;
    int rank = 0; ///< as the group counts
    int peer = -1;
  };

  explicit ThreadWorld(std::vector<std::string> labels)
      : WaitChain{std::move(labels)}, entries_(static_cast<std::size_t>(size())) {}

  [[nodiscard]] std::mutex& mutex() { return mutex_; }

  /// A rank begins to wait.
  void begin(int rank, const Wait& wait);
  /// It goes on; `blamed` is the rank that it has waited for in vain, or negative.
  void end(int rank, int blamed);

  /// requires: `mutex()` is locked
  [[nodiscard]] int next_of(int rank) const override;
  /// Keeps what a rank has thrown.    requires: `mutex()` is locked
  void keep(const std::exception_ptr& cause) { causes_.push_back(cause); }

private:
  struct Entry {
    mutable std::mutex mutex{}; ///< under it the call cannot end, so that its group is there
    Wait wait{};
    int blamed = -1;
  };

  std::mutex mutex_{}; ///< before that of an entry
  std::vector<Entry> entries_;
  std::vector<std::exception_ptr> causes_{};
};

using Deadline = std::chrono::steady_clock::time_point;
[[nodiscard]] Deadline deadline_after(std::int64_t timeout_ms);

class ThreadGroup final : public GroupState {
public:
  /// A rank's call as the others see it. It is written by its rank between a parting and the next meeting.
  struct Slot {
    Call call;
    Wish wish;                   ///< split
    std::shared_ptr<void> child; ///< split: what the first member has made for its sub-group
  };

  /// A group of some ranks of a world, `origins` there.
  ThreadGroup(std::vector<std::string> labels, std::vector<int> origins, std::int64_t timeout_ms,
              std::shared_ptr<ThreadWorld> world)
      : GroupState{std::move(labels), std::move(origins), timeout_ms, world},
        world_{std::move(world)},
        slots_(static_cast<std::size_t>(size())) {}

  [[nodiscard]] Slot& slot(int rank) { return slots_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] const std::shared_ptr<ThreadWorld>& world() const { return world_; }
  [[nodiscard]] std::mutex& mutex() { return world_->mutex(); } ///< of everything but slots
  [[nodiscard]] std::condition_variable& changed() { return changed_; }

  /// Calls f, in which a rank may wait for others: for `peer`, or, where that is negative, for those that do not come
  /// to its collective call. A rank that runs into a time-out because of this one learns whom it waits for, and whom it
  /// has waited for in vain even where it goes on to collect what was through before the group failed.
  template <class F> void waiting(int rank, int peer, const F& f) {
    struct Ending {
      ThreadGroup& group;
      int rank;
      ~Ending() { group.world_->end(group.origin(rank), group.blamed()); }
    };
    world_->begin(origin(rank), {this, rank, peer});
    const Ending ending{*this, rank};
    f();
  }

  /// Waits until every rank has come with its slot filled in. throws: CommunicatorError, the same on all ranks, if the
  /// group has failed, a rank is missing after the time-out, or the calls differ
  void meet(int rank);

  /// Waits until every rank has finished its share. Never fails: see above.
  void part();

  /// Rank `rank` threw `cause`.
  void give_up(int rank, const std::exception_ptr& cause);

  /// A rank's communicator is gone; ranks that wait for it, now or later, are told so.
  void leave(int rank, bool by_exception);

  /// throws: the failure, if there is one
  void check_alive();

  /// The first rank that has come to fewer meetings than this one; negative: none.    requires: `mutex()` is locked
  [[nodiscard]] int first_missing(int rank) const;

private:
  void end_calls(const Failure& failure, bool is_news) override;
  [[nodiscard]] int blamed(); ///< for the failure, as the world counts

  void open_round(std::unique_lock<std::mutex>& lock);

  // Most meetings are over within microseconds, less than it takes to fall asleep and be woken.
  [[nodiscard]] bool spin_until_opened(std::unique_lock<std::mutex>& lock, std::uint64_t round);

  std::shared_ptr<ThreadWorld> world_;
  std::vector<Slot> slots_;
  std::condition_variable changed_;
  int arrived_ = 0;
  std::atomic<std::uint64_t> round_{0};
};

}}}}} // namespace twill::v0::parallel::detail::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/parallel/threads/group.ipp>
#endif
