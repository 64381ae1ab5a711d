#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of kernel/scratch.hpp.

#include <twill/kernel/scratch.hpp>

namespace twill { inline namespace v0 { namespace kernel {

TWILL_BODY std::uint64_t Scratch::state_of_workers() {
  return std::uint64_t{std::numeric_limits<std::uint32_t>::max()} << 32 | losses();
}

TWILL_BODY std::uint32_t Scratch::losses() {
  return losses_.load(std::memory_order_relaxed) + cpu::replaced_plans.load(std::memory_order_relaxed);
}

TWILL_COLD TWILL_BODY void Scratch::grow(std::size_t capacity) {
  memory_.reset(); // before the larger one is made, so that the two never exist together
  capacity_bytes_ = 0;
  try {
    memory_.reset(taken(capacity));
  } catch (const std::bad_alloc&) {
    losses_.fetch_add(1, std::memory_order_relaxed);
#ifdef __GLIBC__
    ::malloc_trim(0); // returns memory that the C library keeps unused to the system before a request is given up
#endif
    memory_.reset(taken(capacity));
  }
  capacity_bytes_ = capacity;
}

TWILL_BODY std::byte* Scratch::taken(std::size_t bytes) {
  return static_cast<std::byte*>(::operator new (bytes, std::align_val_t{alignment}));
}

}}} // namespace twill::v0::kernel
