#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of device/gpu/runtime.hpp.

#include <twill/device/gpu/runtime.hpp>

namespace twill { inline namespace v0 {

TWILL_BODY PartialUpdateError::PartialUpdateError(const std::string& reason, int status, bool is_sticky)
    : GpuError{"step: stopped when it had begun to change weights, so some are new and others old; load a checkpoint "
               "(load_state_dict) before the next step: " +
                   reason,
               status, is_sticky} {}

}} // namespace twill::v0
