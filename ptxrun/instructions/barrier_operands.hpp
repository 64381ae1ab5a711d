#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Operands of barriers: which of a block's 16 barriers, for how many threads, and what becomes of predicates.

#include "ptxrun/lanes.hpp"
#include "ptxrun/machine.hpp"

#include <bit>
#include <cstdint>

namespace ptxrun {

/// Instruction::mode of a barrier; the predicate is the last source.
inline constexpr std::uint8_t votes_none = 0, votes_count = 1, votes_all = 2, votes_any = 3;

/// The first source.
[[nodiscard]] inline std::uint32_t barrier_number(Warp& warp, const Instruction& instruction, std::uint32_t mask) {
  return values<std::uint32_t>(warp, instruction.sources[0])[std::countr_zero(mask)] % 16;
}

/// The second source; 0 where all threads of the block take part.
[[nodiscard]] inline std::uint32_t barrier_threads(Warp& warp, const Instruction& instruction, std::uint32_t mask) {
  return instruction.counts ? values<std::uint32_t>(warp, instruction.sources[1])[std::countr_zero(mask)] : 0;
}

} // namespace ptxrun
