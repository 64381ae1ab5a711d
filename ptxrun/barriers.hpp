#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Barriers of a block: lanes wait where they stand until all threads that live, or as many as the instruction names, have come.

#include "ptxrun/machine.hpp"

#include <cstdint>

namespace ptxrun {

void arrive(Warp& warp, const Instruction& instruction, std::uint32_t counter, std::uint32_t mask);
void arrive_without_waiting(Warp& warp, const Instruction& instruction, std::uint32_t mask);

/// Lets lanes go on whose barrier is complete. Where everyone waits and none is, that is a finding, and the launch ends.
void release_barriers(Block& block);

} // namespace ptxrun
