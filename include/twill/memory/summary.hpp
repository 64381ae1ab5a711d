#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Table of a device's memory statistics, for printing, and fragmentation of its pool: the share of memory that cannot
// be used, because free blocks are too small for the requests (external) or because used blocks are larger than
// requested (internal). Read next: memory/recording.hpp (owners).

#include <twill/core/config.hpp>
#include <twill/core/text.hpp>
#include <twill/memory/snapshot.hpp>
#include <twill/memory/statistics.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace twill { inline namespace v0 { namespace memory {

/// The figures of a pool at a moment, in bytes.
struct Fragmentation {
  std::size_t reserved = 0;        ///< bytes of all segments
  std::size_t used = 0;            ///< by blocks that serve requests, remainders included
  std::size_t requested = 0;       ///< the requested part of these
  std::size_t free = 0;            ///< reserved and not used
  std::size_t free_blocks = 0;     ///< blocks that nothing uses, in any segment
  std::size_t largest_free = 0;    ///< the largest request that is possible without more memory from the device
  std::size_t largest_request = 0; ///< among the requests being served
  std::size_t too_small = 0;       ///< free, in blocks that could not serve the largest request
  std::size_t returnable = 0;      ///< free, in segments without used blocks: the amount that `empty_cache` gives back

  /// The share of the free bytes that the largest possible request cannot have: 0 in one piece, near 1 in tiny pieces.
  [[nodiscard]] double external() const { return free == 0 ? 0 : 1 - share(largest_free, free); }
  /// The share of the free bytes that could not serve another request as large as the largest.
  [[nodiscard]] double unusable() const { return share(too_small, free); }
  /// The share of the used bytes that was not requested.
  [[nodiscard]] double internal() const { return share(used - requested, used); }

private:
  [[nodiscard]] static double share(std::size_t part, std::size_t whole);
};

/// The bytes of these segments that are free but cannot serve one large request.
[[nodiscard]] Fragmentation fragmentation(const std::vector<SegmentSnapshot>& segments);

}}} // namespace twill::v0::memory

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
