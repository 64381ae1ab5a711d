#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Policies of a pool: limit, threads, streams and source of its memory, in any order among the arguments of `Pool`.
// Reaching the limit is treated like an upstream without memory: cached segments are returned, the request is tried
// again, and then refused with an error. The lock is held for some nanoseconds and never across a call of a driver or
// of a user's hook, so a spinning lock that yields is the default. Work on one stream is ordered, so a released block
// goes back to its own stream at once; with several streams a block that changes hands is fenced by events, on which
// the taker's stream waits on the device, and never the host. Read next: memory/size_classes.hpp, memory/tracking.hpp,
// memory/pool.hpp.

#include <twill/core/config.hpp>
#include <twill/device/device.hpp>

#include <atomic>
#include <concepts>
#include <cstddef>
#include <limits>
#include <mutex>
#include <type_traits>

#include <sched.h>

namespace twill { inline namespace v0 { namespace memory {

/// The kind tag by which `Pool` finds a limit policy among its arguments.
struct LimitPolicyKind {};

/// How many bytes a pool may reserve.
template <class P>
concept LimitPolicy = std::same_as<typename P::policy_kind, LimitPolicyKind> && requires(const P& limit) {
  { limit.bytes() } -> std::same_as<std::size_t>;
};

/// The value for no limit.
inline constexpr std::size_t no_limit = std::numeric_limits<std::size_t>::max();

/// No limit: all that upstream can give.
struct Unlimited {
  using policy_kind = LimitPolicyKind;
  /// Most bytes that the pool may reserve.
  [[nodiscard]] static constexpr std::size_t bytes() { return no_limit; }
};

/// At most that many bytes, a fixed part of the type.
template <std::size_t Bytes> struct FixedLimit {
  using policy_kind = LimitPolicyKind;
  [[nodiscard]] static constexpr std::size_t bytes() { return Bytes; }
};

/// A limit that the program sets, with no limit at first. The default.
class AdjustableLimit {
public:
  using policy_kind = LimitPolicyKind;
  /// Most bytes that the pool may reserve now.
  [[nodiscard]] std::size_t bytes() const { return bytes_.load(std::memory_order_relaxed); }
  /// Sets the most bytes that the pool may reserve; the memory that it holds already stays.
  void set(std::size_t bytes) { bytes_.store(bytes, std::memory_order_relaxed); }

private:
  std::atomic<std::size_t> bytes_{no_limit};
};

/// The kind tag by which `Pool` finds a threading policy among its arguments.
struct ThreadingPolicyKind {};

/// How a pool is shared by threads: a lock, or none.
template <class P>
concept ThreadingPolicy = std::same_as<typename P::policy_kind, ThreadingPolicyKind> &&
    requires(typename P::Lock& lock) {
  lock.lock();
  lock.unlock();
};

/// A lock of one atomic exchange; waits by spinning, then by giving up its time slice.
class SpinLock {
public:
  /// Waits in a loop, since it is held for less than a microsecond.
  void lock() noexcept;
  /// Releases the lock for the next thread.
  void unlock() noexcept { taken_.store(false, std::memory_order_release); }

private:
  void wait() noexcept;

  std::atomic<bool> taken_{false};
};

/// Any thread may allocate and release. The default.
struct SharedBySpinning {
  using policy_kind = ThreadingPolicyKind;
  using Lock = SpinLock;
};

/// Any thread may allocate and release; waiting threads sleep. For pools whose threads far outnumber the cores.
struct SharedByMutex {
  using policy_kind = ThreadingPolicyKind;
  using Lock = std::mutex;
};

/// One thread uses the pool, or the caller locks.
struct Unshared {
  using policy_kind = ThreadingPolicyKind;
  /// No lock: the pool belongs to one thread.
  struct Lock {
    /// Returns at once.
    void lock() noexcept {}
    /// Returns at once.
    void unlock() noexcept {}
  };
};

/// The kind tag by which `Pool` finds a stream policy among its arguments.
struct StreamPolicyKind {};

/// All work is in one order. `synchronize` waits for all of it, before memory is returned to upstream.
template <class P>
concept StreamPolicy = std::same_as<typename P::policy_kind, StreamPolicyKind> && requires(P& policy) {
  { P::several } -> std::convertible_to<bool>;
  typename P::Stream;
  policy.synchronize();
};

/// Work is ordered in each of several streams, and events order the streams. Events are cheap to copy.
template <class P>
concept SeveralStreams = StreamPolicy<P> && P::several && std::equality_comparable<typename P::Stream> &&
    std::copyable<typename P::Event> && requires(P& policy, typename P::Stream stream, const typename P::Event& event) {
  { policy.default_stream() } -> std::same_as<typename P::Stream>;
  { policy.record(stream) } -> std::same_as<typename P::Event>; // all work queued until now
  policy.wait(stream, event);                                   // later work of the stream
  { policy.done(event) } -> std::same_as<bool>;
  policy.wait_on_host(event);
};

/// Stands for the only stream.
struct TheStream {
  friend constexpr bool operator==(TheStream, TheStream) { return true; }
};

/// Work is done when its call returns, as on a host without queues.
struct ImmediateStream {
  using policy_kind = StreamPolicyKind;
  using Stream = TheStream;
  static constexpr bool several = false; ///< whether blocks remember streams
  /// Returns at once: memory is free when it is released.
  static void synchronize() {}
};

namespace detail {
/// Outside the class, because in it `synchronize` would not find the device's overload.
template <class D> void synchronize_device(const D& device) { synchronize(device); }
} // namespace detail

/// The one stream of a device.
template <class D> struct DeviceStream {
  using policy_kind = StreamPolicyKind;
  using Stream = TheStream;
  static constexpr bool several = false; ///< whether blocks remember streams
  D device{};                            ///< its queue uses the memory
  /// Waits for all work of the device.
  void synchronize() const { detail::synchronize_device(device); }
};

/// Whether the pool serves each request alone: by an allocation of exactly its bytes, which goes back to upstream when
/// it is released. For memory checkers, which know where an allocation of upstream ends but not the pool's blocks. An
/// upstream that needs it has a member `each_alone()`; the answer never changes once memory was allocated.
template <MemorySource U> [[nodiscard]] bool each_alone(const U& upstream) {
  if constexpr (requires { upstream.each_alone(); }) {
    return upstream.each_alone();
  } else {
    return false;
  }
}

namespace detail {

template <class Kind, class Default, class First = void, class... Rest> [[nodiscard]] consteval auto pick() {
  if constexpr (std::is_void_v<First>)
    return std::type_identity<Default>{};
  else if constexpr (std::same_as<typename First::policy_kind, Kind>)
    return std::type_identity<First>{};
  else
    return pick<Kind, Default, Rest...>();
}

template <class Kind, class... Policies>
inline constexpr int count_of_kind = (0 + ... + (std::same_as<typename Policies::policy_kind, Kind> ? 1 : 0));

} // namespace detail

/// Whether no two policies are of the same kind.
template <class... Policies>
inline constexpr bool one_of_each_kind = (... &&
                                          (detail::count_of_kind<typename Policies::policy_kind, Policies...> == 1));

/// The first policy of that kind, or the default.
template <class Kind, class Default, class... Policies>
using pick_policy = typename decltype(detail::pick<Kind, Default, Policies...>())::type;

}}} // namespace twill::v0::memory

#if TWILL_HEADER_ONLY
#include <twill/memory/policies.ipp>
#endif
