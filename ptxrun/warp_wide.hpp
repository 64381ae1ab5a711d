#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Warp-wide instructions, such as `shfl.sync` and `bar.warp.sync`: they wait until all lanes that their mask names have come.

#include "ptxrun/machine.hpp"

#include <cstdint>

namespace ptxrun {

/// Executes the instruction at `counter` where all named lanes are in `mask`; otherwise lets the lanes wait and returns false.
bool execute_warp_wide(Warp& warp, const Instruction& instruction, std::uint32_t counter, std::uint32_t mask);

/// All lanes wait, and those that are missing cannot come: a finding. Lanes that stand at instructions of one kind go on together.
void release_incomplete(Warp& warp);

} // namespace ptxrun
