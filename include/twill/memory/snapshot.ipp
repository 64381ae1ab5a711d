#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of memory/snapshot.hpp.

#include <twill/memory/snapshot.hpp>

namespace twill { inline namespace v0 { namespace memory {

TWILL_BODY void MemoryHistory::on_memory_event(const MemoryEvent& event) noexcept {
  std::lock_guard guard{mutex_};
  if (!events_.empty()) events_[seen_ % events_.size()] = event;
  ++seen_;
}

TWILL_BODY std::vector<MemoryEvent> MemoryHistory::events() const {
  std::vector<MemoryEvent> kept;
  {
    std::lock_guard guard{mutex_};
    const std::size_t count = std::min(seen_, events_.size());
    kept.reserve(count);
    for (std::size_t i = seen_ - count; i < seen_; ++i) kept.push_back(events_[i % events_.size()]);
  }
  // Events arrived almost in order: only a few were overtaken by another thread, so few move, and none far.
  for (std::size_t i = 1; i < kept.size(); ++i)
    for (std::size_t at = i; at > 0 && kept[at].sequence < kept[at - 1].sequence; --at)
      std::swap(kept[at], kept[at - 1]);
  return kept;
}

TWILL_BODY std::size_t MemoryHistory::dropped() const {
  std::lock_guard guard{mutex_};
  return seen_ > events_.size() ? seen_ - events_.size() : 0;
}

}}} // namespace twill::v0::memory
