#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Counters of a pool. Every quantity has a current value, a peak since the last reset, and the totals that were added
// and removed; each is kept for small requests, for large ones, and for both. The pool updates `Counters` on its fast
// path; users read `MemoryStats`. Read next: memory/statistics.hpp.

#include <twill/core/config.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace twill { inline namespace v0 { namespace memory {

/// One quantity over time.
struct Counter {
  std::int64_t current = 0;   ///< now
  std::int64_t peak = 0;      ///< at most, since `reset_peak_memory_stats`
  std::int64_t allocated = 0; ///< the total ever added
  std::int64_t freed = 0;     ///< the total ever removed
  friend bool operator==(const Counter&, const Counter&) = default;
};

/// The quantities of one class of sizes.
struct ClassStats {
  Counter allocation;           ///< requests being served
  Counter allocated_bytes;      ///< their sizes, rounded
  Counter requested_bytes;      ///< their sizes, as requested
  Counter active_bytes;         ///< the blocks that serve them, with remainders too small to cut off
  Counter segment;              ///< allocations from upstream
  Counter reserved_bytes;       ///< their sizes
  Counter inactive_split;       ///< free blocks that share their segment with others, so cannot be returned
  Counter inactive_split_bytes; ///< their sizes
};

/// All counters of a pool.
struct MemoryStats {
  ClassStats all;                 ///< both
  ClassStats small;               ///< of requests up to 1 MiB
  ClassStats large;               ///< of larger requests
  std::int64_t retries = 0;       ///< requests that were tried again after returning cached memory
  std::int64_t out_of_memory = 0; ///< requests that were refused
};

/// The quantities in the order of `ClassStats`.
enum class Quantity : std::uint8_t {
  allocation,
  allocated_bytes,
  requested_bytes,
  active_bytes,
  segment,
  reserved_bytes,
  inactive_split,
  inactive_split_bytes,
};

class Counters {
public:
  void add(bool small, Quantity quantity, std::size_t amount) noexcept {
    const auto q = static_cast<std::size_t>(quantity);
    Row& row = rows_[small ? 0 : 1];
    const auto value = static_cast<std::int64_t>(amount);
    row.current[q] += value;
    row.allocated[q] += value;
    // branches rather than maxima: new peaks are rare, and stores delay the next exchange of the lock
    if (row.current[q] > row.peak[q]) [[unlikely]]
      row.peak[q] = row.current[q];
    const std::int64_t both = rows_[0].current[q] + rows_[1].current[q];
    if (both > peak_of_both_[q]) [[unlikely]]
      peak_of_both_[q] = both;
  }

  void subtract(bool small, Quantity quantity, std::size_t amount) noexcept {
    rows_[small ? 0 : 1].current[static_cast<std::size_t>(quantity)] -= static_cast<std::int64_t>(amount);
  }

  [[nodiscard]] std::int64_t current(Quantity quantity) const noexcept;

  [[nodiscard]] std::int64_t peak(Quantity quantity) const noexcept;

  void reset_peaks() noexcept;

  [[nodiscard]] MemoryStats stats() const noexcept;

private:
  static constexpr std::size_t quantities = 8;
  using Values = std::array<std::int64_t, quantities>;
  struct Row {
    Values current{};
    Values peak{};
    Values allocated{};
  };

  [[nodiscard]] static ClassStats view(const Row& row) noexcept;

  std::array<Row, 2> rows_{};
  Values peak_of_both_{}; // of the sums: the sum of the peaks would be too large
};

}}} // namespace twill::v0::memory

#if TWILL_HEADER_ONLY
#include <twill/memory/counters.ipp>
#endif
