#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Places of registers: live intervals share the memory of a warp's registers, so that it stays in the host's cache.

#include "ptxrun/kernel.hpp"
#include "ptxrun/names.hpp"

namespace ptxrun {

/// Turns the numbers of registers in operands into offsets; fills Kernel::specials and Kernel::register_bytes.
void assign_registers(Kernel& kernel, const Names& names);

} // namespace ptxrun
