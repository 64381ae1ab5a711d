#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Free blocks taken out of their lists for a moment, so that their taker may work on them without the lock. They always
// go back. Read next: memory/stream_arenas.hpp.

#include <twill/memory/heap.hpp>

#include <cstddef>
#include <mutex>
#include <vector>

namespace twill { inline namespace v0 { namespace memory { namespace detail {

/// Calls f(block) for every block of the heap, under its lock.
template <SizePolicy Sizes, class F> void for_each_block(Heap<Sizes>& heap, F f) {
  for (Segment* segment = heap.segments; segment != nullptr; segment = segment->next)
    for (Block* block = segment->first; block != nullptr; block = block->next) f(*block);
}

template <SizePolicy Sizes, class Lock> struct TakenBlocks {
  Heap<Sizes>& heap;
  Lock& lock;
  std::vector<Block*> blocks{};

  TakenBlocks(Heap<Sizes>& all, Lock& guard) : heap{all}, lock{guard} {}
  TakenBlocks(const TakenBlocks&) = delete;
  TakenBlocks& operator=(const TakenBlocks&) = delete;
  ~TakenBlocks() {
    std::lock_guard guard{lock};
    for (Block* block : blocks) heap.put(*block);
  }

  /// Takes the free blocks that the predicate, under the lock, selects. throws: std::bad_alloc, with nothing taken
  template <class Predicate> void take(Predicate wanted) {
    std::lock_guard guard{lock};
    std::size_t count = 0;
    for_each_block(heap, [&](const Block& block) { count += block.free && wanted(block) ? 1 : 0; });
    blocks.reserve(count);
    for_each_block(heap, [&](Block& block) {
      if (!block.free || !wanted(block)) return;
      heap.unlist(block);
      blocks.push_back(&block);
    });
  }
};

}}}} // namespace twill::v0::memory::detail
