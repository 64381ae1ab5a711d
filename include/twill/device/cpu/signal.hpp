#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Waiting between twill's threads: a short spin, because the next kernel is usually a few microseconds away, then sleep
// in the kernel, so that an idle thread costs nothing. Between two rounds of spinning the thread yields, so that a
// waiting thread never keeps the one it waits for off their common core. It calls the kernel's futex directly: the code
// that std::atomic::wait adds is compiled again in every file. Read next: device/cpu/team.hpp.

#include <twill/core/config.hpp>

#include <atomic>
#include <climits>
#include <cstdint>

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace twill { inline namespace v0 { namespace cpu {

/// Tells the core that this is a spin loop.
void spin_pause();

/// Wakes threads that wait for a condition over atomic variables.
class Signal {
public:
  static constexpr double spin_s = 30e-6; ///< about the time for which a thread spins

  /// Returns once `ready()` is true. It reads atomics with acquire; the thread that makes it true then calls `notify`.
  template <class Ready> void wait_until(Ready ready) {
    for (std::uint32_t roused = rousings_.load(std::memory_order_relaxed);;) {
      for (int round = 0; round < spin_rounds; ++round) {
        for (int i = 0; i < pauses_per_round; ++i) {
          if (ready()) return;
          spin_pause();
        }
        sched_yield();
      }
      sleepers_.fetch_add(1, std::memory_order_seq_cst);
      bool is_ready = false;
      for (;;) {
        const std::uint32_t seen = changes_.load(std::memory_order_seq_cst);
        is_ready = ready();
        if (is_ready || rousings_.load(std::memory_order_relaxed) != roused) break;
        sleep_while(seen);
      }
      sleepers_.fetch_sub(1, std::memory_order_relaxed);
      if (is_ready) return;
      roused = rousings_.load(std::memory_order_relaxed);
    }
  }

  /// Wakes every waiting thread to test its condition again. cost: a few ns when no thread sleeps
  void notify() noexcept;

  /// Wakes every waiting thread to spin once more: its condition is soon true.
  void rouse() noexcept;

  /// Whether a waiting thread sleeps.
  [[nodiscard]] bool has_sleepers() const { return sleepers_.load(std::memory_order_relaxed) != 0; }

private:
  static_assert(sizeof(std::atomic<std::uint32_t>) == sizeof(std::uint32_t), "twill: a futex is a plain word");

  /// Sleeps unless `changes_` differs from `seen` already. May return early.
  void sleep_while(std::uint32_t seen) noexcept;
  void wake_all() noexcept { syscall(SYS_futex, &changes_, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0); }

  // Short rounds matter when several threads share a core: a waiting thread yields at once.
  static constexpr int spin_rounds = 64;
  static constexpr int pauses_per_round = 16;

  std::atomic<std::uint32_t> changes_{0};
  std::atomic<std::uint32_t> rousings_{0};
  std::atomic<int> sleepers_{0};
};

}}} // namespace twill::v0::cpu

#if TWILL_HEADER_ONLY
#include <twill/device/cpu/signal.ipp>
#endif
