#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Tracking policies of a pool: the observers of its allocations. The default has a hook that costs one load while no
// observer is set. An observer is called after the pool's lock is released, so it may use the pool itself; events of
// different threads can therefore arrive out of order, and `sequence` restores it. Read next: memory/recording.hpp.

#include <twill/core/config.hpp>

#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <sched.h>

namespace twill { inline namespace v0 { namespace memory {

/// The kinds of events in a pool.
enum class MemoryEventKind : std::uint8_t { allocate, release, reserve_segment, return_segment, retry, out_of_memory };

/// The name used in snapshots.
[[nodiscard]] constexpr std::string_view name(MemoryEventKind kind) {
  constexpr std::string_view names[] = {"allocate",       "release", "reserve_segment",
                                        "return_segment", "retry",   "out_of_memory"};
  return names[static_cast<std::size_t>(kind)];
}

/// An event in a pool.
struct MemoryEvent {
  MemoryEventKind kind = MemoryEventKind::allocate; ///< what happened
  std::uint64_t sequence = 0;                       ///< counts the events of the pool
  const void* address = nullptr;                    ///< of the block or segment
  std::size_t bytes = 0;                            ///< rounded request, or segment
  std::size_t requested = 0;                        ///< as asked; allocations and failures only
  const char* place = nullptr; ///< the place that made the allocation (memory/place.hpp), or null; kept forever
};

/// Receives the events of a pool; has to outlive its registration, and be callable from any thread.
class MemoryObserver {
public:
  /// Called under the pool's lock: must neither throw nor allocate from the pool.
  virtual void on_memory_event(const MemoryEvent& event) noexcept = 0;

protected:
  ~MemoryObserver() = default;
};

/// The kind tag by which `Pool` finds a tracking policy among its arguments.
struct TrackingPolicyKind {};

/// The observer of a pool's events, or none.
template <class P>
concept TrackingPolicy = std::same_as<typename P::policy_kind, TrackingPolicyKind> &&
    requires(P& tracking, const MemoryEvent& event) {
  { tracking.listening() } -> std::same_as<bool>;
  tracking.tell(event);
};

/// No observers, at no cost.
struct Untracked {
  using policy_kind = TrackingPolicyKind;
  /// False: there is no observer.
  [[nodiscard]] static constexpr bool listening() noexcept { return false; }
  /// Does nothing.
  static void tell(const MemoryEvent& event) noexcept { static_cast<void>(event); }
};

/// One observer at a time. The default.
class Tracked {
public:
  using policy_kind = TrackingPolicyKind;

  /// Whether an observer is set, so that an event is worth making.
  [[nodiscard]] bool listening() const noexcept { return observer_.load(std::memory_order_relaxed) != nullptr; }

  /// Passes the event to the observer.
  void tell(const MemoryEvent& event) noexcept;

  /// Replaces the observer and returns the previous one, which receives no further calls; null switches tracking off.
  /// Observers must not call it.
  MemoryObserver* set_observer(MemoryObserver* observer) noexcept;

private:
  std::atomic<MemoryObserver*> observer_{nullptr};
  std::atomic<int> calls_{0};
};

}}} // namespace twill::v0::memory

#if TWILL_HEADER_ONLY
#include <twill/memory/tracking.ipp>
#endif
