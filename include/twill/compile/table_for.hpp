#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Table of a source as a device runs it: made by the compiler, or in quick builds on host devices at its first use.
// Both have `view()`, `kernels<TeamType>()` and `sizes`, of which only the trace's part (inputs, outputs, slots, taps)
// is known in both. Constants, such as a plan in a static_assert, need `Compiled`. Read next: compile/run/executor.hpp.

#include <twill/compile/program_type.hpp>
#include <twill/compile/quick.hpp>
#include <twill/core/config.hpp>
#include <twill/device/device.hpp>

#include <type_traits>

namespace twill { inline namespace v0 { namespace compile { inline namespace TWILL_ISA {

/// The table of a source for a kind of device.
template <Source S, ComputeDevice D>
using TableFor = std::conditional_t<TWILL_IS_QUICK && HostDevice<D>, Quick<S>, Compiled<S>>;

}}}} // namespace twill::v0::compile::TWILL_ISA
