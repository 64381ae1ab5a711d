#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Thrust's execution policy of a host device, `thrust::sort(on(Cpu{0}), begin(x), end(x))`: one source serves hosts
// and, with algorithms/on.cuh, CUDA. Not in the umbrella: it needs Thrust, from the CUDA toolkit or libthrust-dev.

#include <twill/core/config.hpp>
#include <twill/device/cpu/cpu.hpp>

#include <thrust/system/cpp/execution_policy.h>

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

/// Thrust's execution policy for a device.
[[nodiscard]] inline const auto& on(Cpu) { return ::thrust::cpp::par; }

}}} // namespace twill::v0::TWILL_ISA
