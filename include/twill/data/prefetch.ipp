#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of data/prefetch.hpp.

#include <twill/data/prefetch.hpp>

namespace twill { inline namespace v0 { namespace data { inline namespace TWILL_ISA {

TWILL_BODY std::string to_string(const WaitReport& report) {
  char line[240];
  std::snprintf(
      line, sizeof(line),
      "%lld batches of %.1f MB, %lld of them late: waited %.2f s of %.2f s (%.1f%%); %d workers waited %.2f s",
      static_cast<long long>(report.items), static_cast<double>(report.bytes) / 1e6,
      static_cast<long long>(report.late_items), report.waited_seconds, report.elapsed_seconds, 100 * report.share(),
      report.workers, report.workers_waited_seconds);
  return line;
}

}}}} // namespace twill::v0::data::TWILL_ISA
