#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Memory statistics of a device, under the names that they have in `torch.cuda`. All figures are bytes of the device's
// pool; requests count rounded up, so three scalars count 1536. Read next: memory/summary.hpp.

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

/// Returns unused memory to the device, after waiting for its queued work; returns the number of bytes.
template <class D> std::size_t empty_cache(const D& device) { return memory::pool(device).empty_cache(); }

/// Resets all peaks to the current values.
template <class D> void reset_peak_memory_stats(const D& device) { memory::pool(device).reset_peaks(); }

/// Every quantity by size class, with current value, peak, and totals.
template <class D> [[nodiscard]] memory::MemoryStats memory_stats(const D& device) {
  return memory::pool(device).stats();
}

/// Limits the bytes that the pool may reserve; `memory::no_limit` lifts the limit.
template <class D> void set_memory_limit(const D& device, std::size_t bytes) {
  memory::pool(device).limit().set(bytes);
}

/// The memory of the whole device, for all its users.
struct DeviceMemory {
  std::size_t total = 0;   ///< bytes of the device
  std::size_t used = 0;    ///< bytes in use, by any process
  std::size_t free = 0;    ///< bytes not in use
  std::size_t context = 0; ///< of the used bytes, the driver's own for this process; 0 where none or unknown
  std::size_t working = 0; ///< used by twill's kernels and by libraries, outside the pool; 0 on hosts
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
