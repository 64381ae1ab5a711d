#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Monotonic clock for rates, waits and reports. It calls the system's clock directly: <chrono> brings calendars, time
// zones and formatting into every file that includes it, which is a tenth of what a file may cost to compile.

#include <twill/core/config.hpp>

#include <ctime>

namespace twill { inline namespace v0 {

/// Seconds since a fixed moment; they never run backwards. Only differences have a meaning.
/// cost: some 20 ns
[[nodiscard]] double steady_seconds();

}} // namespace twill::v0

#if TWILL_HEADER_ONLY
#include <twill/core/clock.ipp>
#endif
