#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// How much of what a pool holds cannot be used: free blocks that are too small for what is asked (external), and bytes of used
// blocks that nobody asked for (internal). Read next: memory/summary.hpp.

#include <twill/core/config.hpp>
#include <twill/memory/snapshot.hpp>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace twill { inline namespace v0 { namespace memory {

/// The figures of a pool at a moment, in bytes.
struct Fragmentation {
  std::size_t reserved = 0;        ///< bytes of all segments
  std::size_t used = 0;            ///< by blocks that serve requests, remainders included
  std::size_t requested = 0;       ///< of these, what was asked for
  std::size_t free = 0;            ///< reserved and not used
  std::size_t free_blocks = 0;     ///< blocks that nothing uses, in any segment
  std::size_t largest_free = 0;    ///< what one request could get without asking the device for more
  std::size_t largest_request = 0; ///< of those being served
  std::size_t too_small = 0;       ///< free, in blocks that could not serve it
  std::size_t returnable = 0;      ///< free, in segments of which nothing is used: what `empty_cache` gives back

  /// The share of the free bytes that the largest possible request cannot have: 0 in one piece, near 1 in crumbs.
  [[nodiscard]] double external() const { return free == 0 ? 0 : 1 - share(largest_free, free); }
  /// The share of the free bytes that could not serve another request as large as the largest.
  [[nodiscard]] double unusable() const { return share(too_small, free); }
  /// The share of the used bytes that nobody asked for.
  [[nodiscard]] double internal() const { return share(used - requested, used); }

private:
  [[nodiscard]] static double share(std::size_t part, std::size_t whole);
};

/// How much of these segments is free but cannot serve one large request.
[[nodiscard]] Fragmentation fragmentation(const std::vector<SegmentSnapshot>& segments);

}}} // namespace twill::v0::memory

#if TWILL_HEADER_ONLY
#include <twill/memory/fragmentation.ipp>
#endif
