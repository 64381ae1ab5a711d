#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// What the benchmarks of all-reduce share: sizes, numbers of a rank, and their sums.

#include "bench/support/check.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace bench {

constexpr std::int64_t all_reduce_bytes[] = {1 << 10, 1 << 16, 1 << 20, 1 << 24};

/// What a rank gives: whole numbers, so that sums are exact in any order.
inline std::vector<float> rank_numbers(std::int64_t count, int rank) {
  std::vector<float> values(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i)
    values[static_cast<std::size_t>(i)] = static_cast<float>((i * 7 + rank * 13) % 101);
  return values;
}

/// Ends the program unless these are the sums over so many ranks.
inline void require_sums(const std::vector<float>& found, int ranks, const char* who) {
  const auto count = static_cast<std::int64_t>(found.size());
  std::vector<float> expected(found.size());
  for (int rank = 0; rank < ranks; ++rank) {
    const std::vector<float> own = rank_numbers(count, rank);
    for (std::size_t i = 0; i < own.size(); ++i) expected[i] += own[i];
  }
  require_close(found, expected, 0, who);
}

} // namespace bench
