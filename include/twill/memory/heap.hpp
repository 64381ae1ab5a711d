#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Bookkeeping of a pool, without locks and without an upstream: segments, the blocks that tile them, and one free index
// for small and one for large blocks in each arena. Free neighbours of one arena are merged at once. No function
// touches the memory itself or can fail, given enough records. Read next: memory/pool.hpp.

#include <twill/memory/block.hpp>
#include <twill/memory/counters.hpp>
#include <twill/memory/free_index.hpp>
#include <twill/memory/size_classes.hpp>

#include <cstddef>
#include <mutex>

namespace twill { inline namespace v0 { namespace memory {

/// The lists of the free blocks of one stream.
struct ArenaBase {};

template <SizePolicy Sizes> struct Arena : ArenaBase {
  FreeIndex<Sizes::granularity> small;
  FreeIndex<Sizes::granularity> large;
};

template <SizePolicy Sizes> class Heap {
public:
  using ArenaType = Arena<Sizes>;

  /// Takes the best fitting free block out of the arena, cut to size, or returns null.
  /// requires: a record is prepared
  [[nodiscard]] Block* take(ArenaType& arena, bool small, std::size_t rounded) noexcept;

  /// Counts a block that begins to serve a request.
  void begin(Block& block, std::size_t rounded, std::size_t requested) noexcept;

  /// Counts a block whose request has ended.
  void end(const Block& block) noexcept;

  /// Merges a block with its free neighbours and lists the result.
  void put(Block& given) noexcept;

  /// Takes a free block out of its list; it does not merge until it is put back.
  void unlist(Block& block) noexcept;

  /// Splits off and lists the remainder after the request, if it is worth a block. Fenced blocks stay whole.
  void cut(Block& block, std::size_t rounded) noexcept;

  /// Enters a new segment, whose record has the bytes asked of upstream; its block is not yet listed or counted.
  [[nodiscard]] Block* add_segment(Segment* segment, Block* block, void* address, std::size_t bytes, bool small,
                                   ArenaType& arena) noexcept;

  /// True when the whole segment is one listed block without fences.
  [[nodiscard]] static bool is_returnable(const Segment& segment) noexcept;

  /// The bytes that could be returned to upstream.
  struct Returnable {
    std::size_t all_bytes = 0;
    std::size_t smallest_bytes = 0; ///< of the segments with at least `wanted` bytes; 0 when there is none
  };
  template <class Predicate>
  [[nodiscard]] Returnable returnable(std::size_t wanted, Predicate may_return) const noexcept {
    Returnable found{};
    for (const Segment* segment = segments; segment != nullptr; segment = segment->next) {
      if (!is_returnable(*segment) || !may_return(*segment->first)) continue;
      found.all_bytes += segment->bytes;
      if (segment->bytes >= wanted && (found.smallest_bytes == 0 || segment->bytes < found.smallest_bytes))
        found.smallest_bytes = segment->bytes;
    }
    return found;
  }

  /// Forgets a segment whose only block is out of its list; its record belongs to the caller.
  void remove_segment(Segment& segment) noexcept;

  Counters counters;
  RecordStore<Block> blocks;
  RecordStore<Segment> segment_records;
  Segment* segments = nullptr; ///< head of the list of all segments

private:
  [[nodiscard]] static FreeIndex<Sizes::granularity>& index_of(const Block& block) noexcept;

  [[nodiscard]] static bool mergeable(const Block* neighbour, const Block& block) noexcept;

  /// Lists a free block. A block that served its request alone is in no index, so that no other request finds it.
  void list(Block& block) noexcept;

  void absorb_next(Block& block) noexcept;

  void recycle(Block* block) noexcept;
};

template <SizePolicy Sizes> Block* Heap<Sizes>::take(ArenaType& arena, bool small, std::size_t rounded) noexcept {
  Block* block = (small ? arena.small : arena.large).best_fit(rounded);
  if (block == nullptr) return nullptr;
  unlist(*block);
  cut(*block, rounded);
  return block;
}

template <SizePolicy Sizes> void Heap<Sizes>::begin(Block& block, std::size_t rounded, std::size_t requested) noexcept {
  block.rounded = rounded;
  block.requested = requested;
  const bool small = block.segment->small;
  counters.add(small, Quantity::allocation, 1);
  counters.add(small, Quantity::allocated_bytes, rounded);
  counters.add(small, Quantity::requested_bytes, requested);
  counters.add(small, Quantity::active_bytes, block.bytes);
}

template <SizePolicy Sizes> void Heap<Sizes>::end(const Block& block) noexcept {
  const bool small = block.segment->small;
  counters.subtract(small, Quantity::allocation, 1);
  counters.subtract(small, Quantity::allocated_bytes, block.rounded);
  counters.subtract(small, Quantity::requested_bytes, block.requested);
  counters.subtract(small, Quantity::active_bytes, block.bytes);
}

template <SizePolicy Sizes> void Heap<Sizes>::put(Block& given) noexcept {
  Block* block = &given;
  if (Block* left = block->previous; mergeable(left, *block)) {
    unlist(*left);
    absorb_next(*left);
    block = left;
  }
  if (Block* right = block->next; mergeable(right, *block)) {
    unlist(*right);
    absorb_next(*block);
  }
  list(*block);
}

template <SizePolicy Sizes> void Heap<Sizes>::unlist(Block& block) noexcept {
  if (!block.segment->alone) [[likely]]
    index_of(block).erase(block);
  block.free = false;
  if (!block.counted_as_split) return;
  block.counted_as_split = false;
  counters.subtract(block.segment->small, Quantity::inactive_split, 1);
  counters.subtract(block.segment->small, Quantity::inactive_split_bytes, block.bytes);
}

template <SizePolicy Sizes> void Heap<Sizes>::cut(Block& block, std::size_t rounded) noexcept {
  const std::size_t remainder = block.bytes - rounded;
  if (!Sizes::worth_splitting(rounded, remainder) || block.stream_use != nullptr) return;
  Block* rest = blocks.take();
  rest->address = block.address + rounded;
  rest->bytes = remainder;
  rest->segment = block.segment;
  rest->home = block.home;
  rest->previous = &block;
  rest->next = block.next;
  if (rest->next != nullptr) rest->next->previous = rest;
  block.next = rest;
  block.bytes = rounded;
  list(*rest);
}

template <SizePolicy Sizes>
Block* Heap<Sizes>::add_segment(Segment* segment, Block* block, void* address, std::size_t bytes, bool small,
                                ArenaType& arena) noexcept {
  segment->address = static_cast<std::byte*>(address);
  segment->bytes = bytes;
  segment->small = small;
  segment->first = block;
  segment->previous = nullptr;
  segment->next = segments;
  if (segments != nullptr) segments->previous = segment;
  segments = segment;
  block->address = segment->address;
  block->bytes = bytes;
  block->segment = segment;
  block->home = &arena;
  counters.add(small, Quantity::segment, 1);
  counters.add(small, Quantity::reserved_bytes, bytes);
  return block;
}

template <SizePolicy Sizes> bool Heap<Sizes>::is_returnable(const Segment& segment) noexcept {
  const Block& block = *segment.first;
  return block.free && block.next == nullptr && block.stream_use == nullptr;
}

template <SizePolicy Sizes> void Heap<Sizes>::remove_segment(Segment& segment) noexcept {
  recycle(segment.first);
  if (segment.previous != nullptr) segment.previous->next = segment.next;
  if (segment.next != nullptr) segment.next->previous = segment.previous;
  if (segments == &segment) segments = segment.next;
  counters.subtract(segment.small, Quantity::segment, 1);
  counters.subtract(segment.small, Quantity::reserved_bytes, segment.bytes);
}

template <SizePolicy Sizes> FreeIndex<Sizes::granularity>& Heap<Sizes>::index_of(const Block& block) noexcept {
  auto& arena = static_cast<ArenaType&>(*block.home);
  return block.segment->small ? arena.small : arena.large;
}

template <SizePolicy Sizes> bool Heap<Sizes>::mergeable(const Block* neighbour, const Block& block) noexcept {
  return neighbour != nullptr && neighbour->free && neighbour->home == block.home && neighbour->stream_use == nullptr &&
         block.stream_use == nullptr;
}

template <SizePolicy Sizes> void Heap<Sizes>::list(Block& block) noexcept {
  block.free = true;
  if (!block.segment->alone) [[likely]]
    index_of(block).insert(block);
  if (block.is_whole_segment()) return;
  block.counted_as_split = true;
  counters.add(block.segment->small, Quantity::inactive_split, 1);
  counters.add(block.segment->small, Quantity::inactive_split_bytes, block.bytes);
}

template <SizePolicy Sizes> void Heap<Sizes>::absorb_next(Block& block) noexcept {
  Block* next = block.next;
  block.bytes += next->bytes;
  block.next = next->next;
  if (block.next != nullptr) block.next->previous = &block;
  recycle(next);
}

template <SizePolicy Sizes> void Heap<Sizes>::recycle(Block* block) noexcept {
  block->previous = nullptr;
  block->next = nullptr;
  block->free = false;
  blocks.give_back(block);
}

/// Spare records for a new segment, set aside before upstream is asked, so that nothing can fail after its answer.
/// Unused records go back.
template <SizePolicy Sizes, class Lock> struct SpareRecords {
  /// throws: std::bad_alloc, with nothing changed
  SpareRecords(Heap<Sizes>& of, Lock& guarded_by);
  SpareRecords(const SpareRecords&) = delete;
  SpareRecords& operator=(const SpareRecords&) = delete;
  ~SpareRecords();

  Heap<Sizes>& heap;
  Lock& lock;
  Segment* segment = nullptr;
  Block* block = nullptr;
  Block* rest = nullptr; ///< for the part of the segment that the request does not need
};

template <SizePolicy Sizes, class Lock>
TWILL_COLD SpareRecords<Sizes, Lock>::SpareRecords(Heap<Sizes>& of, Lock& guarded_by) : heap{of}, lock{guarded_by} {
  std::lock_guard guard{lock};
  heap.segment_records.prepare(1);
  heap.blocks.prepare(2);
  segment = heap.segment_records.take();
  block = heap.blocks.take();
  rest = heap.blocks.take();
}

template <SizePolicy Sizes, class Lock> TWILL_COLD SpareRecords<Sizes, Lock>::~SpareRecords() {
  std::lock_guard guard{lock};
  if (segment != nullptr) heap.segment_records.give_back(segment);
  if (block != nullptr) heap.blocks.give_back(block);
  if (rest != nullptr) heap.blocks.give_back(rest);
}

}}} // namespace twill::v0::memory
