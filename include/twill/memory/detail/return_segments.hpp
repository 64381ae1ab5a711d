#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Return of cached segments to upstream: unused segments go back after the device has finished the work that was queued
// before their blocks were released. Their blocks are out of the lists meanwhile, and are listed again if the device
// fails. Read next: memory/pool.hpp.

#include <twill/core/config.hpp>
#include <twill/memory/block.hpp>
#include <twill/memory/policies/tracking.hpp>

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <utility>

namespace twill { inline namespace v0 { namespace memory { namespace detail {

/// Returns segments of a pool, given the pool's parts.
template <class Ledger, class Arenas, class Upstream, class Tracking> struct SegmentReturn {
  Ledger& ledger;
  Arenas& arenas;
  Upstream& upstream;
  Tracking& tracking;

  /// Gives back the smallest cached segment that is large enough, else several, if they suffice; returns their bytes.
  std::size_t what_fits(std::size_t bytes);

  /// Returns those segments that the predicate, called under the lock, accepts; if the device fails they stay cached.
  template <class Predicate> TWILL_COLD std::size_t those(Predicate agrees) {
    Block* chain = nullptr; // the segments' only blocks, out of their lists, linked by next_free
    {
      std::lock_guard guard{ledger.lock};
      ledger.put_back_recent();
      for (Segment* segment = ledger.heap.segments; segment != nullptr; segment = segment->next) {
        if (!ledger.heap.is_returnable(*segment) || !arenas.may_return(*segment->first) || !agrees(*segment)) continue;
        ledger.heap.unlist(*segment->first);
        segment->first->next_free = std::exchange(chain, segment->first);
      }
    }
    if (chain == nullptr) return 0;
    try {
      arenas.streams().synchronize();
    } catch (...) {
      std::lock_guard guard{ledger.lock};
      while (chain != nullptr) ledger.heap.put(*std::exchange(chain, chain->next_free));
      throw;
    }
    std::size_t bytes = 0;
    while (chain != nullptr) bytes += give_back(*std::exchange(chain, chain->next_free));
    return bytes;
  }

private:
  std::size_t give_back(Block& block) noexcept;
};

template <class Ledger, class Arenas, class Upstream, class Tracking>
TWILL_COLD std::size_t SegmentReturn<Ledger, Arenas, Upstream, Tracking>::what_fits(std::size_t bytes) {
  std::size_t smallest = 0;
  {
    std::lock_guard guard{ledger.lock};
    ledger.put_back_recent();
    const auto cached = ledger.heap.returnable(bytes, [this](const Block& block) { return arenas.may_return(block); });
    if (cached.all_bytes < bytes) return 0;
    smallest = cached.smallest_bytes;
  }
  std::size_t chosen = 0;
  return those([&](const Segment& segment) {
    if (chosen >= bytes || (smallest != 0 && segment.bytes != smallest)) return false;
    chosen += segment.bytes;
    return true;
  });
}

template <class Ledger, class Arenas, class Upstream, class Tracking>
TWILL_COLD std::size_t SegmentReturn<Ledger, Arenas, Upstream, Tracking>::give_back(Block& block) noexcept {
  Segment* segment = block.segment;
  MemoryEvent event{MemoryEventKind::return_segment, 0, segment->address, segment->bytes, 0, nullptr};
  upstream.release(segment->address, segment->upstream_bytes);
  ledger.lock.lock();
  event.sequence = ++ledger.sequence;
  ledger.heap.remove_segment(*segment);
  ledger.heap.segment_records.give_back(segment);
  ledger.lock.unlock();
  if (tracking.listening()) tracking.tell(event);
  return event.bytes;
}

}}}} // namespace twill::v0::memory::detail
