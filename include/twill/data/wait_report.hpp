#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Who waited for whom between those that make batches and the one that uses them. Consumers that wait want more workers, or
// cheaper samples; workers that wait are faster than the consumer, as it should be. Read next: data/prefetch.hpp.

#include <twill/core/config.hpp>

#include <cstdint>
#include <cstdio>
#include <string>

namespace twill::inline v0::data::inline TWILL_ISA {

/// How long a consumer was held up, and over how much work.
struct WaitReport {
  std::int64_t items = 0;        ///< Handed over; of a loader, batches.
  std::int64_t bytes = 0;        ///< Of a loader: of their elements.
  std::int64_t late_items = 0;   ///< Those that were not ready when they were asked for; without workers, all.
  double waited_seconds = 0;     ///< The consumer stood still for an item; of a loader, copies to its device included.
  double elapsed_seconds = 0;    ///< From the first request to the end, or to now.
  int workers = 0;               ///< 0: the consumer makes the items itself.
  std::int64_t worker_waits = 0; ///< How often a worker was as far ahead as it may be.
  double workers_waited_seconds = 0; ///< All workers together, for that.

  /// The share of the time that was lost to waiting, 0 to 1.
  [[nodiscard]] double share() const { return elapsed_seconds > 0 ? waited_seconds / elapsed_seconds : 0; }
};

/// One line: "8 batches of 3.1 MB, 2 of them late: waited 0.20 s of 1.31 s (15.3%); 3 workers waited 2.90 s".
[[nodiscard]] std::string to_string(const WaitReport& report);

} // namespace twill::inline v0::data::inline TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/data/wait_report.ipp>
#endif
