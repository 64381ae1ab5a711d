#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Table of a device's memory statistics, for printing, and its fragmentation. Read next: memory/recording.hpp (owners).

#include <twill/core/config.hpp>
#include <twill/core/text.hpp>
#include <twill/memory/fragmentation.hpp>
#include <twill/memory/statistics.hpp>

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace twill { inline namespace v0 {

namespace memory {

/// The table of `memory_summary` for given figures, so that it works for a pool of any kind.
[[nodiscard]] std::string summary_table(std::string_view device, const MemoryStats& stats, const DeviceMemory& whole);

/// The lines of `memory_summary` about memory that cannot be used.
[[nodiscard]] std::string fragmentation_text(const Fragmentation& figures);

} // namespace memory

/// The statistics of a device's pool as a table, and its fragmentation.
template <class D> [[nodiscard]] std::string memory_summary(const D& device) {
  return memory::summary_table(to_string(device), memory_stats(device), device_memory(device)) +
         memory::fragmentation_text(memory::fragmentation(memory::snapshot(memory::pool(device))));
}

}} // namespace twill::v0

#if TWILL_HEADER_ONLY
#include <twill/memory/summary.ipp>
#endif
