#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of memory/counters.hpp.

#include <twill/memory/counters.hpp>

namespace twill { inline namespace v0 { namespace memory {

TWILL_BODY std::int64_t Counters::current(Quantity quantity) const noexcept {
  const auto q = static_cast<std::size_t>(quantity);
  return rows_[0].current[q] + rows_[1].current[q];
}

TWILL_BODY std::int64_t Counters::peak(Quantity quantity) const noexcept {
  return peak_of_both_[static_cast<std::size_t>(quantity)];
}

TWILL_BODY void Counters::reset_peaks() noexcept {
  for (Row& row : rows_) row.peak = row.current;
  for (std::size_t q = 0; q < quantities; ++q) peak_of_both_[q] = rows_[0].current[q] + rows_[1].current[q];
}

TWILL_BODY MemoryStats Counters::stats() const noexcept {
  MemoryStats stats{};
  stats.small = view(rows_[0]);
  stats.large = view(rows_[1]);
  Row both{};
  for (std::size_t q = 0; q < quantities; ++q) {
    both.current[q] = rows_[0].current[q] + rows_[1].current[q];
    both.allocated[q] = rows_[0].allocated[q] + rows_[1].allocated[q];
  }
  both.peak = peak_of_both_;
  stats.all = view(both);
  return stats;
}

TWILL_BODY ClassStats Counters::view(const Row& row) noexcept {
  const auto counter = [&](Quantity quantity) {
    const auto q = static_cast<std::size_t>(quantity);
    return Counter{row.current[q], row.peak[q], row.allocated[q], row.allocated[q] - row.current[q]};
  };
  using enum Quantity;
  return {counter(allocation), counter(allocated_bytes), counter(requested_bytes), counter(active_bytes),
          counter(segment),    counter(reserved_bytes),  counter(inactive_split),  counter(inactive_split_bytes)};
}

}}} // namespace twill::v0::memory
