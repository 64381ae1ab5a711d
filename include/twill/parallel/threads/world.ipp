#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of parallel/threads/world.hpp.

#include <twill/parallel/threads/group.hpp>
#include <twill/parallel/threads/world.hpp>

namespace twill::inline v0::parallel::detail::inline TWILL_ISA {

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

} // namespace twill::inline v0::parallel::detail::inline TWILL_ISA
