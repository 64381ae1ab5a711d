#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of parallel/threads/group.hpp.

#include <twill/parallel/threads/group.hpp>

namespace twill::inline v0::parallel::detail::inline TWILL_ISA {

TWILL_BODY Deadline deadline_after(std::int64_t timeout_ms) {
  return std::chrono::steady_clock::now() + std::chrono::milliseconds(timeout_ms);
}

TWILL_BODY ThreadGroup::ThreadGroup(std::vector<std::string> labels, std::int64_t timeout_ms,
                                    std::shared_ptr<ThreadWaits> waits, std::vector<int> ranks_of_all)
    : labels_{std::move(labels)},
      timeout_ms_{timeout_ms},
      slots_(labels_.size()),
      progress_(labels_.size()),
      waits_{std::move(waits)},
      ranks_of_all_{std::move(ranks_of_all)} {}

TWILL_BODY void ThreadGroup::meet(int rank) {
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

TWILL_BODY void ThreadGroup::part() {
  std::unique_lock lock(mutex_);
  const std::uint64_t round = round_.load(std::memory_order_relaxed);
  if (++arrived_ == size()) return open_round(lock);
  if (spin_until_opened(lock, round)) return;
  changed_.wait(lock, [&] { return round_.load(std::memory_order_relaxed) != round; });
}

TWILL_BODY void ThreadGroup::fail(const Failure& failure) {
  const std::lock_guard lock(mutex_);
  fail_locked(failure);
}

TWILL_BODY void ThreadGroup::fail(int rank, const std::exception_ptr& cause) {
  waits_->keep(cause);
  fail({join_text({label(rank), " failed: ", text_of(cause)}), rank, false, cause, rank_of_all(rank)});
}

TWILL_BODY void ThreadGroup::leave(int rank, bool by_exception) {
  const int blamed = by_exception ? waits_->blamed_by(rank_of_all(rank)) : -1;
  const std::lock_guard lock(mutex_);
  progress_of(rank).blamed = blamed;
  progress_of(rank).has_left = true;
  progress_of(rank).has_thrown = by_exception;
  if (arrived_ > 0) fail_for_leaving(rank);
  changed_.notify_all();
}

TWILL_BODY void ThreadGroup::check_alive() {
  const std::lock_guard lock(mutex_);
  throw_if_failed();
}

TWILL_BODY void ThreadGroup::adopt(const std::shared_ptr<ThreadGroup>& child) {
  const std::lock_guard lock(mutex_);
  std::size_t place = 0; // of a sub-group that is gone, or behind the last
  while (place < children_.size() && !children_[place].expired()) ++place;
  if (place == children_.size()) children_.emplace_back();
  children_[place] = child;
  if (has_failed_) child->fail(failure_);
}

TWILL_BODY void ThreadGroup::throw_if_failed() const {
  if (has_failed_) throw_failure();
}

TWILL_BODY void ThreadGroup::fail_locked(const Failure& failure) {
  if (has_failed_) return;
  failure_ = failure;
  has_failed_ = true;
  for (const auto& child : children_)
    if (const auto alive = child.lock()) alive->fail(failure);
  changed_.notify_all();
}

TWILL_COLD TWILL_BODY void ThreadGroup::fail_for_leaving(int rank) {
  const char* const how = progress_of(rank).has_thrown ? " left the group with an exception " : " left the group ";
  const int blamed = progress_of(rank).blamed; // why it has left: another had failed it, perhaps in another group
  const bool is_behind = blamed >= 0 && blamed != rank_of_all(rank);
  fail_locked({join_text({label(rank), how, last_seen(rank), is_behind ? "; it had waited for " : "",
                          is_behind ? waits_->label(blamed) : ""}),
               rank, false, nullptr, is_behind ? blamed : rank_of_all(rank)});
}

TWILL_COLD TWILL_BODY int ThreadGroup::culprit_behind(int rank, std::unique_lock<std::mutex>& lock) {
  lock.unlock();
  const int culprit = waits_->culprit(rank_of_all(rank));
  lock.lock();
  return culprit;
}

TWILL_COLD TWILL_BODY void ThreadGroup::fail_for_time(const std::string& text, int rank, int culprit) {
  int named = rank; // a culprit that is not of this group is reached through one who is
  for (int other = 0; other < size(); ++other)
    if (rank_of_all(other) == culprit) named = other;
  const bool is_behind = culprit != rank_of_all(rank);
  fail_locked({join_text({text, is_behind ? "; " : "", is_behind ? label(rank) : "", is_behind ? " waits for " : "",
                          is_behind ? waits_->label(culprit) : ""}),
               named, true, nullptr, culprit});
}

TWILL_COLD TWILL_BODY std::string ThreadGroup::last_seen(int rank) const {
  const Progress& progress = progress_[static_cast<std::size_t>(rank)];
  if (progress.meetings == 0) return "before its first collective call";
  return join_text({"after ", progress.meetings, progress.meetings > 1 ? " collective calls" : " collective call",
                    ", the last: ", to_string(progress.signature)});
}

TWILL_BODY int ThreadGroup::Waiter::waits_for() {
  if (peer_ >= 0) return group_->rank_of_all(peer_);
  const std::lock_guard lock(group_->mutex_);
  const int missing = group_->first_missing(rank_);
  return missing < 0 ? -1 : group_->rank_of_all(missing);
}

TWILL_BODY std::vector<int> ThreadGroup::numbers(std::size_t count) {
  std::vector<int> all;
  for (std::size_t i = 0; i < count; ++i) all.push_back(static_cast<int>(i));
  return all;
}

TWILL_BODY int ThreadGroup::blamed() {
  const std::lock_guard lock(mutex_);
  return has_failed_ ? failure_.rank_of_all : -1;
}

TWILL_BODY int ThreadGroup::first_missing(int rank) const {
  for (std::size_t other = 0; other < progress_.size(); ++other)
    if (progress_[other].meetings < progress_[static_cast<std::size_t>(rank)].meetings) return static_cast<int>(other);
  return -1;
}

TWILL_COLD TWILL_BODY void ThreadGroup::throw_failure() const {
  if (failure_.is_timeout) throw TimeoutError(failure_.text, failure_.rank, failure_.cause);
  throw CommunicatorError(failure_.text, failure_.rank, failure_.cause);
}

TWILL_BODY void ThreadGroup::open_round(std::unique_lock<std::mutex>& lock) {
  arrived_ = 0;
  round_.store(round_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  lock.unlock();
  changed_.notify_all();
}

TWILL_BODY bool ThreadGroup::spin_until_opened(std::unique_lock<std::mutex>& lock, std::uint64_t round) {
  lock.unlock();
  for (int turn = 0; turn < 1000; ++turn) {
    if (round_.load(std::memory_order_acquire) != round) return true;
    twill::detail::spin_pause();
  }
  lock.lock();
  return false;
}

TWILL_BODY void ThreadGroup::compare_calls() {
  const Signature& first = progress_of(0).signature;
  for (int rank = 1; rank < size(); ++rank) {
    const Signature& other = progress_of(rank).signature;
    if (other == first) continue;
    return fail_locked({join_text({"ranks have lost step in call ", progress_of(rank).meetings, ": ", label(0),
                                   " calls ", to_string(first), ", ", label(rank), " calls ", to_string(other)}),
                        -1, false, nullptr});
  }
}

TWILL_COLD TWILL_BODY void ThreadGroup::fail_for_missing(int rank, int first, int culprit) {
  std::string missing;
  for (int other = 0; other < size(); ++other) {
    if (progress_of(other).meetings >= progress_of(rank).meetings) continue;
    missing = join_text({missing, missing.empty() ? "" : ", ", label(other), " (", last_seen(other), ")"});
  }
  fail_for_time(join_text({to_string(progress_of(rank).signature), ": missing after ", timeout_ms_, " ms: ", missing}),
                first, culprit);
  throw_if_failed();
}

} // namespace twill::inline v0::parallel::detail::inline TWILL_ISA
