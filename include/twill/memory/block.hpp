#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Records of a memory pool. A segment is one allocation from upstream; its blocks tile it without gaps and are linked
// in address order. A block is in use, or free and listed in the free index of its arena (its stream). Records are
// separate from the memory that they describe, which may be on a device, or not exist. Read next: memory/pool.hpp.

#include <twill/core/config.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace twill { inline namespace v0 { namespace memory {

struct Segment;
struct ArenaBase;

struct Block;

/// Takes back blocks outside their device's pool: lent memory, or blocks whose return takes more than listing.
class BlockKeeper {
public:
  /// Called when the last owner is gone.
  virtual void take_back(Block* block) noexcept = 0;

protected:
  ~BlockKeeper() = default;
};

/// A piece of a segment. While the block is free, the lock of the pool guards everything but `owners`; while it is in
/// use, its owner owns everything but the neighbours.
struct Block {
  std::byte* address = nullptr;
  std::size_t bytes = 0;     ///< of the piece, remainder included
  std::size_t rounded = 0;   ///< of the request, rounded; what `memory_allocated` counts
  std::size_t requested = 0; ///< of the request, as asked
  Segment* segment = nullptr;
  Block* previous = nullptr; ///< neighbours by address
  Block* next = nullptr;
  Block* previous_free = nullptr; ///< neighbours in a list of the free index
  Block* next_free = nullptr;
  ArenaBase* home = nullptr;     ///< the arena of the stream that may reuse it without waiting
  void* stream_use = nullptr;    ///< state of the stream policy: other users, fences; null for most blocks
  std::uint64_t sequence = 0;    ///< of the allocation, for snapshots
  const char* place = nullptr;   ///< the place that made the allocation, where tracking is on
  BlockKeeper* keeper = nullptr; ///< takes the block back instead of its device's pool; null for most blocks
  std::atomic<std::uint32_t> owners{0};
  bool free = false;
  bool counted_as_split = false;
  bool lent = false; ///< memory with another owner: no new value may be put there without the caller's consent

  [[nodiscard]] bool is_whole_segment() const { return previous == nullptr && next == nullptr; }
};

/// One allocation from upstream.
struct Segment {
  std::byte* address = nullptr;
  std::size_t bytes = 0;
  std::size_t upstream_bytes = 0; ///< requested from upstream: all of them, or those of the one request that it serves
  bool small = false;
  bool alone = false; ///< serves one request, and goes back to upstream with its release
  Block* first = nullptr;
  Segment* previous = nullptr; ///< the list of all segments of the pool
  Segment* next = nullptr;
};

/// Hands out records of one type and takes them back; chunks are kept until the store dies. Spare records are linked by
/// their `next`, which is null in a record that is handed out.
template <class Record> class RecordStore {
public:
  RecordStore() = default;
  RecordStore(const RecordStore&) = delete;
  RecordStore& operator=(const RecordStore&) = delete;
  ~RecordStore() {
    while (chunks_ != nullptr) delete std::exchange(chunks_, chunks_->older);
  }

  /// Ensures that the next `count` calls of `take` succeed. throws: std::bad_alloc, nothing changed
  void prepare(std::size_t count) {
    while (spare_ < count) grow();
  }

  [[nodiscard]] bool empty() const { return first_ == nullptr; }

  /// A fresh record. throws: std::bad_alloc when none was prepared
  [[nodiscard]] Record* take() {
    if (first_ == nullptr) grow();
    Record* record = std::exchange(first_, first_->next);
    record->next = nullptr;
    --spare_;
    return record;
  }

  void give_back(Record* record) noexcept {
    record->next = std::exchange(first_, record);
    ++spare_;
  }

private:
  static constexpr std::size_t chunk_records = 64;

  struct Chunk {
    Chunk* older = nullptr;
    Record records[chunk_records]{};
  };

  TWILL_COLD void grow() {
    auto* const chunk = new Chunk{chunks_};
    chunks_ = chunk;
    for (std::size_t i = chunk_records; i-- > 0;) give_back(&chunk->records[i]);
  }

  Record* first_ = nullptr;
  std::size_t spare_ = 0;
  Chunk* chunks_ = nullptr;
};

}}} // namespace twill::v0::memory
