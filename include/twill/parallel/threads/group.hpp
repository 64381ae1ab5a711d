#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// What the ranks of one group of threads share: a meeting point and the reason why the group has failed, if it has. A
// collective call meets twice: all ranks publish their calls and `meet`; each works on its share of everybody's memory; all
// `part`. Only the first meeting can end in an error: while ranks work on each other's memory nobody is let go, and that
// work is finite. The first failure is kept and thrown on every rank. Read next: parallel/threads/mail.hpp.

#include <twill/core/config.hpp>
#include <twill/core/text.hpp>
#include <twill/device/cpu/signal.hpp>
#include <twill/parallel/group/call_check.hpp>
#include <twill/parallel/group/text_of.hpp>
#include <twill/parallel/threads/waits.hpp>

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

namespace twill::inline v0::parallel::detail::inline TWILL_ISA {

using Deadline = std::chrono::steady_clock::time_point;
[[nodiscard]] Deadline deadline_after(std::int64_t timeout_ms);

class ThreadGroup {
public:
  /// What one rank shows to the others. It is written by its rank between a parting and the next meeting.
  struct Slot {
    Call call;
    int color = 0;
    int key = 0;
    std::shared_ptr<void> child; ///< split: what the first member has made for its sub-group
  };

  /// Why a group can go no further.
  struct Failure {
    std::string text{};
    int rank = -1;
    bool is_timeout = false;
    std::exception_ptr cause{};
    int rank_of_all = -1; ///< the rank at fault, as the group of all counts
  };

  /// The group of all ranks.
  ThreadGroup(const std::vector<std::string>& labels, std::int64_t timeout_ms)
      : ThreadGroup{labels, timeout_ms, std::make_shared<ThreadWaits>(labels), numbers(labels.size())} {}

  /// A sub-group; `ranks_of_all` are its ranks in the group of all.
  ThreadGroup(std::vector<std::string> labels, std::int64_t timeout_ms, std::shared_ptr<ThreadWaits> waits,
              std::vector<int> ranks_of_all);

  [[nodiscard]] int size() const { return static_cast<int>(labels_.size()); }
  [[nodiscard]] std::int64_t timeout_ms() const { return timeout_ms_; }
  [[nodiscard]] const std::string& label(int rank) const { return labels_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] Slot& slot(int rank) { return slots_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] const std::shared_ptr<ThreadWaits>& waits() const { return waits_; }
  [[nodiscard]] int rank_of_all(int rank) const { return ranks_of_all_[static_cast<std::size_t>(rank)]; }

  /// Calls f, in which a rank may wait for others: for `peer`, or, where that is negative, for those who do not come to its
  /// collective call. Who runs into a time-out because of this rank learns whom it waits for, and whom it has waited for in
  /// vain even where it goes on to collect what was through before the group failed.
  template <class F> void waiting(int rank, int peer, const F& f) {
    Waiter waiter{*this, rank, peer};
    waits_->begin(rank_of_all(rank), waiter);
    try {
      f();
    } catch (...) {
      waits_->end(rank_of_all(rank), blamed());
      throw;
    }
    waits_->end(rank_of_all(rank), has_failed_.load(std::memory_order_relaxed) ? blamed() : -1);
  }

  /// Waits until every rank has come with its slot filled in. throws: CommunicatorError, the same on all ranks, if the
  /// group has failed, a rank is missing after the time-out, or the calls differ
  void meet(int rank);

  /// Waits until every rank has finished its share. Never fails: see above.
  void part();

  /// Keeps the first failure and wakes everybody, sub-groups included.
  void fail(const Failure& failure);

  /// Rank `rank` threw `cause`.
  void fail(int rank, const std::exception_ptr& cause);

  /// A rank's communicator is gone; whoever waits for it, now or later, is told so.
  void leave(int rank, bool by_exception);

  /// throws: the failure, if there is one
  void check_alive();

  /// Makes a sub-group fail with this group.
  void adopt(const std::shared_ptr<ThreadGroup>& child);

  // For threads_mail.hpp, which waits at the same meeting point for other reasons.
  [[nodiscard]] std::mutex& mutex() { return mutex_; }
  [[nodiscard]] std::condition_variable& changed() { return changed_; }
  // Each rank gets an exception of its own: a shared one would be destroyed by whoever drops it last.
  void throw_if_failed() const;
  void fail_locked(const Failure& failure);
  void fail_for_leaving(int rank);
  /// Who keeps everybody waiting if this rank is waited for: it, or the end of the chain of those that wait for each other. Lets
  /// go of the lock for that.
  [[nodiscard]] int culprit_behind(int rank, std::unique_lock<std::mutex>& lock);
  /// Fails for a rank that did not come in time, because of a culprit behind it or of itself.
  void fail_for_time(const std::string& text, int rank, int culprit);
  [[nodiscard]] bool has_left(int rank) const { return progress_[static_cast<std::size_t>(rank)].has_left; }
  /// "after 3 calls, the last a barrier": where a rank that is not here was seen.
  [[nodiscard]] std::string last_seen(int rank) const;

private:
  struct Progress {
    std::int64_t meetings = 0;
    Signature signature;
    bool has_left = false;
    bool has_thrown = false;
    int blamed = -1; ///< whom a rank that has left had waited for in vain, as the group of all counts
  };

  /// A rank in a call, for those who are asked whom it waits for.
  class Waiter final : public ThreadWaits::Asked {
  public:
    Waiter(ThreadGroup& group, int rank, int peer) : group_{&group}, rank_{rank}, peer_{peer} {}
    [[nodiscard]] int waits_for() override;

  private:
    ThreadGroup* group_;
    int rank_;
    int peer_;
  };

  [[nodiscard]] static std::vector<int> numbers(std::size_t count);

  [[nodiscard]] int blamed();

  /// The first rank that has come to fewer meetings than this one; negative: none.
  [[nodiscard]] int first_missing(int rank) const;

  [[nodiscard]] Progress& progress_of(int rank) { return progress_[static_cast<std::size_t>(rank)]; }

  [[noreturn]] void throw_failure() const;

  void open_round(std::unique_lock<std::mutex>& lock);

  // Most meetings are over within microseconds, less than it takes to fall asleep and be woken.
  [[nodiscard]] bool spin_until_opened(std::unique_lock<std::mutex>& lock, std::uint64_t round);

  void compare_calls();

  void fail_for_missing(int rank, int first, int culprit);

  std::vector<std::string> labels_;
  std::int64_t timeout_ms_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Slot> slots_;
  std::vector<Progress> progress_;
  std::shared_ptr<ThreadWaits> waits_;
  std::vector<int> ranks_of_all_;
  int arrived_ = 0;
  std::atomic<std::uint64_t> round_{0};
  std::atomic<bool> has_failed_{false}; ///< written under the lock
  Failure failure_{};
  std::vector<std::weak_ptr<ThreadGroup>> children_;
};

} // namespace twill::inline v0::parallel::detail::inline TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/parallel/threads/group.ipp>
#endif
