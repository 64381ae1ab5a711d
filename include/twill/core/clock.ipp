#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of core/clock.hpp.

#include <twill/core/clock.hpp>

namespace twill { inline namespace v0 {

TWILL_BODY double steady_seconds() {
  std::timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

}} // namespace twill::v0
