#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Snapshots of a pool, segment by segment, and a history of its latest events. Both serve viewers; neither is needed to
// allocate. Read next: memory/recording.hpp.

#include <twill/core/config.hpp>
#include <twill/core/list.hpp>
#include <twill/memory/pool.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace memory {

/// A piece of a segment, in use or free.
struct BlockSnapshot {
  const std::byte* address = nullptr; ///< of the first byte
  std::size_t bytes = 0;              ///< of the block
  std::size_t rounded = 0;            ///< the request as `memory_allocated` counts it; 0 when free
  std::size_t requested = 0;          ///< the request as asked; 0 when free
  bool in_use = false;                ///< else cached
  std::uint64_t sequence = 0;         ///< of the event that allocated it
  const char* place = nullptr;        ///< the place that allocated it, if an observer was set then
};

/// An allocation from upstream and the blocks that tile it, by address.
struct SegmentSnapshot {
  const std::byte* address = nullptr;  ///< of the first byte
  std::size_t bytes = 0;               ///< of the segment
  bool small = false;                  ///< whether it serves small requests
  std::vector<BlockSnapshot> blocks{}; ///< in the order of their addresses
};

/// All segments of a pool by address, and the number of the last event that they show.
struct PoolSnapshot {
  std::vector<SegmentSnapshot> segments{}; ///< of the pool
  std::uint64_t last_event = 0;            ///< the number of earlier events
};

/// The segments of a pool, and the number of the last event before they were read.
template <class PoolType> [[nodiscard]] PoolSnapshot numbered_snapshot(const PoolType& pool) {
  struct Row {
    const std::byte* segment = nullptr;
    std::size_t segment_bytes = 0;
    bool small = false;
    BlockSnapshot block{};
  };
  std::vector<Row> rows;
  PoolSnapshot taken{};
  for (std::size_t needed = 64;;) { // no growth under the lock: count first and retry if the pool has grown
    rows.clear();
    rows.reserve(needed);
    needed = 0;
    taken.last_event = pool.for_each_block([&](const Segment& segment, const Block& block) {
      if (++needed > rows.capacity()) return;
      rows.push_back({segment.address,
                      segment.bytes,
                      segment.small,
                      {block.address, block.bytes, block.free ? 0 : block.rounded, block.free ? 0 : block.requested,
                       !block.free, block.free ? 0 : block.sequence, block.free ? nullptr : block.place}});
    });
    if (needed <= rows.capacity()) break;
  }
  std::vector<SegmentSnapshot>& segments = taken.segments;
  for (const Row& row : rows) { // the blocks of a segment follow each other, in order
    if (segments.empty() || segments.back().address != row.segment)
      segments.push_back({row.segment, row.segment_bytes, row.small});
    segments.back().blocks.push_back(row.block);
  }
  sort_stably(segments,
              [](const SegmentSnapshot& left, const SegmentSnapshot& right) { return left.address < right.address; });
  return taken;
}

/// All segments of a pool by address.
template <class PoolType> [[nodiscard]] std::vector<SegmentSnapshot> snapshot(const PoolType& pool) {
  return numbered_snapshot(pool).segments;
}

/// Keeps the last events of one or more pools; older ones are overwritten.
class MemoryHistory final : public MemoryObserver {
public:
  /// Keeps the last `capacity` events, in memory taken now.
  explicit MemoryHistory(std::size_t capacity) : events_(capacity) {}

  /// Keeps one event; called by the pool under its lock.
  TWILL_BODY void on_memory_event(const MemoryEvent& event) noexcept override;

  /// The kept events, in the order in which they happened.
  [[nodiscard]] std::vector<MemoryEvent> events() const;

  /// The number of events that were overwritten.
  [[nodiscard]] std::size_t dropped() const;

private:
  mutable std::mutex mutex_;
  std::vector<MemoryEvent> events_;
  std::size_t seen_ = 0;
};

}}} // namespace twill::v0::memory

#if TWILL_HEADER_ONLY
#include <twill/memory/snapshot.ipp>
#endif
