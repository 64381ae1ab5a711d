#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// The time that has passed, for rates, waits and reports. The system's monotonic clock is asked directly: <chrono> brings
// calendars, time zones and formatting into every file that includes it, which is a tenth of what a file may cost to compile.

#include <twill/core/config.hpp>

#include <ctime>

namespace twill { inline namespace v0 {

/// Seconds since some fixed moment; they never run backwards. Only differences mean anything.
/// cost: some 20 ns
[[nodiscard]] double steady_seconds();

}} // namespace twill::v0

#if TWILL_HEADER_ONLY
#include <twill/core/clock.ipp>
#endif
