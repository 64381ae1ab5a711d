#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// The questions that users ask about a device's memory, under the names they have in `torch.cuda`. All figures are bytes of
// the device's pool; requests count rounded up, so three scalars count 1536. Read next: memory/summary.hpp.

#include <twill/memory/registry.hpp>

#include <cstddef>
#include <cstdint>

namespace twill { inline namespace v0 {

/// Bytes in use by tensors.
template <class D> [[nodiscard]] std::int64_t memory_allocated(const D& device) {
  return memory::pool(device).current(memory::Quantity::allocated_bytes);
}

/// The largest value of `memory_allocated` since the last reset.
template <class D> [[nodiscard]] std::int64_t max_memory_allocated(const D& device) {
  return memory::pool(device).peak(memory::Quantity::allocated_bytes);
}

/// Bytes that the pool holds, in use or cached.
template <class D> [[nodiscard]] std::int64_t memory_reserved(const D& device) {
  return memory::pool(device).current(memory::Quantity::reserved_bytes);
}

/// The largest value of `memory_reserved` since the last reset.
template <class D> [[nodiscard]] std::int64_t max_memory_reserved(const D& device) {
  return memory::pool(device).peak(memory::Quantity::reserved_bytes);
}

/// Returns what nothing uses to the device, after waiting for its queued work; tells how many bytes.
template <class D> std::size_t empty_cache(const D& device) { return memory::pool(device).empty_cache(); }

/// All peaks start again from the current values.
template <class D> void reset_peak_memory_stats(const D& device) { memory::pool(device).reset_peaks(); }

/// Every quantity by class of size, with current value, peak, and totals.
template <class D> [[nodiscard]] memory::MemoryStats memory_stats(const D& device) {
  return memory::pool(device).stats();
}

/// The pool will reserve at most that many bytes; `memory::no_limit` lifts the limit.
template <class D> void set_memory_limit(const D& device, std::size_t bytes) {
  memory::pool(device).limit().set(bytes);
}

/// The memory of the whole device, whoever uses it.
struct DeviceMemory {
  std::size_t total = 0;   ///< bytes of the device
  std::size_t used = 0;    ///< bytes in use, by any process
  std::size_t free = 0;    ///< bytes in use by none
  std::size_t context = 0; ///< of what is used, the driver's own for this process; 0 where it has none, or is not known
  std::size_t working = 0; ///< the same of twill's kernels and of libraries, beside the pool; 0 on hosts
};

/// Asks the driver, or the operating system for host devices.
template <class D> [[nodiscard]] DeviceMemory device_memory(const D& device) {
  auto& upstream = memory::pool(device).upstream();
  const std::size_t total = upstream.total_bytes();
  const std::size_t free = upstream.free_bytes();
  DeviceMemory memory{total, total >= free ? total - free : 0, free};
  if constexpr (requires { upstream.context_bytes(); }) memory.context = upstream.context_bytes();
  if constexpr (requires { upstream.working_bytes(); }) memory.working = upstream.working_bytes();
  return memory;
}

}} // namespace twill::v0
