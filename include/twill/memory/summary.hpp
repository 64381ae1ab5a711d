#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// The statistics of a device's memory as a table to print, and how fragmented it is. Who holds it: memory/recording.hpp.

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

/// The table of `memory_summary` from figures, so that it can be made for a pool of any kind.
[[nodiscard]] std::string summary_table(std::string_view device, const MemoryStats& stats, const DeviceMemory& whole);

/// The lines of `memory_summary` about what is held in vain.
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
