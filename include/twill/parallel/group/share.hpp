#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Who works on which elements of a reduction: rank r of n reduces the r-th of n nearly equal ranges, from all ranks' sources
// and into all targets, so that every element is reduced once and no rank does more than another. `transfer_of` counts
// what that and the copying operations move. The ranges do not change results, only who computes them.

#include <twill/core/config.hpp>
#include <twill/parallel/group/call_check.hpp>
#include <twill/parallel/group/traffic.hpp>

#include <cstddef>
#include <cstdint>

namespace twill::inline v0::parallel::detail::inline TWILL_ISA {

/// Elements [begin, end).
struct Portion {
  std::int64_t begin = 0;
  std::int64_t end = 0;

  [[nodiscard]] constexpr std::int64_t count() const { return end - begin; }
};

/// A rank's range of `count` elements. Ranges end on multiples of 64, so that no two ranks write to one cache line.
[[nodiscard]] constexpr Portion share_of(std::int64_t count, int rank, int size) {
  const std::int64_t blocks = (count + 63) / 64;
  return {blocks * rank / size * 64, rank + 1 == size ? count : blocks * (rank + 1) / size * 64};
}

/// What a call makes a rank send to its peers and receive from them.
[[nodiscard]] Transfer transfer_of(const Call& call, int rank, int size);

} // namespace twill::inline v0::parallel::detail::inline TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/parallel/group/share.ipp>
#endif
