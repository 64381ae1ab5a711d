#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Fragmentation of a pool: the share of its memory that cannot be used, because free blocks are too small for the
// requests (external) or because used blocks are larger than requested (internal). Read next: memory/summary.hpp.

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

#if TWILL_HEADER_ONLY
#include <twill/memory/fragmentation.ipp>
#endif
