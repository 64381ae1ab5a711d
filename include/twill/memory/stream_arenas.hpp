#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Arenas of free blocks, one for each stream that a pool serves, and the fences between them. A free block is in the
// arena of its home stream, which may take it without waiting. A fence is an event that a taker has to wait for:
// recorded when a block is released that other streams have used, and when another stream takes it. A fenced block
// neither merges nor splits until its fences are done. Lent blocks are in no arena; only the streams that use them are
// known. With one stream all of this vanishes. Read next: memory/pool.hpp.

#include <twill/memory/detail/stream_use.hpp>
#include <twill/memory/heap.hpp>
#include <twill/memory/policies.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include <sched.h>

namespace twill { inline namespace v0 { namespace memory {

template <SizePolicy Sizes, StreamPolicy Streams> struct StreamArena : Arena<Sizes> {
  typename Streams::Stream stream{};
};

/// Arenas for one stream.
template <SizePolicy Sizes, StreamPolicy Streams, class Lock> class StreamArenas {
public:
  explicit StreamArenas(Streams streams) : streams_{std::move(streams)} {}
  [[nodiscard]] Streams& streams() { return streams_; }
  [[nodiscard]] StreamArena<Sizes, Streams>& main() { return main_; }
  [[nodiscard]] StreamArena<Sizes, Streams>& current(Lock&) { return main_; }
  [[nodiscard]] static bool may_wait() { return true; }
  [[nodiscard]] static bool may_return(const Block&) { return true; }

private:
  Streams streams_;
  StreamArena<Sizes, Streams> main_;
};

/// Arenas for several streams. Functions that take the lock expect it to be free.
template <SizePolicy Sizes, SeveralStreams Streams, class Lock> class StreamArenas<Sizes, Streams, Lock> {
public:
  using Stream = typename Streams::Stream;
  using Event = typename Streams::Event;
  using ArenaType = StreamArena<Sizes, Streams>;

  explicit StreamArenas(Streams streams) : streams_{std::move(streams)} {
    arenas_.push_back(std::make_unique<ArenaType>());
    arenas_.front()->stream = streams_.default_stream();
  }

  [[nodiscard]] Streams& streams() { return streams_; }
  [[nodiscard]] ArenaType& main() { return *arenas_.front(); }

  /// The arena of the stream that the calling thread works on.
  [[nodiscard]] ArenaType& current(Lock& lock) {
    if constexpr (requires { streams_.current_stream(); }) {
      const Stream stream = streams_.current_stream();
      if (!(stream == main().stream)) [[unlikely]]
        return of(stream, lock);
    }
    return main();
  }

  /// Whether the caller may wait for the device now.
  [[nodiscard]] bool may_wait() const {
    if constexpr (requires { streams_.may_wait(); }) return streams_.may_wait();
    return true;
  }

  /// Whether a free block may go back to upstream: not while its arena is reserved for one owner.
  [[nodiscard]] bool may_return(const Block& block) const {
    return may_share(static_cast<const ArenaType&>(*block.home), *arenas_.front());
  }

  /// The arena of a stream, made at first use.
  [[nodiscard]] ArenaType& of(Stream stream, Lock& lock) {
    {
      std::lock_guard guard{lock};
      if (ArenaType* arena = find(stream)) return *arena;
    }
    auto fresh = std::make_unique<ArenaType>(); // large, so not made under the lock
    fresh->stream = stream;
    std::lock_guard guard{lock};
    if (ArenaType* arena = find(stream)) return *arena;
    arenas_.push_back(std::move(fresh));
    return *arenas_.back();
  }

  /// Under the lock: the first free block in another stream's arena that fits.
  [[nodiscard]] Block* take_from_others(const ArenaType& arena, Heap<Sizes>& heap, bool small, std::size_t rounded) {
    for (const auto& other : arenas_)
      if (other.get() != &arena && may_share(*other, arena))
        if (Block* block = heap.take(*other, small, rounded)) return block;
    return nullptr;
  }

  /// Makes the arena's stream wait for all earlier users of the block, and moves the block there. A thread that forgets
  /// its home meanwhile adds a fence, which is waited for as well. When an event fails the block keeps its fences and
  /// its home, and may be released.
  void join(Block& block, ArenaType& arena, Lock& lock) {
    std::size_t waited = 0; // of the block's fences
    for (bool is_first = true;; is_first = false) {
      Hold home{holds_, lock};
      std::vector<Event> fences{};
      {
        std::lock_guard guard{lock};
        if (const Use* use = Use::of(block))
          fences.assign(use->fences.begin() + static_cast<std::ptrdiff_t>(waited), use->fences.end());
        if (is_first && block.home != &arena) {
          home.begin(static_cast<ArenaType*>(block.home)->stream);
        } else if (fences.empty()) {
          Use::drop(block);
          block.home = &arena;
          return;
        }
      }
      if (home.has_begun()) streams_.wait(arena.stream, streams_.record(home.stream()));
      for (const Event& fence : fences)
        if (!streams_.done(fence)) streams_.wait(arena.stream, fence);
      waited += fences.size();
    }
  }

  void record_stream(Block& block, Stream stream, Lock& lock) {
    std::lock_guard guard{lock};
    if (block.home != nullptr && static_cast<ArenaType*>(block.home)->stream == stream) return;
    if (block.home == nullptr && block.stream_use == nullptr) {
      lent_.push_back(&block);
      try {
        static_cast<void>(Use::make(block));
      } catch (...) {
        lent_.pop_back();
        throw;
      }
    }
    Use& use = Use::make(block);
    if (std::find(use.users.begin(), use.users.end(), stream) != use.users.end()) return;
    use.users.push_back(stream);
    use.fences.reserve(use.fences.size() + use.users.size() + 1);
  }

  /// Under the lock: whether the block was used by a stream that is not its home.
  [[nodiscard]] static bool has_users(const Block& block) {
    return block.stream_use != nullptr && !Use::of(block)->users.empty();
  }

  /// Replaces the users of a block that is being released by events. Without an event the host waits instead.
  void fence_users(Block& block, Lock& lock) noexcept {
    take_users(block, lock, [&](const Stream& user) {
      try {
        Event event = streams_.record(user);
        std::lock_guard guard{lock};
        Use::of(block)->fences.push_back(std::move(event)); // capacity: record_stream
      } catch (...) {
        wait_for(user);
      }
    });
    std::lock_guard guard{lock};
    if (Use::of(block)->fences.empty()) Use::drop(block);
  }

  /// For a block outside all arenas: waits for the work of all streams that use it. requires: may_wait()
  void finish_users(Block& block, Lock& lock) noexcept {
    take_users(block, lock, [&](const Stream& user) {
      try {
        streams_.wait_on_host(streams_.record(user));
      } catch (...) {
        wait_for(user);
      }
    });
    std::vector<Event> fences{};
    {
      std::lock_guard guard{lock};
      fences.swap(Use::of(block)->fences);
      std::erase(lent_, &block);
      Use::drop(block);
    }
    for (const Event& fence : fences) {
      try {
        streams_.wait_on_host(fence);
      } catch (...) {
        wait_for_everything();
      }
    }
  }

  /// Called before the stream is destroyed: fences its blocks by the work queued now, makes the default stream their
  /// home, and waits until no thread records on it.
  void forget(Stream stream, Heap<Sizes>& heap, Lock& lock) {
    if (stream == main().stream) return;
    forget(stream, streams_.record(stream), heap, lock);
  }

  /// Forgets all streams that a predicate selects.
  template <class Predicate> void forget_all(Predicate agrees, const Event& last, Heap<Sizes>& heap, Lock& lock) {
    std::vector<Stream> dead;
    {
      std::lock_guard guard{lock};
      dead.reserve(arenas_.size());
      for (const auto& arena : arenas_)
        if (agrees(arena->stream)) dead.push_back(arena->stream);
    }
    for (const Stream& stream : dead) forget(stream, last, heap, lock);
  }

  /// Forgets a stream after an event; an event that has passed leaves no fence, however many streams come and go.
  void forget(Stream stream, const Event& last, Heap<Sizes>& heap, Lock& lock) {
    const bool has_passed = is_done(last);
    std::unique_ptr<ArenaType> dead;
    std::unique_lock guard{lock};
    ArenaType* arena = find(stream);
    const auto concerned = [&](const Block& block) {
      if (arena != nullptr && block.home == arena) return true;
      if (block.stream_use == nullptr) return false;
      const auto& users = Use::of(block)->users;
      return std::find(users.begin(), users.end(), stream) != users.end();
    };
    for_each_known(heap, [&](Block& block) { // all steps that can fail come first
      if (has_passed || !concerned(block)) return;
      Use& use = Use::make(block);
      use.fences.reserve(use.fences.size() + use.users.size() + 2);
    });
    for_each_known(heap, [&](Block& block) {
      if (!concerned(block)) return;
      if (Use* const use = Use::of(block)) {
        std::erase(use->users, stream);
        if (!has_passed) use->fences.push_back(last);
      }
      if (arena == nullptr || block.home != arena) return;
      const bool listed = block.free;
      if (listed) heap.unlist(block);
      block.home = &main();
      if (listed) heap.put(block);
    });
    while (holds_.has(stream)) { // no thread begins to hold it any more, since no block knows it
      guard.unlock();
      sched_yield();
      guard.lock();
    }
    const auto position =
        std::find_if(arenas_.begin(), arenas_.end(), [&](auto& other) { return other.get() == arena; });
    if (position == arenas_.end()) return;
    dead = std::move(*position);
    arenas_.erase(position);
  }

  /// Frees the blocks of fences that are done, so that they merge again.
  void drop_finished_fences(Heap<Sizes>& heap, Lock& lock) {
    Taken taken{heap, lock};
    taken.take([](const Block& block) { return block.stream_use != nullptr; });
    for (Block* block : taken.blocks) {
      std::vector<Event> fences = fences_of(*block, lock);
      const auto asked = static_cast<std::ptrdiff_t>(fences.size()); // forgetting a stream adds more after them
      std::erase_if(fences, [&](const Event& fence) { return streams_.done(fence); });
      std::lock_guard guard{lock};
      auto& all = Use::of(*block)->fences;
      all.erase(std::move(fences.begin(), fences.end(), all.begin()), all.begin() + asked);
      if (all.empty()) Use::drop(*block);
    }
  }

  /// Waits for all streams and gathers every free block, without fences, in the default stream's arena.
  void settle(Heap<Sizes>& heap, Lock& lock) {
    Taken taken{heap, lock};
    taken.take([&](const Block& block) {
      return (block.stream_use != nullptr || block.home != &main()) && may_return(block);
    });
    if (taken.blocks.empty()) return;
    streams_.synchronize();
    for (Block* block : taken.blocks) {
      for (const Event& fence : fences_of(*block, lock)) streams_.wait_on_host(fence);
      std::lock_guard guard{lock};
      Use::drop(*block); // with the fences of streams that were forgotten meanwhile: their work was waited for
      block->home = &main();
    }
  }

private:
  [[nodiscard]] bool may_share(const ArenaType& left, const ArenaType& right) const {
    if constexpr (requires { streams_.may_share(left.stream, right.stream); })
      return streams_.may_share(left.stream, right.stream);
    return true;
  }

  using Use = detail::StreamUse<Stream, Event>;
  using Holds = detail::StreamHolds<Stream, Lock>;
  using Hold = typename Holds::Hold;
  using Taken = detail::TakenBlocks<Sizes, Lock>;

  /// A copy, because a thread that forgets a stream adds to the fences of every block.
  [[nodiscard]] static std::vector<Event> fences_of(const Block& block, Lock& lock) {
    std::lock_guard guard{lock};
    const Use* const use = Use::of(block);
    return use == nullptr ? std::vector<Event>{} : use->fences;
  }

  /// Whether an event has certainly passed; unknown, so false, if the device fails.
  [[nodiscard]] bool is_done(const Event& event) const noexcept {
    try {
      return streams_.done(event);
    } catch (...) {
      return false;
    }
  }

  /// Calls f(stream) for each user of a block and removes that user; no stream is forgotten before f has returned.
  template <class F> void take_users(Block& block, Lock& lock, F f) noexcept {
    for (;;) {
      Hold hold{holds_, lock};
      {
        std::lock_guard guard{lock};
        auto& users = Use::of(block)->users;
        if (users.empty()) return;
        hold.begin(users.front());
        users.erase(users.begin());
      }
      f(hold.stream());
    }
  }

  [[nodiscard]] ArenaType* find(const Stream& stream) {
    for (const auto& arena : arenas_)
      if (arena->stream == stream) return arena.get();
    return nullptr;
  }

  /// Calls f(block) for every block, lent ones included.
  template <class F> void for_each_known(Heap<Sizes>& heap, F f) {
    detail::for_each_block(heap, f);
    for (Block* block : lent_) f(*block);
  }

  /// For a stream whose work cannot be marked: waits for all of it, also where only the block knows the stream.
  void wait_for(const Stream& stream) noexcept {
    if constexpr (requires { streams_.synchronize(stream); }) try {
        return streams_.synchronize(stream);
      } catch (...) { // then waits for all known streams
      }
    wait_for_everything();
  }

  void wait_for_everything() noexcept {
    try {
      streams_.synchronize();
    } catch (...) { // a failed device runs nothing any more
    }
  }

  Streams streams_;
  std::vector<std::unique_ptr<ArenaType>> arenas_; ///< the default stream's first
  Holds holds_{};
  std::vector<Block*> lent_{}; ///< lent blocks that streams use
};

}}} // namespace twill::v0::memory
