#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of parallel/threads/waits.hpp.

#include <twill/parallel/threads/waits.hpp>

namespace twill::inline v0::parallel::detail::inline TWILL_ISA {

TWILL_BODY void ThreadWaits::begin(int rank, Asked& asked) {
  Entry& entry = entries_[static_cast<std::size_t>(rank)];
  const std::lock_guard lock(entry.mutex);
  entry.asked = &asked;
}

TWILL_BODY void ThreadWaits::end(int rank, int blamed) {
  Entry& entry = entries_[static_cast<std::size_t>(rank)];
  const std::lock_guard lock(entry.mutex);
  entry.asked = nullptr;
  entry.blamed = blamed;
}

TWILL_BODY int ThreadWaits::culprit(int rank) {
  int last = rank;
  for (std::size_t turn = 0; turn < entries_.size(); ++turn) {
    const int next = next_of(last);
    if (next < 0 || next == last) return last;
    last = next;
  }
  return rank;
}

TWILL_BODY int ThreadWaits::blamed_by(int rank) {
  Entry& entry = entries_[static_cast<std::size_t>(rank)];
  const std::lock_guard lock(entry.mutex);
  return entry.blamed;
}

TWILL_BODY void ThreadWaits::keep(const std::exception_ptr& cause) {
  const std::lock_guard lock(mutex_);
  causes_.push_back(cause);
}

TWILL_BODY int ThreadWaits::next_of(int rank) {
  Entry& entry = entries_[static_cast<std::size_t>(rank)];
  const std::lock_guard lock(entry.mutex);
  return entry.asked != nullptr ? entry.asked->waits_for() : entry.blamed;
}

} // namespace twill::inline v0::parallel::detail::inline TWILL_ISA
