#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Recording of a pool's events, for memory analysis: `memory::Recording recording{Cpu{0}}`. Each allocation is kept
// with the place that made it, so that `snapshot()` lists the owners of the memory now, and `timeline()` all changes.
// Memory allocated before the recording is known too, but not its places. It costs nothing before it begins and after
// it ends. Read next: profile/memory_places.hpp (tables), profile/memory_trace.hpp, profile/memory_page.hpp (pictures).

#include <twill/core/clock.hpp>
#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/core/list.hpp>
#include <twill/core/text.hpp>
#include <twill/memory/place.hpp>
#include <twill/memory/registry.hpp>
#include <twill/memory/snapshot.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <new>
#include <string>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace memory {

/// Limits of a recorder's memory.
struct RecordOptions {
  std::size_t most_events = std::size_t{1}
                            << 18; ///< of the time line; older ones are overwritten, about 100 bytes each
  int most_calls = 24; ///< kept of the calls that lead to an allocation; 0 for none, which saves some microseconds
};

/// An allocation in use.
struct Allocation {
  const void* address = nullptr;        ///< of the block
  std::size_t bytes = 0;                ///< as `memory_allocated` counts them
  std::size_t requested = 0;            ///< as asked
  std::uint64_t sequence = 0;           ///< counts all events of the recorder's pools
  double seconds = 0;                   ///< its time; for older allocations, the beginning of the recording
  const char* place = nullptr;          ///< the names of the program's work (memory/place.hpp), or null
  const CallStack* calls = nullptr;     ///< that led there, or null
  bool is_older_than_recording = false; ///< whether the block was there before the recording began
};

/// All memory that a pool holds at a moment.
struct MemorySnapshot {
  std::string pool{};                      ///< its name in messages
  double seconds = 0;                      ///< on the clock of `steady_seconds`
  std::vector<Allocation> allocations{};   ///< in the order in which they were made
  std::vector<SegmentSnapshot> segments{}; ///< as they were when the recording began
};

/// An event with its time, and the pool's memory after it.
struct TimedEvent {
  MemoryEvent event{};              ///< the place of a release is that of its allocation
  double seconds = 0;               ///< since the recording began
  const CallStack* calls = nullptr; ///< likewise
  std::int64_t allocated = 0;       ///< bytes in use after it
  std::int64_t reserved = 0;        ///< bytes held after it
};

/// The events of a pool, in order.
struct MemoryTimeline {
  std::string pool{};                ///< its name in messages
  double begin_seconds = 0;          ///< on the clock of traces
  double end_seconds = 0;            ///< on the clock of traces
  std::int64_t allocated_before = 0; ///< bytes in use before the first event
  std::int64_t reserved_before = 0;  ///< bytes held before the first event
  std::vector<Allocation> before{};  ///< allocations in use before the first event
  std::vector<TimedEvent> events{};  ///< in their order
  std::size_t overwritten = 0;       ///< events that happened before the first one kept
  std::size_t lost = 0;              ///< events for which the host had no memory
};

/// Keeps the events of one pool and its current allocations. `Recording` registers it.
class MemoryRecorder final : public MemoryObserver {
public:
  /// Keeps events from now on, the newest where there are more than the options allow.
  explicit MemoryRecorder(RecordOptions options = {});

  /// Keeps one event; called by the pool under its lock.
  TWILL_BODY void on_memory_event(const MemoryEvent& event) noexcept override;

  /// Takes over the pool's blocks at the beginning of the recording; later events have been passed already.
  void begin(const PoolSnapshot& snapshot);

  /// The current allocations, in the order in which they were made.
  [[nodiscard]] std::vector<Allocation> allocations() const;

  /// The events until now.
  [[nodiscard]] MemoryTimeline timeline() const;

private:
  [[nodiscard]] static std::int64_t allocated_by(const MemoryEvent& event);
  [[nodiscard]] static std::int64_t reserved_by(const MemoryEvent& event);
  static void sort_by_sequence(std::vector<Allocation>& allocations);

  /// Under the lock: adds the event to the allocations and to the time line.
  void enter(TimedEvent timed) noexcept;

  /// Steps from the memory after an event back to the memory before it.
  static void undo(MemoryTimeline& line, std::map<const void*, Allocation>& held, const TimedEvent& timed);

  RecordOptions options_;
  mutable std::mutex mutex_;
  std::map<const void*, Allocation> live_;
  std::vector<TimedEvent> events_;
  std::size_t seen_ = 0;
  std::size_t lost_ = 0;
  std::int64_t allocated_ = 0;
  std::int64_t reserved_ = 0;
  double begin_seconds_ = 0;
  std::uint64_t first_sequence_ = 0;
  bool is_begun_ = false;
};

/// A pool whose tracking policy has observers.
template <class P>
concept ObservedPool = requires(P& pool, MemoryObserver* observer) {
  { pool.tracking().set_observer(observer) } -> std::same_as<MemoryObserver*>;
};

/// Records the events of a pool while it is alive; a pool has one recording at a time.
template <ObservedPool PoolType> class Recording {
public:
  /// throws: ValueError when the pool has an observer already
  explicit Recording(PoolType& pool, RecordOptions options = {}) : pool_{&pool}, recorder_{options} {
    if (MemoryObserver* other = pool.tracking().set_observer(&recorder_)) {
      pool.tracking().set_observer(other);
      throw ValueError(join_text(
          {"recording: the memory of ", pool.name(), " is being recorded already; end that recording first"}));
    }
    try {
      recorder_.begin(numbered_snapshot(pool));
    } catch (...) {
      pool.tracking().set_observer(nullptr);
      throw;
    }
  }
  /// Records the pool of a device.
  template <DeviceName D>
  requires std::same_as<PoolFor<D>, PoolType>
  explicit Recording(const D& device, RecordOptions options = {}) : Recording(memory::pool(device), options) {}

  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;
  ~Recording() { pool_->tracking().set_observer(nullptr); }

  /// The current owners of the memory.
  [[nodiscard]] MemorySnapshot snapshot() const {
    return {pool_->name(), steady_seconds(), recorder_.allocations(), memory::snapshot(*pool_)};
  }
  /// The events until now.
  [[nodiscard]] MemoryTimeline timeline() const {
    MemoryTimeline line = recorder_.timeline();
    line.pool = pool_->name();
    return line;
  }

private:
  PoolType* pool_;
  MemoryRecorder recorder_;
};

namespace detail {
template <class D> struct RecordedPool {}; // so that no pool of a pool is looked up
template <DeviceName D> struct RecordedPool<D> { using type = PoolFor<D>; };
} // namespace detail

/// The recording type for the pool of a device.
template <class D>
explicit Recording(const D&, RecordOptions = {}) -> Recording<typename detail::RecordedPool<D>::type>;

}}} // namespace twill::v0::memory

#if TWILL_HEADER_ONLY
#include <twill/memory/recording.ipp>
#endif
