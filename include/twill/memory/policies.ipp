#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of memory/policies.hpp.

#include <twill/memory/policies.hpp>

namespace twill { inline namespace v0 { namespace memory {

TWILL_BODY void SpinLock::lock() noexcept {
  while (taken_.exchange(true, std::memory_order_acquire)) wait();
}

TWILL_COLD TWILL_BODY void SpinLock::wait() noexcept {
  for (int spins = 0; taken_.load(std::memory_order_relaxed); ++spins)
    if (spins >= 64) sched_yield();
}

}}} // namespace twill::v0::memory
