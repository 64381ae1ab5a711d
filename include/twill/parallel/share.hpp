#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Who works on which elements of a reduction: rank r of n reduces the r-th of n nearly equal ranges, from all ranks' sources
// and into all targets, so that every element is reduced once and no rank does more than another. `transfer_of` counts
// what that and the copying operations move. The ranges do not change results, only who computes them.

#include <twill/core/config.hpp>
#include <twill/parallel/call_check.hpp>
#include <twill/parallel/traffic.hpp>

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
[[nodiscard]] inline Transfer transfer_of(const Call& call, int rank, int size) {
  const Signature shape = signature_of(call, size);
  const auto width = static_cast<std::int64_t>(size_of(shape.dtype));
  const std::int64_t part = shape.count * width;
  const std::int64_t own = share_of(shape.count, rank, size).count() * width;
  const std::int64_t others = size - 1;
  const bool is_root = rank == call.peer;
  switch (call.operation) {
  case Operation::all_reduce: // the others' shares go out and mine come in; then my result goes out and theirs come in
    return {1, part - own + own * others, own * others + part - own};
  case Operation::reduce:
    return {1, part - own + (is_root ? 0 : own), own * others + (is_root ? part - own : 0)};
  case Operation::reduce_scatter:
  case Operation::all_gather:
  case Operation::all_to_all:
    return {1, part * others, part * others};
  case Operation::gather:
    return {1, is_root ? 0 : part, is_root ? part * others : 0};
  case Operation::broadcast:
  case Operation::scatter:
    return {1, is_root ? part * others : 0, is_root ? 0 : part};
  case Operation::send:
    return {1, part, 0};
  case Operation::receive:
    return {1, 0, part};
  default:
    return {1, 0, 0};
  }
}

} // namespace twill::inline v0::parallel::detail::inline TWILL_ISA
