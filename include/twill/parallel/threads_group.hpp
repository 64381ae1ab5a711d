#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// What the ranks of one group of threads share: a meeting point and the reason why the group has failed, if it has. A
// collective call meets twice: all ranks publish their calls and `meet`; each works on its share of everybody's memory; all
// `part`. Only the first meeting can end in an error: while ranks work on each other's memory nobody is let go, and that
// work is finite. The first failure is kept and thrown on every rank. Read next: parallel/threads_mail.hpp.

#include <twill/core/config.hpp>
#include <twill/core/text.hpp>
#include <twill/device/cpu/signal.hpp>
#include <twill/parallel/call_check.hpp>
#include <twill/parallel/detail/text_of.hpp>
#include <twill/parallel/threads_waits.hpp>

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
[[nodiscard]] inline Deadline deadline_after(std::int64_t timeout_ms) {
  return std::chrono::steady_clock::now() + std::chrono::milliseconds(timeout_ms);
}

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
              std::vector<int> ranks_of_all)
      : labels_{std::move(labels)},
        timeout_ms_{timeout_ms},
        slots_(labels_.size()),
        progress_(labels_.size()),
        waits_{std::move(waits)},
        ranks_of_all_{std::move(ranks_of_all)} {}

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
  void meet(int rank) {
    const Deadline deadline = deadline_after(timeout_ms_);
    std::unique_lock lock(mutex_);
    throw_if_failed();
    progress_of(rank).signature = signature_of(slot(rank).call, size());
    ++progress_of(rank).meetings;
    for (int other = 0; other < size(); ++other)
      if (progress_of(other).has_left) fail_for_leaving(other);
    throw_if_failed();
    const std::uint64_t round = round_.load(std::memory_order_relaxed);
    if (++arrived_ == size()) {
      compare_calls();
      throw_if_failed();
      open_round(lock);
      return;
    }
    if (spin_until_opened(lock, round)) return;
    while (round_.load(std::memory_order_relaxed) == round) {
      throw_if_failed();
      if (changed_.wait_until(lock, deadline) == std::cv_status::timeout &&
          round_.load(std::memory_order_relaxed) == round) {
        throw_if_failed();
        const int missing = first_missing(rank);
        const int culprit = culprit_behind(missing, lock);
        if (round_.load(std::memory_order_relaxed) != round) return; // somebody has come meanwhile
        throw_if_failed();
        fail_for_missing(rank, missing, culprit);
      }
    }
  }

  /// Waits until every rank has finished its share. Never fails: see above.
  void part() {
    std::unique_lock lock(mutex_);
    const std::uint64_t round = round_.load(std::memory_order_relaxed);
    if (++arrived_ == size()) return open_round(lock);
    if (spin_until_opened(lock, round)) return;
    changed_.wait(lock, [&] { return round_.load(std::memory_order_relaxed) != round; });
  }

  /// Keeps the first failure and wakes everybody, sub-groups included.
  void fail(const Failure& failure) {
    const std::lock_guard lock(mutex_);
    fail_locked(failure);
  }

  /// Rank `rank` threw `cause`.
  void fail(int rank, const std::exception_ptr& cause) {
    waits_->keep(cause);
    fail({join_text({label(rank), " failed: ", text_of(cause)}), rank, false, cause, rank_of_all(rank)});
  }

  /// A rank's communicator is gone; whoever waits for it, now or later, is told so.
  void leave(int rank, bool by_exception) {
    const int blamed = by_exception ? waits_->blamed_by(rank_of_all(rank)) : -1;
    const std::lock_guard lock(mutex_);
    progress_of(rank).blamed = blamed;
    progress_of(rank).has_left = true;
    progress_of(rank).has_thrown = by_exception;
    if (arrived_ > 0) fail_for_leaving(rank);
    changed_.notify_all();
  }

  /// throws: the failure, if there is one
  void check_alive() {
    const std::lock_guard lock(mutex_);
    throw_if_failed();
  }

  /// Makes a sub-group fail with this group.
  void adopt(const std::shared_ptr<ThreadGroup>& child) {
    const std::lock_guard lock(mutex_);
    std::size_t place = 0; // of a sub-group that is gone, or behind the last
    while (place < children_.size() && !children_[place].expired()) ++place;
    if (place == children_.size()) children_.emplace_back();
    children_[place] = child;
    if (has_failed_) child->fail(failure_);
  }

  // For threads_mail.hpp, which waits at the same meeting point for other reasons.
  [[nodiscard]] std::mutex& mutex() { return mutex_; }
  [[nodiscard]] std::condition_variable& changed() { return changed_; }
  // Each rank gets an exception of its own: a shared one would be destroyed by whoever drops it last.
  void throw_if_failed() const {
    if (has_failed_) throw_failure();
  }
  void fail_locked(const Failure& failure) {
    if (has_failed_) return;
    failure_ = failure;
    has_failed_ = true;
    for (const auto& child : children_)
      if (const auto alive = child.lock()) alive->fail(failure);
    changed_.notify_all();
  }
  TWILL_COLD void fail_for_leaving(int rank) {
    const char* const how = progress_of(rank).has_thrown ? " left the group with an exception " : " left the group ";
    const int blamed = progress_of(rank).blamed; // why it has left: another had failed it, perhaps in another group
    const bool is_behind = blamed >= 0 && blamed != rank_of_all(rank);
    fail_locked({join_text({label(rank), how, last_seen(rank), is_behind ? "; it had waited for " : "",
                            is_behind ? waits_->label(blamed) : ""}),
                 rank, false, nullptr, is_behind ? blamed : rank_of_all(rank)});
  }
  /// Who keeps everybody waiting if this rank is waited for: it, or the end of the chain of those that wait for each other. Lets
  /// go of the lock for that.
  [[nodiscard]] TWILL_COLD int culprit_behind(int rank, std::unique_lock<std::mutex>& lock) {
    lock.unlock();
    const int culprit = waits_->culprit(rank_of_all(rank));
    lock.lock();
    return culprit;
  }
  /// Fails for a rank that did not come in time, because of a culprit behind it or of itself.
  TWILL_COLD void fail_for_time(const std::string& text, int rank, int culprit) {
    int named = rank; // a culprit that is not of this group is reached through one who is
    for (int other = 0; other < size(); ++other)
      if (rank_of_all(other) == culprit) named = other;
    const bool is_behind = culprit != rank_of_all(rank);
    fail_locked({join_text({text, is_behind ? "; " : "", is_behind ? label(rank) : "", is_behind ? " waits for " : "",
                            is_behind ? waits_->label(culprit) : ""}),
                 named, true, nullptr, culprit});
  }
  [[nodiscard]] bool has_left(int rank) const { return progress_[static_cast<std::size_t>(rank)].has_left; }
  /// "after 3 calls, the last a barrier": where a rank that is not here was seen.
  [[nodiscard]] TWILL_COLD std::string last_seen(int rank) const {
    const Progress& progress = progress_[static_cast<std::size_t>(rank)];
    if (progress.meetings == 0) return "before its first collective call";
    return join_text({"after ", progress.meetings, progress.meetings > 1 ? " collective calls" : " collective call",
                      ", the last: ", to_string(progress.signature)});
  }

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
    [[nodiscard]] int waits_for() override {
      if (peer_ >= 0) return group_->rank_of_all(peer_);
      const std::lock_guard lock(group_->mutex_);
      const int missing = group_->first_missing(rank_);
      return missing < 0 ? -1 : group_->rank_of_all(missing);
    }

  private:
    ThreadGroup* group_;
    int rank_;
    int peer_;
  };

  [[nodiscard]] static std::vector<int> numbers(std::size_t count) {
    std::vector<int> all;
    for (std::size_t i = 0; i < count; ++i) all.push_back(static_cast<int>(i));
    return all;
  }

  [[nodiscard]] int blamed() {
    const std::lock_guard lock(mutex_);
    return has_failed_ ? failure_.rank_of_all : -1;
  }

  /// The first rank that has come to fewer meetings than this one; negative: none.
  [[nodiscard]] int first_missing(int rank) const {
    for (std::size_t other = 0; other < progress_.size(); ++other)
      if (progress_[other].meetings < progress_[static_cast<std::size_t>(rank)].meetings)
        return static_cast<int>(other);
    return -1;
  }

  [[nodiscard]] Progress& progress_of(int rank) { return progress_[static_cast<std::size_t>(rank)]; }

  [[noreturn]] TWILL_COLD void throw_failure() const {
    if (failure_.is_timeout) throw TimeoutError(failure_.text, failure_.rank, failure_.cause);
    throw CommunicatorError(failure_.text, failure_.rank, failure_.cause);
  }

  void open_round(std::unique_lock<std::mutex>& lock) {
    arrived_ = 0;
    round_.store(round_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
    lock.unlock();
    changed_.notify_all();
  }

  // Most meetings are over within microseconds, less than it takes to fall asleep and be woken.
  [[nodiscard]] bool spin_until_opened(std::unique_lock<std::mutex>& lock, std::uint64_t round) {
    lock.unlock();
    for (int turn = 0; turn < 1000; ++turn) {
      if (round_.load(std::memory_order_acquire) != round) return true;
      twill::detail::spin_pause();
    }
    lock.lock();
    return false;
  }

  void compare_calls() {
    const Signature& first = progress_of(0).signature;
    for (int rank = 1; rank < size(); ++rank) {
      const Signature& other = progress_of(rank).signature;
      if (other == first) continue;
      return fail_locked({join_text({"ranks have lost step in call ", progress_of(rank).meetings, ": ", label(0),
                                     " calls ", to_string(first), ", ", label(rank), " calls ", to_string(other)}),
                          -1, false, nullptr});
    }
  }

  TWILL_COLD void fail_for_missing(int rank, int first, int culprit) {
    std::string missing;
    for (int other = 0; other < size(); ++other) {
      if (progress_of(other).meetings >= progress_of(rank).meetings) continue;
      missing = join_text({missing, missing.empty() ? "" : ", ", label(other), " (", last_seen(other), ")"});
    }
    fail_for_time(
        join_text({to_string(progress_of(rank).signature), ": missing after ", timeout_ms_, " ms: ", missing}), first,
        culprit);
    throw_if_failed();
  }

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
