#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Use of blocks by several streams: the streams that use a block and are not its home, with the fences that a taker has
// to wait for; the streams on which threads record events at this moment; and free blocks that are out of their lists
// while a thread works on them without the lock. Read next: memory/stream_arenas.hpp.

#include <twill/memory/block.hpp>
#include <twill/memory/heap.hpp>

#include <cstddef>
#include <mutex>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace memory { namespace detail {

/// Streams that use a block, and their fences. Most blocks have none, so `Block::stream_use` points to it.
template <class Stream, class Event> struct StreamUse {
  std::vector<Stream> users{};
  std::vector<Event> fences{};

  /// The record of a block, or null.
  [[nodiscard]] static StreamUse* of(const Block& block) { return static_cast<StreamUse*>(block.stream_use); }

  /// The record of a block, made if there is none. throws: std::bad_alloc
  [[nodiscard]] static StreamUse& make(Block& block) {
    if (block.stream_use == nullptr) block.stream_use = new StreamUse;
    return *of(block);
  }

  /// Deletes the record of a block.
  static void drop(Block& block) noexcept {
    delete of(block);
    block.stream_use = nullptr;
  }
};

/// Streams on which threads are recording events. Recording calls the driver, without the pool's lock; a thread that
/// destroys a stream waits until no thread holds it. A hold is on the stack of its thread, so nothing is allocated.
template <class Stream, class Lock> class StreamHolds {
public:
  /// Keeps one stream, or none until `begin`, from being forgotten during its life. Destroyed without the lock.
  class Hold {
  public:
    Hold(StreamHolds& holds, Lock& lock) : holds_{holds}, lock_{lock} {}
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;
    ~Hold() {
      if (!has_begun_) return;
      std::lock_guard guard{lock_};
      Hold** place = &holds_.first_;
      while (*place != this) place = &(*place)->next_;
      *place = next_;
    }

    /// Under the lock.
    void begin(const Stream& stream) {
      stream_ = stream;
      next_ = std::exchange(holds_.first_, this);
      has_begun_ = true;
    }
    [[nodiscard]] bool has_begun() const { return has_begun_; }
    [[nodiscard]] const Stream& stream() const { return stream_; }

  private:
    friend StreamHolds;
    StreamHolds& holds_;
    Lock& lock_;
    Stream stream_{};
    Hold* next_ = nullptr;
    bool has_begun_ = false;
  };

  /// Under the lock: whether some thread holds the stream.
  [[nodiscard]] bool has(const Stream& stream) const {
    for (const Hold* hold = first_; hold != nullptr; hold = hold->next_)
      if (hold->stream_ == stream) return true;
    return false;
  }

private:
  Hold* first_ = nullptr;
};

/// Calls f(block) for every block of the heap, under its lock.
template <SizePolicy Sizes, class F> void for_each_block(Heap<Sizes>& heap, F f) {
  for (Segment* segment = heap.segments; segment != nullptr; segment = segment->next)
    for (Block* block = segment->first; block != nullptr; block = block->next) f(*block);
}

/// Free blocks taken out of their lists for a moment. They always go back.
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
