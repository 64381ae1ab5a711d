#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of device/gpu/timers.hpp.

#include <twill/device/gpu/timers.hpp>

namespace twill { inline namespace v0 { namespace gpu {

TWILL_BODY double Timer::seconds_since(const Timer& earlier) const {
  return calls_->seconds(device_, earlier.timer_, timer_);
}

}}} // namespace twill::v0::gpu
