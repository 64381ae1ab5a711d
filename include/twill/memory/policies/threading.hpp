#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Threading policies of a pool: the lock that guards its lists and counters. It is held for some nanoseconds and never
// across a call of a driver or of a user's hook, so a spinning lock that yields is the default; a mutex and no lock are
// the alternatives.

#include <twill/core/config.hpp>

#include <atomic>
#include <concepts>
#include <mutex>

#include <sched.h>

namespace twill { inline namespace v0 { namespace memory {

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

}}} // namespace twill::v0::memory

#if TWILL_HEADER_ONLY
#include <twill/memory/policies/threading.ipp>
#endif
