#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Meeting point of a group of threads, and the world of all ranks shared by its sub-groups, with one lock for all of
// them. A collective call meets twice: all ranks publish their calls and `meet`; each works on its share of all ranks'
// memory; all `part`. Only the first meeting can end in an error: while ranks work on each other's memory none is
// released, and that work is finite. A rank tells the world when a call begins to wait; the missing rank of a
// collective call is looked up on demand. Read next: parallel/threads/mailbox.hpp.

#include <twill/core/config.hpp>
#include <twill/parallel/group/call_check.hpp>
#include <twill/parallel/group/failure.hpp>
#include <twill/parallel/group/waiting.hpp>

#include <atomic>
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

class ThreadWorld final : public WaitForGraph {
public:
  /// A waiting call of a rank. Negative `peer`: a collective one.
  struct Wait {
    const ThreadGroup* group = nullptr;
    int rank = 0; ///< its number in the group
    int peer = -1;
  };

  explicit ThreadWorld(std::vector<std::string> labels)
      : WaitForGraph{std::move(labels)}, entries_(static_cast<std::size_t>(size())) {}

  [[nodiscard]] Mutex& mutex() { return mutex_; }

  /// Begins a rank's wait.
  void begin(int rank, const Wait& wait);
  /// Ends the wait; `blamed` is the rank that has not answered, or negative.
  void end(int rank, int blamed);

  /// requires: `mutex()` is locked
  [[nodiscard]] TWILL_BODY int next_of(int rank) const override;
  /// Keeps an exception of a rank.    requires: `mutex()` is locked
  void keep(const std::exception_ptr& cause) { causes_.push_back(cause); }

private:
  struct Entry {
    mutable Mutex mutex{}; ///< with it locked the call cannot end, so that its group is there
    Wait wait{};
    int blamed = -1;
  };

  Mutex mutex_{}; ///< locked before that of an entry
  std::vector<Entry> entries_;
  std::vector<std::exception_ptr> causes_{};
};

class ThreadGroup final : public GroupState {
public:
  /// A rank's call as seen by the others. It is written by its rank between a parting and the next meeting.
  struct Slot {
    Call call;
    SplitRequest request;        ///< split
    std::shared_ptr<void> child; ///< split: made by the first member for its sub-group
  };

  /// A group of some ranks of a world, `origins` there.
  ThreadGroup(std::vector<std::string> labels, std::vector<int> origins, std::int64_t timeout_ms,
              std::shared_ptr<ThreadWorld> world)
      : GroupState{std::move(labels), std::move(origins), timeout_ms, world},
        world_{std::move(world)},
        slots_(static_cast<std::size_t>(size())) {}

  [[nodiscard]] Slot& slot(int rank) { return slots_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] const std::shared_ptr<ThreadWorld>& world() const { return world_; }
  [[nodiscard]] Mutex& mutex() { return world_->mutex(); } ///< of everything except slots
  [[nodiscard]] Condition& changed() { return changed_; }

  /// Calls f, in which a rank may wait for others: for `peer`, or, if that is negative, for ranks missing in its
  /// collective call. A rank whose time-out is caused by this one learns which rank it waits for, and which has not
  /// answered even if it continues to collect calls finished before the group failed.
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

  /// Waits until every rank has come with its slot filled in. throws: CommunicatorError, equal on all ranks, if the
  /// group has failed, a rank is missing after the time-out, or the calls differ
  void meet(int rank);

  /// Waits until every rank has finished its share. Never fails: see above.
  void part();

  /// Reports that rank `rank` threw `cause`.
  void give_up(int rank, const std::exception_ptr& cause);

  /// Reports that a rank's communicator was destroyed; ranks that wait for it, now or later, are told so.
  void leave(int rank, bool by_exception);

  /// throws: the failure, if there is one
  void check_alive();

  /// The first rank that has come to fewer meetings than this one; negative: none.    requires: `mutex()` is locked
  [[nodiscard]] int first_missing(int rank) const;

private:
  TWILL_BODY void end_calls(const Failure& failure, bool is_news) override;
  [[nodiscard]] int blamed(); ///< for the failure, by its number in the world

  void open_round(std::unique_lock<Mutex>& lock);

  // Most meetings are over within microseconds, less than the time to fall asleep and wake up.
  [[nodiscard]] bool spin_until_opened(std::unique_lock<Mutex>& lock, std::uint64_t round);

  std::shared_ptr<ThreadWorld> world_;
  std::vector<Slot> slots_;
  Condition changed_{"another rank of the group"};
  int arrived_ = 0;
  std::atomic<std::uint64_t> round_{0};
};

}}}}} // namespace twill::v0::parallel::detail::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/parallel/threads/group.ipp>
#endif
