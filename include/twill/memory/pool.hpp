#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Caching allocator of a device. It serves requests from large segments of upstream, keeps released blocks, and returns
// segments on request or when memory runs out; for memory checkers it allocates each request alone and keeps nothing.
// Five policies decide on sizes, locking, streams, tracking and the limit. The lock covers lists and counters only:
// upstream, events and observers are called without it. A failure changes nothing. Read next: memory/heap.hpp.

#include <twill/memory/detail/ledger.hpp>
#include <twill/memory/heap.hpp>
#include <twill/memory/kept_back.hpp>
#include <twill/memory/out_of_memory.hpp>
#include <twill/memory/place.hpp>
#include <twill/memory/policies.hpp>
#include <twill/memory/stream_arenas.hpp>
#include <twill/memory/tracking.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <new>
#include <string>
#include <utility>

namespace twill { inline namespace v0 { namespace memory {

/// A caching allocator of one device, composed of policies; any of them may be left out.
template <MemorySource U, class... Policies> class Pool {
public:
  /// how requests are rounded and segments are cut
  using Sizes = pick_policy<SizePolicyKind, ReferenceSizes, Policies...>;
  /// the lock between threads
  using Threading = pick_policy<ThreadingPolicyKind, SharedBySpinning, Policies...>;
  /// when memory may be used again
  using Streams = pick_policy<StreamPolicyKind, ImmediateStream, Policies...>;
  /// the observer of allocations
  using Tracking = pick_policy<TrackingPolicyKind, Tracked, Policies...>;
  /// how much may be reserved
  using Limit = pick_policy<LimitPolicyKind, AdjustableLimit, Policies...>;
  static_assert(SizePolicy<Sizes> && ThreadingPolicy<Threading> && StreamPolicy<Streams>);
  static_assert(TrackingPolicy<Tracking> && LimitPolicy<Limit>);
  static_assert(one_of_each_kind<Policies...>, "twill: a pool takes one policy of each kind");
  static constexpr bool several_streams = Streams::several; ///< whether blocks remember the streams that used them

  /// The name appears in error messages: usually the device.
  explicit Pool(std::string name, U upstream = U{}, Streams streams = Streams{})
      : name_{std::move(name)}, upstream_{std::move(upstream)}, arenas_{std::move(streams)} {}

  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  /// Returns all cached segments. Blocks in use stay allocated and can no longer be released.
  ~Pool();

  /// A block of at least `bytes` bytes with one owner, for use on the device's own stream, or on the current stream of
  /// the calling thread where the policy knows one.
  /// throws: OutOfMemoryError; std::bad_alloc when the host has no room for records    cost: about 10 ns when cached
  [[nodiscard]] Block* allocate(std::size_t bytes) { return allocate_in(arenas_.current(ledger_.lock), bytes); }

  /// Allocates a block for work on the given stream.
  [[nodiscard]] Block* allocate(std::size_t bytes, typename Streams::Stream stream) requires several_streams {
    return allocate_in(arenas_.of(stream, ledger_.lock), bytes);
  }

  /// Takes a block back. Work queued on its streams may still be using it. A block that other streams use stays
  /// reserved while the thread may not wait for the device, until `give_up_kept_back`.
  void release(Block* block) noexcept;

  /// Records that work on that stream uses the block too; the block is not reused before that work is done. Works for
  /// lent blocks as well: `wait_for_streams` is then called before they are given back.
  void record_stream(Block& block, typename Streams::Stream stream) requires several_streams {
    arenas_.record_stream(block, stream, ledger_.lock);
  }

  /// For a block outside the pool, at its end: waits for the work of the streams that were recorded for it.
  void wait_for_streams(Block& block) noexcept requires several_streams {
    if (block.stream_use != nullptr) arenas_.finish_users(block, ledger_.lock);
  }

  /// Call it before a stream is destroyed. Its blocks move to the default stream, fenced by the work queued now.
  void forget_stream(typename Streams::Stream stream) requires several_streams {
    arenas_.forget(stream, ledger_.heap, ledger_.lock);
  }

  /// Forgets a stream whose queued work ends before the event; work whose event has passed leaves no fence.
  template <class Event>
  void forget_stream(typename Streams::Stream stream, const Event& last) requires several_streams {
    arenas_.forget(stream, last, ledger_.heap, ledger_.lock);
  }

  /// Forgets all streams that the predicate selects; their queued work ends before the event.
  template <class Predicate, class Event>
  void forget_streams(Predicate agrees, const Event& last) requires several_streams {
    arenas_.forget_all(agrees, last, ledger_.heap, ledger_.lock);
  }

  /// Returns every unused segment to upstream, after the device has finished with it; returns the number of bytes.
  std::size_t empty_cache();

  /// Every quantity by size class, read at once under the lock.
  [[nodiscard]] MemoryStats stats() const { return ledger_.stats(); }

  /// The current value of a quantity, in bytes or as a count.
  [[nodiscard]] std::int64_t current(Quantity quantity) const { return ledger_.counters().current(quantity); }
  /// The largest value of a quantity since the peaks were reset.
  [[nodiscard]] std::int64_t peak(Quantity quantity) const { return ledger_.counters().peak(quantity); }

  /// Resets the peaks to the current values.
  void reset_peaks() { ledger_.reset_peaks(); }

  /// Calls f(segment, block) for every block, in any order of segments, under the lock: f must not use the pool.
  /// Returns the number of the last event that they show.
  template <class F> std::uint64_t for_each_block(F&& f) const { return ledger_.for_each_block(f); }

  /// The device's name in messages.
  [[nodiscard]] const std::string& name() const { return name_; }
  /// The source of its segments.
  [[nodiscard]] U& upstream() { return upstream_; }
  /// The stream policy.
  [[nodiscard]] Streams& streams() { return arenas_.streams(); }
  /// The tracking policy.
  [[nodiscard]] Tracking& tracking() { return tracking_; }
  /// The limit policy.
  [[nodiscard]] Limit& limit() { return limit_; }

private:
  using ArenaType = StreamArena<Sizes, Streams>;
  using Arenas = StreamArenas<Sizes, Streams, typename Threading::Lock>;
  using Ledger = detail::Ledger<Sizes, typename Threading::Lock>;
  static constexpr std::size_t largest_request = static_cast<std::size_t>(-1) / 4;

  [[nodiscard]] Block* allocate_in(ArenaType& arena, std::size_t bytes);

  /// Makes the stream wait for earlier users of the block; when that is not possible the block is released again.
  TWILL_COLD void join(Block& block, ArenaType& arena) requires several_streams {
    try {
      arenas_.join(block, arena, ledger_.lock);
    } catch (...) {
      release(&block);
      throw;
    }
  }

  [[nodiscard]] Block* allocate_slowly(ArenaType& arena, std::size_t bytes, std::size_t rounded, bool small,
                                       const char* place);

  /// Under the lock: a free block of the stream itself, else of another stream.
  [[nodiscard]] Block* take_anywhere(ArenaType& arena, bool small, std::size_t rounded) noexcept;

  /// Null when upstream has no room; other exceptions pass. A failure no longer counts for the limit.
  [[nodiscard]] void* ask_upstream(std::size_t bytes, std::size_t counted);

  /// Called after the release of a block that served its request alone. A block that a graph being recorded may use, or
  /// whose device fails, goes back with a later release or by `empty_cache`.
  void return_at_once() noexcept;

  void note_retry(std::size_t bytes);

  using Return = detail::SegmentReturn<Ledger, Arenas, U, Tracking>;
  [[nodiscard]] Return returning() { return {ledger_, arenas_, upstream_, tracking_}; }

  [[noreturn]] void refuse(std::size_t bytes);

  Ledger ledger_;
  Tracking tracking_;
  Limit limit_;
  std::string name_;
  U upstream_;
  Arenas arenas_;
  detail::Releaser<Pool> releaser_{*this};
};

template <MemorySource U, class... Policies> TWILL_COLD Pool<U, Policies...>::~Pool() {
  try {
    empty_cache();
  } catch (...) { // a device that failed: its memory is lost with it
  }
}

template <MemorySource U, class... Policies> void Pool<U, Policies...>::release(Block* block) noexcept {
  const std::size_t rounded = block->rounded;
  const void* address = block->address;
  ledger_.lock.lock();
  if constexpr (several_streams) {
    if (arenas_.has_users(*block)) {
      ledger_.lock.unlock();
      if (!arenas_.may_wait()) {
        block->keeper = &releaser_;
        return keep_back<Streams>(*block);
      }
      arenas_.fence_users(*block, ledger_.lock);
      ledger_.lock.lock();
    }
  }
  const bool alone = block->segment->alone;
  ledger_.heap.end(*block);
  if (several_streams || alone) {
    ledger_.heap.put(*block);
  } else {
    ledger_.put_back_recent();
    ledger_.recent = block;
  }
  const std::uint64_t sequence = ++ledger_.sequence;
  ledger_.lock.unlock();
  if (tracking_.listening()) tracking_.tell({MemoryEventKind::release, sequence, address, rounded, 0, nullptr});
  if (alone) [[unlikely]]
    return_at_once();
}

template <MemorySource U, class... Policies> std::size_t Pool<U, Policies...>::empty_cache() {
  if constexpr (several_streams) arenas_.settle(ledger_.heap, ledger_.lock);
  return returning().those([](const Segment&) { return true; });
}

template <MemorySource U, class... Policies>
Block* Pool<U, Policies...>::allocate_in(ArenaType& arena, std::size_t bytes) {
  if (bytes > largest_request) refuse(bytes);
  const std::size_t rounded = Sizes::round(bytes);
  const bool small = Sizes::is_small(rounded);
  [[maybe_unused]] bool has_other_users = several_streams; // of its memory, or it comes from their arena
  const char* const place = tracking_.listening() ? Place::current() : nullptr;
  ledger_.lock.lock();
  Block* block = ledger_.take_cached(arena, small, rounded);
  if (block != nullptr) [[likely]] {
    ledger_.start(*block, rounded, bytes, place);
    if constexpr (several_streams) has_other_users = block->stream_use != nullptr || block->home != &arena;
    ledger_.lock.unlock();
  } else {
    ledger_.lock.unlock();
    block = allocate_slowly(arena, bytes, rounded, small, place);
  }
  if constexpr (several_streams) {
    if (has_other_users) join(*block, arena);
  }
  if (tracking_.listening())
    tracking_.tell({MemoryEventKind::allocate, block->sequence, block->address, rounded, bytes, block->place});
  return block;
}

template <MemorySource U, class... Policies>
TWILL_COLD Block* Pool<U, Policies...>::allocate_slowly(ArenaType& arena, std::size_t bytes, std::size_t rounded,
                                                        bool small, const char* place) {
  SpareRecords spare{ledger_.heap, ledger_.lock};
  const bool alone = each_alone(upstream_);
  const std::size_t segment_bytes = alone ? rounded : Sizes::segment_bytes(rounded);
  spare.segment->alone = alone;
  spare.segment->upstream_bytes = alone ? std::max<std::size_t>(bytes, 1) : segment_bytes;
  if constexpr (several_streams) arenas_.drop_finished_fences(ledger_.heap, ledger_.lock);
  enum class Stage { fresh, after_returning_what_fits, after_returning_everything };
  for (const Stage stage : {Stage::fresh, Stage::after_returning_what_fits, Stage::after_returning_everything}) {
    if (stage != Stage::fresh && !arenas_.may_wait()) break;
    if (stage == Stage::after_returning_what_fits) {
      note_retry(segment_bytes);
      if (returning().what_fits(segment_bytes) == 0) continue;
    }
    if (stage == Stage::after_returning_everything && empty_cache() == 0 && !several_streams) continue;
    {
      std::lock_guard guard{ledger_.lock};
      if (spare.rest != nullptr) ledger_.heap.blocks.give_back(std::exchange(spare.rest, nullptr));
      ledger_.heap.blocks.prepare(1);
      ledger_.put_back_recent();
      if (Block* block = take_anywhere(arena, small, rounded)) {
        ledger_.start(*block, rounded, bytes, place);
        return block;
      }
      const auto reserved = static_cast<std::size_t>(ledger_.heap.counters.current(Quantity::reserved_bytes));
      const std::size_t limit = limit_.bytes();
      if (reserved + ledger_.asked_upstream > limit || segment_bytes > limit - reserved - ledger_.asked_upstream)
        continue;
      ledger_.asked_upstream += segment_bytes;
      spare.rest = ledger_.heap.blocks.take();
    }
    void* address = ask_upstream(spare.segment->upstream_bytes, segment_bytes);
    if (address == nullptr) continue;
    std::uint64_t sequence = 0;
    Block* block = nullptr;
    {
      std::lock_guard guard{ledger_.lock};
      sequence = ++ledger_.sequence;
      ledger_.asked_upstream -= segment_bytes;
      ledger_.heap.blocks.give_back(std::exchange(spare.rest, nullptr));
      block = ledger_.heap.add_segment(std::exchange(spare.segment, nullptr), std::exchange(spare.block, nullptr),
                                       address, segment_bytes, small, arena);
      ledger_.heap.cut(*block, rounded);
      ledger_.start(*block, rounded, bytes, place);
    }
    if (tracking_.listening())
      tracking_.tell({MemoryEventKind::reserve_segment, sequence, address, segment_bytes, 0, nullptr});
    return block;
  }
  refuse(bytes);
}

template <MemorySource U, class... Policies>
Block* Pool<U, Policies...>::take_anywhere(ArenaType& arena, bool small, std::size_t rounded) noexcept {
  if (Block* block = ledger_.heap.take(arena, small, rounded)) return block;
  if constexpr (several_streams) return arenas_.take_from_others(arena, ledger_.heap, small, rounded);
  return nullptr;
}

template <MemorySource U, class... Policies>
TWILL_COLD void* Pool<U, Policies...>::ask_upstream(std::size_t bytes, std::size_t counted) {
  try {
    return upstream_.allocate(bytes);
  } catch (const std::bad_alloc&) {
    ledger_.forget_asked(counted);
    return nullptr;
  } catch (...) {
    ledger_.forget_asked(counted);
    throw;
  }
}

template <MemorySource U, class... Policies> TWILL_COLD void Pool<U, Policies...>::return_at_once() noexcept {
  if (!arenas_.may_wait()) return;
  try {
    empty_cache();
  } catch (...) { // it stays, unused
  }
}

template <MemorySource U, class... Policies> TWILL_COLD void Pool<U, Policies...>::note_retry(std::size_t bytes) {
  const std::uint64_t sequence = ledger_.count_retry();
  if (tracking_.listening()) tracking_.tell({MemoryEventKind::retry, sequence, nullptr, bytes, 0, nullptr});
}

template <MemorySource U, class... Policies> TWILL_COLD void Pool<U, Policies...>::refuse(std::size_t bytes) {
  OutOfMemoryFigures figures{};
  figures.asked = bytes;
  figures.limit = limit_.bytes();
  std::uint64_t sequence = 0;
  {
    std::lock_guard guard{ledger_.lock};
    ++ledger_.refusals;
    sequence = ++ledger_.sequence;
    figures.allocated = static_cast<std::size_t>(ledger_.heap.counters.current(Quantity::allocated_bytes));
    figures.reserved = static_cast<std::size_t>(ledger_.heap.counters.current(Quantity::reserved_bytes));
    figures.cached = figures.reserved - static_cast<std::size_t>(ledger_.heap.counters.current(Quantity::active_bytes));
  }
  figures.free = upstream_.free_bytes();
  figures.total = upstream_.total_bytes();
  if (tracking_.listening())
    tracking_.tell({MemoryEventKind::out_of_memory, sequence, nullptr, bytes, bytes, Place::current()});
  throw OutOfMemoryError{name_, figures};
}

}}} // namespace twill::v0::memory
