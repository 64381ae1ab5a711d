#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of parallel/threads/group.hpp.

#include <twill/device/cpu/signal.hpp>
#include <twill/parallel/threads/group.hpp>

namespace twill { inline namespace v0 { namespace parallel { namespace detail { inline namespace TWILL_ISA {

TWILL_BODY void ThreadWorld::begin(int rank, const Wait& wait) {
  Entry& entry = entries_[static_cast<std::size_t>(rank)];
  const std::lock_guard lock(entry.mutex);
  entry.wait = wait;
}

TWILL_BODY void ThreadWorld::end(int rank, int blamed) {
  Entry& entry = entries_[static_cast<std::size_t>(rank)];
  const std::lock_guard lock(entry.mutex);
  entry.wait.group = nullptr;
  entry.blamed = blamed;
}

TWILL_BODY int ThreadWorld::next_of(int rank) const {
  const Entry& entry = entries_[static_cast<std::size_t>(rank)];
  const std::lock_guard lock(entry.mutex);
  const Wait& wait = entry.wait;
  if (wait.group == nullptr) return entry.blamed;
  const int awaited = wait.peer >= 0 ? wait.peer : wait.group->first_missing(wait.rank);
  return awaited < 0 ? -1 : wait.group->origin(awaited);
}

TWILL_BODY void ThreadGroup::meet(int rank) {
  const Moment deadline = after_ms(timeout_ms());
  std::unique_lock lock(mutex());
  throw_if_failed();
  progress(rank).begins(progress(rank).calls + 1, signature_of(slot(rank).call, size()));
  for (int other = 0; other < size(); ++other)
    if (progress(other).has_left) fail_for_leaving(other);
  throw_if_failed();
  const std::uint64_t round = round_.load(std::memory_order_relaxed);
  if (++arrived_ == size()) {
    if (!agree(progress(rank).calls, [&](int other) { return progress(other).last; })) throw_if_failed();
    open_round(lock);
    return;
  }
  if (spin_until_opened(lock, round)) return;
  while (round_.load(std::memory_order_relaxed) == round) {
    throw_if_failed();
    if (changed_.wait_until(lock, deadline)) continue;
    if (round_.load(std::memory_order_relaxed) != round) return;
    throw_if_failed();
    fail_for_missing(progress(rank).last, [&](int other) { return progress(other).calls < progress(rank).calls; });
  }
}

TWILL_BODY void ThreadGroup::part() {
  std::unique_lock lock(mutex());
  const std::uint64_t round = round_.load(std::memory_order_relaxed);
  if (++arrived_ == size()) return open_round(lock);
  if (spin_until_opened(lock, round)) return;
  changed_.wait(lock, [&] { return round_.load(std::memory_order_relaxed) != round; });
}

TWILL_BODY void ThreadGroup::give_up(int rank, const std::exception_ptr& cause) {
  const std::lock_guard lock(mutex());
  world_->keep(cause);
  fail_for_exception(rank, cause);
}

TWILL_BODY void ThreadGroup::leave(int rank, bool by_exception) {
  const std::lock_guard lock(mutex());
  progress(rank).has_left = true;
  progress(rank).has_thrown = by_exception;
  if (arrived_ > 0) fail_for_leaving(rank);
  changed_.notify_all();
}

TWILL_BODY void ThreadGroup::check_alive() {
  const std::lock_guard lock(mutex());
  throw_if_failed();
}

TWILL_BODY int ThreadGroup::first_missing(int rank) const {
  for (int other = 0; other < size(); ++other)
    if (progress(other).calls < progress(rank).calls) return other;
  return -1;
}

TWILL_BODY void ThreadGroup::end_calls(const Failure&, bool) { changed_.notify_all(); }

TWILL_BODY int ThreadGroup::blamed() {
  if (!has_failed()) return -1;
  const std::lock_guard lock(mutex());
  return failure().origin;
}

TWILL_BODY void ThreadGroup::open_round(std::unique_lock<Mutex>& lock) {
  arrived_ = 0;
  round_.store(round_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  lock.unlock();
  changed_.notify_all();
}

TWILL_BODY bool ThreadGroup::spin_until_opened(std::unique_lock<Mutex>& lock, std::uint64_t round) {
  lock.unlock();
  for (int turn = 0; turn < (scheduler == nullptr ? 1000 : 0); ++turn) {
    if (round_.load(std::memory_order_acquire) != round) return true;
    twill::cpu::spin_pause();
  }
  lock.lock();
  return false;
}

}}}}} // namespace twill::v0::parallel::detail::TWILL_ISA
