#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// State of a pool guarded by its lock, and the return of its segments to upstream: the heap, the block that was
// released last, the number of the last event and the counters. Functions marked "under the lock" expect their caller
// to hold it, the others take it. The released block is not merged yet, so each function that walks or counts free
// blocks lists it first. Read next: memory/pool.hpp.

#include <twill/core/config.hpp>
#include <twill/memory/block.hpp>
#include <twill/memory/heap.hpp>
#include <twill/memory/tracking.hpp>

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <utility>

namespace twill { inline namespace v0 { namespace memory { namespace detail {

template <SizePolicy Sizes, class Lock> struct Ledger {
  /// Every quantity by size class, read at once.
  [[nodiscard]] MemoryStats stats() const;

  [[nodiscard]] Counters counters() const;

  void reset_peaks();

  /// Calls f(segment, block) for every block, under the lock; returns the number of the last event that they show.
  template <class F> std::uint64_t for_each_block(F& f) const {
    std::lock_guard guard{lock};
    put_back_recent();
    for (const Segment* segment = heap.segments; segment != nullptr; segment = segment->next)
      for (const Block* block = segment->first; block != nullptr; block = block->next) f(*segment, *block);
    return sequence;
  }

  /// Under the lock: a free block of the arena, or null when there is none, or no record for cutting it.
  [[nodiscard]] Block* take_cached(Arena<Sizes>& arena, bool small, std::size_t rounded) noexcept;

  /// Under the lock: lists the block that was released last.
  void put_back_recent() const noexcept;

  /// Under the lock: marks the block as serving a request.
  void start(Block& block, std::size_t rounded, std::size_t requested, const char* place) noexcept;

  /// Counts a request that is retried; returns the number of the event.
  [[nodiscard]] std::uint64_t count_retry();

  /// Removes bytes that upstream refused: they no longer count for the limit.
  void forget_asked(std::size_t bytes);

  mutable Lock lock{};
  std::uint64_t sequence = 0; ///< of the last event
  mutable Heap<Sizes> heap{};
  mutable Block* recent = nullptr; ///< released last and not merged yet: the next request of its size takes it
  std::size_t asked_upstream = 0;  ///< being allocated at this moment; counts for the limit
  std::int64_t retries = 0;
  std::int64_t refusals = 0;
};

template <SizePolicy Sizes, class Lock> MemoryStats Ledger<Sizes, Lock>::stats() const {
  std::lock_guard guard{lock};
  put_back_recent();
  MemoryStats stats = heap.counters.stats();
  stats.retries = retries;
  stats.out_of_memory = refusals;
  return stats;
}

template <SizePolicy Sizes, class Lock> Counters Ledger<Sizes, Lock>::counters() const {
  std::lock_guard guard{lock};
  put_back_recent();
  return heap.counters;
}

template <SizePolicy Sizes, class Lock> void Ledger<Sizes, Lock>::reset_peaks() {
  std::lock_guard guard{lock};
  put_back_recent();
  heap.counters.reset_peaks();
}

template <SizePolicy Sizes, class Lock>
Block* Ledger<Sizes, Lock>::take_cached(Arena<Sizes>& arena, bool small, std::size_t rounded) noexcept {
  if (recent != nullptr) {
    if (recent->rounded == rounded) return std::exchange(recent, nullptr);
    put_back_recent();
  }
  return heap.blocks.empty() ? nullptr : heap.take(arena, small, rounded);
}

template <SizePolicy Sizes, class Lock> void Ledger<Sizes, Lock>::put_back_recent() const noexcept {
  if (recent != nullptr) heap.put(*std::exchange(recent, nullptr));
}

template <SizePolicy Sizes, class Lock>
void Ledger<Sizes, Lock>::start(Block& block, std::size_t rounded, std::size_t requested, const char* place) noexcept {
  heap.begin(block, rounded, requested);
  block.sequence = ++sequence;
  block.place = place;
  block.owners.store(1, std::memory_order_relaxed);
}

template <SizePolicy Sizes, class Lock> TWILL_COLD std::uint64_t Ledger<Sizes, Lock>::count_retry() {
  std::lock_guard guard{lock};
  ++retries;
  return ++sequence;
}

template <SizePolicy Sizes, class Lock> TWILL_COLD void Ledger<Sizes, Lock>::forget_asked(std::size_t bytes) {
  std::lock_guard guard{lock};
  asked_upstream -= bytes;
}

/// Returns unused segments of a pool, given its parts, after the device has finished the work that was queued before
/// their blocks were released. The blocks are out of the lists meanwhile, and listed again if the device fails.
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
