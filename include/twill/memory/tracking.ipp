#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of memory/tracking.hpp.

#include <twill/memory/tracking.hpp>

namespace twill { inline namespace v0 { namespace memory {

TWILL_BODY void Tracked::tell(const MemoryEvent& event) noexcept {
  calls_.fetch_add(1);
  if (MemoryObserver* observer = observer_.load()) observer->on_memory_event(event);
  calls_.fetch_sub(1);
}

TWILL_BODY MemoryObserver* Tracked::set_observer(MemoryObserver* observer) noexcept {
  MemoryObserver* previous = observer_.exchange(observer);
  while (calls_.load() != 0) sched_yield();
  return previous;
}

}}} // namespace twill::v0::memory
