#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of profile/trace.hpp.

#include <twill/profile/trace.hpp>

namespace twill::inline v0::profile {

TWILL_BODY Peaks peaks_of(const Trace& trace, std::string_view device) {
  const auto kind = [](std::string_view name) { return name.substr(0, name.find(':')); };
  for (const Peaks& peaks : trace.peaks)
    if (peaks.device == device) return peaks;
  for (const Peaks& peaks : trace.peaks)
    if (kind(peaks.device) == kind(device)) return peaks;
  return {};
}

} // namespace twill::inline v0::profile
