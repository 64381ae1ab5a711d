#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Spare records for a new segment, set aside before upstream is asked, so that nothing can fail after its answer.
// Unused records go back. Read next: memory/pool.hpp.

#include <twill/memory/heap.hpp>

#include <mutex>

namespace twill { inline namespace v0 { namespace memory {

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
