#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// The caching allocator. It takes large segments from upstream, serves requests from them, keeps what is released, and gives
// segments back on request or when memory runs out. Five policies decide on sizes, locking, streams, tracking and the limit.
// The lock covers lists and counters only: upstream, events and observers are called without it. A failure at any
// point leaves the pool as it was. Read next: memory/heap.hpp for the bookkeeping, memory/buffer.hpp for owners.

#include <twill/memory/heap.hpp>
#include <twill/memory/kept_back.hpp>
#include <twill/memory/out_of_memory.hpp>
#include <twill/memory/place.hpp>
#include <twill/memory/policies/limit.hpp>
#include <twill/memory/policies/pick.hpp>
#include <twill/memory/policies/streams.hpp>
#include <twill/memory/policies/threading.hpp>
#include <twill/memory/policies/tracking.hpp>
#include <twill/memory/spare_records.hpp>
#include <twill/memory/stream_arenas.hpp>
#include <twill/memory/upstream.hpp>

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <new>
#include <string>
#include <utility>

namespace twill::inline v0::memory {

/// A caching allocator of one device, put together from policies; any of them may be left out.
template <Upstream U, class... Policies> class Pool {
public:
  using UpstreamType = U;
  /// how requests are rounded and segments are cut
  using Sizes = pick_policy<SizePolicyKind, ReferenceSizes, Policies...>;
  /// how threads are kept apart
  using Threading = pick_policy<ThreadingPolicyKind, SharedBySpinning, Policies...>;
  /// when memory may be used again
  using Streams = pick_policy<StreamPolicyKind, ImmediateStream, Policies...>;
  /// who is told what happens
  using Tracking = pick_policy<TrackingPolicyKind, Tracked, Policies...>;
  /// how much may be reserved
  using Limit = pick_policy<LimitPolicyKind, AdjustableLimit, Policies...>;
  static_assert(SizePolicy<Sizes> && ThreadingPolicy<Threading> && StreamPolicy<Streams>);
  static_assert(TrackingPolicy<Tracking> && LimitPolicy<Limit>);
  static_assert(one_of_each_kind<Policies...>, "twill: a pool takes one policy of each kind");
  static constexpr bool several_streams = Streams::several; ///< whether blocks remember the streams that used them

  /// The name appears in error messages: the device, as a rule.
  explicit Pool(std::string name, U upstream = U{}, Streams streams = Streams{})
      : name_{std::move(name)}, upstream_{std::move(upstream)}, arenas_{std::move(streams)} {}

  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  /// Returns everything cached. Blocks in use stay allocated, and nobody can release them any more.
  TWILL_COLD ~Pool() {
    try {
      empty_cache();
    } catch (...) { // a device that failed: its memory is lost with it
    }
  }

  /// A block of at least that many bytes with one owner, for use on the device's own stream, or the one that the calling
  /// thread works on where the policy knows of such.
  /// throws: OutOfMemoryError; std::bad_alloc when the host has no room for records    cost: about 10 ns when cached
  [[nodiscard]] Block* allocate(std::size_t bytes) { return allocate_in(arenas_.current(lock_), bytes); }

  /// The same for work on another stream.
  [[nodiscard]] Block* allocate(std::size_t bytes, typename Streams::Stream stream) requires several_streams {
    return allocate_in(arenas_.of(stream, lock_), bytes);
  }

  /// Takes a block back. Work that was queued on its streams may still be using it. One that other streams use stays reserved
  /// while the thread may not wait for the device, until `give_up_kept_back`.
  void release(Block* block) noexcept {
    const std::size_t rounded = block->rounded;
    const void* address = block->address;
    lock_.lock();
    if constexpr (several_streams) {
      if (arenas_.has_users(*block)) {
        lock_.unlock();
        if (!arenas_.may_wait()) {
          block->keeper = &releaser_;
          return keep_back<Streams>(*block);
        }
        arenas_.fence_users(*block, lock_);
        lock_.lock();
      }
    }
    heap_.end(*block);
    if constexpr (several_streams) {
      heap_.put(*block);
    } else {
      put_back_recent();
      recent_ = block;
    }
    const std::uint64_t sequence = ++sequence_;
    lock_.unlock();
    if (tracking_.listening()) tracking_.tell({MemoryEventKind::release, sequence, address, rounded, 0, nullptr});
  }

  /// Says that work on that stream uses the block, too; it will not be reused before that work is done. A
  /// block that somebody has lent may be told as well: `wait_for_streams` comes before it is given back.
  void record_stream(Block& block, typename Streams::Stream stream) requires several_streams {
    arenas_.record_stream(block, stream, lock_);
  }

  /// For a block that is none of the pool's, at its end: waits for the work of the streams that it was told of.
  void wait_for_streams(Block& block) noexcept requires several_streams {
    if (block.stream_use != nullptr) arenas_.finish_users(block, lock_);
  }

  /// Says that a stream is about to be destroyed. Its blocks move to the default stream, fenced by what is queued now.
  void forget_stream(typename Streams::Stream stream) requires several_streams { arenas_.forget(stream, heap_, lock_); }

  /// The same where what is queued ends before the event; nothing is remembered of work whose event has passed.
  template <class Event>
  void forget_stream(typename Streams::Stream stream, const Event& last) requires several_streams {
    arenas_.forget(stream, last, heap_, lock_);
  }

  /// The same for all streams that a predicate agrees to; what is queued on them ends before the event.
  template <class Predicate, class Event>
  void forget_streams(Predicate agrees, const Event& last) requires several_streams {
    arenas_.forget_all(agrees, last, heap_, lock_);
  }

  /// Returns every segment that nothing uses to upstream, after the device has finished with it; tells how many bytes.
  std::size_t empty_cache() {
    if constexpr (several_streams) arenas_.settle(heap_, lock_);
    return return_segments([](const Segment&) { return true; });
  }

  /// Every quantity by class of size, read at once under the lock.
  [[nodiscard]] MemoryStats stats() const {
    std::lock_guard guard{lock_};
    put_back_recent();
    MemoryStats stats = heap_.counters.stats();
    stats.retries = retries_;
    stats.out_of_memory = refusals_;
    return stats;
  }

  /// The present value of a quantity, in bytes or as a count.
  [[nodiscard]] std::int64_t current(Quantity quantity) const { return counters().current(quantity); }
  /// The largest value of a quantity since the peaks were reset.
  [[nodiscard]] std::int64_t peak(Quantity quantity) const { return counters().peak(quantity); }

  /// The peaks start again from the current values.
  void reset_peaks() {
    std::lock_guard guard{lock_};
    put_back_recent();
    heap_.counters.reset_peaks();
  }

  /// Calls f(segment, block) for every block, in no particular order of segments, under the lock: f must not use the pool.
  /// Returns the number of the last event that they show.
  template <class F> std::uint64_t for_each_block(F&& f) const {
    std::lock_guard guard{lock_};
    put_back_recent();
    for (const Segment* segment = heap_.segments; segment != nullptr; segment = segment->next)
      for (const Block* block = segment->first; block != nullptr; block = block->next) f(*segment, *block);
    return sequence_;
  }

  /// What messages call the device.
  [[nodiscard]] const std::string& name() const { return name_; }
  /// Where its segments come from.
  [[nodiscard]] U& upstream() { return upstream_; }
  /// Its policy of streams.
  [[nodiscard]] Streams& streams() { return arenas_.streams(); }
  /// Its policy of tracking.
  [[nodiscard]] Tracking& tracking() { return tracking_; }
  /// Its policy of limits.
  [[nodiscard]] Limit& limit() { return limit_; }

private:
  using ArenaType = StreamArena<Sizes, Streams>;
  static constexpr std::size_t largest_request = static_cast<std::size_t>(-1) / 4;

  [[nodiscard]] Counters counters() const {
    std::lock_guard guard{lock_};
    put_back_recent();
    return heap_.counters;
  }

  [[nodiscard]] Block* allocate_in(ArenaType& arena, std::size_t bytes) {
    if (bytes > largest_request) refuse(bytes);
    const std::size_t rounded = Sizes::round(bytes);
    const bool small = Sizes::is_small(rounded);
    [[maybe_unused]] bool has_other_users = several_streams; // of its memory, or it comes from their arena
    const char* const place = tracking_.listening() ? Place::current() : nullptr;
    lock_.lock();
    Block* block = take_cached(arena, small, rounded);
    if (block != nullptr) [[likely]] {
      start(*block, rounded, bytes, place);
      if constexpr (several_streams) has_other_users = block->stream_use != nullptr || block->home != &arena;
      lock_.unlock();
    } else {
      lock_.unlock();
      block = allocate_slowly(arena, bytes, rounded, small, place);
    }
    if constexpr (several_streams) {
      if (has_other_users) join(*block, arena);
    }
    if (tracking_.listening())
      tracking_.tell({MemoryEventKind::allocate, block->sequence, block->address, rounded, bytes, block->place});
    return block;
  }

  /// The stream waits for whoever used the block before; when that cannot be arranged it is released again.
  TWILL_COLD void join(Block& block, ArenaType& arena) requires several_streams {
    try {
      arenas_.join(block, arena, lock_);
    } catch (...) {
      release(&block);
      throw;
    }
  }

  /// Under the lock: a free block, or null when there is none, or no record for cutting it.
  [[nodiscard]] Block* take_cached(ArenaType& arena, bool small, std::size_t rounded) noexcept {
    if (recent_ != nullptr) {
      if (recent_->rounded == rounded) return std::exchange(recent_, nullptr);
      put_back_recent();
    }
    return heap_.blocks.empty() ? nullptr : heap_.take(arena, small, rounded);
  }

  /// Under the lock: lists the block that was released last. What walks or counts the free blocks comes here first.
  void put_back_recent() const noexcept {
    if (recent_ != nullptr) heap_.put(*std::exchange(recent_, nullptr));
  }

  /// Under the lock: the block serves a request from now on.
  void start(Block& block, std::size_t rounded, std::size_t requested, const char* place) noexcept {
    heap_.begin(block, rounded, requested);
    block.sequence = ++sequence_;
    block.place = place;
    block.owners.store(1, std::memory_order_relaxed);
  }

  [[nodiscard]] TWILL_COLD Block* allocate_slowly(ArenaType& arena, std::size_t bytes, std::size_t rounded, bool small,
                                                  const char* place) {
    SpareRecords spare{heap_, lock_};
    const std::size_t segment_bytes = Sizes::segment_bytes(rounded);
    if constexpr (several_streams) arenas_.drop_finished_fences(heap_, lock_);
    enum class Stage { fresh, after_returning_what_fits, after_returning_everything };
    for (const Stage stage : {Stage::fresh, Stage::after_returning_what_fits, Stage::after_returning_everything}) {
      if (stage != Stage::fresh && !arenas_.may_wait()) break;
      if (stage == Stage::after_returning_what_fits) {
        note_retry(segment_bytes);
        if (return_what_fits(segment_bytes) == 0) continue;
      }
      if (stage == Stage::after_returning_everything && empty_cache() == 0 && !several_streams) continue;
      {
        std::lock_guard guard{lock_};
        if (spare.rest != nullptr) heap_.blocks.give_back(std::exchange(spare.rest, nullptr));
        heap_.blocks.prepare(1);
        put_back_recent();
        if (Block* block = take_anywhere(arena, small, rounded)) {
          start(*block, rounded, bytes, place);
          return block;
        }
        const auto reserved = static_cast<std::size_t>(heap_.counters.current(Quantity::reserved_bytes));
        const std::size_t limit = limit_.bytes();
        if (reserved + asked_upstream_ > limit || segment_bytes > limit - reserved - asked_upstream_) continue;
        asked_upstream_ += segment_bytes;
        spare.rest = heap_.blocks.take();
      }
      void* address = ask_upstream(segment_bytes);
      if (address == nullptr) continue;
      std::uint64_t sequence = 0;
      Block* block = nullptr;
      {
        std::lock_guard guard{lock_};
        sequence = ++sequence_;
        asked_upstream_ -= segment_bytes;
        heap_.blocks.give_back(std::exchange(spare.rest, nullptr));
        block = heap_.add_segment(std::exchange(spare.segment, nullptr), std::exchange(spare.block, nullptr), address,
                                  segment_bytes, small, arena);
        heap_.cut(*block, rounded);
        start(*block, rounded, bytes, place);
      }
      if (tracking_.listening())
        tracking_.tell({MemoryEventKind::reserve_segment, sequence, address, segment_bytes, 0, nullptr});
      return block;
    }
    refuse(bytes);
  }

  /// Under the lock: a free block of the stream itself, else of another stream.
  [[nodiscard]] Block* take_anywhere(ArenaType& arena, bool small, std::size_t rounded) noexcept {
    if (Block* block = heap_.take(arena, small, rounded)) return block;
    if constexpr (several_streams) return arenas_.take_from_others(arena, heap_, small, rounded);
    return nullptr;
  }

  /// Null when upstream has no room; whatever else it throws passes. A failure no longer counts for the limit.
  [[nodiscard]] TWILL_COLD void* ask_upstream(std::size_t bytes) {
    try {
      return upstream_.allocate(bytes);
    } catch (const std::bad_alloc&) {
      std::lock_guard guard{lock_};
      asked_upstream_ -= bytes;
      return nullptr;
    } catch (...) {
      std::lock_guard guard{lock_};
      asked_upstream_ -= bytes;
      throw;
    }
  }

  /// Returns the smallest cached segment that is large enough, else as many as it takes, if they suffice.
  TWILL_COLD std::size_t return_what_fits(std::size_t bytes) {
    std::size_t smallest = 0;
    {
      std::lock_guard guard{lock_};
      put_back_recent();
      const auto cached = heap_.returnable(bytes, [this](const Block& block) { return arenas_.may_return(block); });
      if (cached.all_bytes < bytes) return 0;
      smallest = cached.smallest_bytes;
    }
    std::size_t chosen = 0;
    return return_segments([&](const Segment& segment) {
      if (chosen >= bytes || (smallest != 0 && segment.bytes != smallest)) return false;
      chosen += segment.bytes;
      return true;
    });
  }

  /// Returns the returnable segments that the predicate, called under the lock, agrees to. Work that was queued before
  /// their blocks were released may still be running, so the device finishes first; if it fails they stay cached.
  template <class Predicate> TWILL_COLD std::size_t return_segments(Predicate agrees) {
    Block* chain = nullptr; // the segments' only blocks, out of their lists, linked by next_free
    {
      std::lock_guard guard{lock_};
      put_back_recent();
      for (Segment* segment = heap_.segments; segment != nullptr; segment = segment->next) {
        if (!heap_.is_returnable(*segment) || !arenas_.may_return(*segment->first) || !agrees(*segment)) continue;
        heap_.unlist(*segment->first);
        segment->first->next_free = std::exchange(chain, segment->first);
      }
    }
    if (chain == nullptr) return 0;
    try {
      arenas_.streams().synchronize();
    } catch (...) {
      std::lock_guard guard{lock_};
      while (chain != nullptr) heap_.put(*std::exchange(chain, chain->next_free));
      throw;
    }
    std::size_t bytes = 0;
    while (chain != nullptr) bytes += return_segment(*std::exchange(chain, chain->next_free));
    return bytes;
  }

  TWILL_COLD std::size_t return_segment(Block& block) noexcept {
    Segment* segment = block.segment;
    MemoryEvent event{MemoryEventKind::return_segment, 0, segment->address, segment->bytes, 0, nullptr};
    upstream_.release(segment->address, segment->bytes);
    lock_.lock();
    event.sequence = ++sequence_;
    heap_.remove_segment(*segment);
    heap_.segment_records.give_back(segment);
    lock_.unlock();
    if (tracking_.listening()) tracking_.tell(event);
    return event.bytes;
  }

  TWILL_COLD void note_retry(std::size_t bytes) {
    std::uint64_t sequence = 0;
    {
      std::lock_guard guard{lock_};
      ++retries_;
      sequence = ++sequence_;
    }
    if (tracking_.listening()) tracking_.tell({MemoryEventKind::retry, sequence, nullptr, bytes, 0, nullptr});
  }

  [[noreturn]] TWILL_COLD void refuse(std::size_t bytes) {
    OutOfMemoryFigures figures{};
    figures.asked = bytes;
    figures.limit = limit_.bytes();
    std::uint64_t sequence = 0;
    {
      std::lock_guard guard{lock_};
      ++refusals_;
      sequence = ++sequence_;
      figures.allocated = static_cast<std::size_t>(heap_.counters.current(Quantity::allocated_bytes));
      figures.reserved = static_cast<std::size_t>(heap_.counters.current(Quantity::reserved_bytes));
      figures.cached = figures.reserved - static_cast<std::size_t>(heap_.counters.current(Quantity::active_bytes));
    }
    figures.free = upstream_.free_bytes();
    figures.total = upstream_.total_bytes();
    if (tracking_.listening())
      tracking_.tell({MemoryEventKind::out_of_memory, sequence, nullptr, bytes, bytes, Place::current()});
    throw OutOfMemoryError{name_, figures};
  }

  mutable typename Threading::Lock lock_;
  std::uint64_t sequence_ = 0;
  mutable Heap<Sizes> heap_;
  mutable Block* recent_ = nullptr; ///< released last and not merged yet: the next request of its size takes it
  std::size_t asked_upstream_ = 0;  ///< being allocated right now; counts for the limit
  std::int64_t retries_ = 0;
  std::int64_t refusals_ = 0;
  Tracking tracking_;
  Limit limit_;
  std::string name_;
  U upstream_;
  StreamArenas<Sizes, Streams, typename Threading::Lock> arenas_;
  Releaser<Pool> releaser_{*this};
};

} // namespace twill::inline v0::memory
