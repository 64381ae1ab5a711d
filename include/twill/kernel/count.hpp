#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Counters of the elements that each operand of a program loads and stores, in builds that define TWILL_COUNT_ACCESS;
// other builds count nothing. Tests prove with it that a fused program passes over each operand once. All files of a
// counting executable have to define the macro. Read next: kernel/tail.hpp.

#include <twill/core/config.hpp>
#include <twill/kernel/table.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace twill { inline namespace v0 { namespace kernel {

#if defined(TWILL_COUNT_ACCESS)
constexpr bool counts_access = true;
#else
constexpr bool counts_access = false;
#endif

/// Elements loaded from and stored to each operand, since the last `clear`.
struct AccessCounts {
  static constexpr std::size_t max_operands = kernel::max_operands;
  std::array<std::atomic<std::int64_t>, max_operands> loads{};
  std::array<std::atomic<std::int64_t>, max_operands> stores{};
  std::array<std::atomic<std::int64_t>, max_operands> reloads{}; ///< those of the loads that find a row in the cache

  void clear();
};

/// The counts of the process.
[[nodiscard]] inline AccessCounts& access_counts() {
  static AccessCounts counts;
  return counts;
}

}}} // namespace twill::v0::kernel

#if TWILL_HEADER_ONLY
#include <twill/kernel/count.ipp>
#endif
