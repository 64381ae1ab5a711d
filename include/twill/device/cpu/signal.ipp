#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of device/cpu/signal.hpp.

#include <twill/device/cpu/signal.hpp>

namespace twill { inline namespace v0 { namespace cpu {

TWILL_BODY void spin_pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

TWILL_BODY void Signal::notify() noexcept {
  changes_.fetch_add(1, std::memory_order_seq_cst);
  // Either this sees the sleeper, or the sleeper, which counts itself first, sees the change: all four are sequential.
  if (sleepers_.load(std::memory_order_seq_cst) != 0) wake_all();
}

TWILL_BODY void Signal::rouse() noexcept {
  rousings_.fetch_add(1, std::memory_order_relaxed);
  notify();
}

TWILL_BODY void Signal::sleep_while(std::uint32_t seen) noexcept {
  syscall(SYS_futex, &changes_, FUTEX_WAIT_PRIVATE, seen, nullptr, nullptr, 0);
}

}}} // namespace twill::v0::cpu
