#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// The loop over bound instructions on a host device. Instructions that share a launch are one pass of the team: each thread
// takes an equal share of all their elements, wherever it begins and ends. Elementwise results do not depend on where a
// range is cut. Read next: compile/executor.hpp.

#include <twill/compile/binding.hpp>
#include <twill/compile/program_type.hpp>
#include <twill/compile/ranges.hpp>
#include <twill/compile/run_descents.hpp>
#include <twill/compile/run_loops.hpp>
#include <twill/core/config.hpp>
#include <twill/device/cpu/team.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace twill::inline v0::compile::detail::inline TWILL_ISA {

/// Elements [begin, end) of one instruction over a row, in the calling thread.
void run_range(const Binding& binding, KernelFunction run, const BoundInstruction& instruction, std::int64_t begin,
               std::int64_t end);

/// Whether the threads of the team share the elements of the instructions of one launch.
[[nodiscard]] bool are_worth_a_team(const Team& team, std::span<const BoundInstruction> members);

/// Instructions of one launch, their elements counted through.
void run_joined(const Team& team, const Binding& binding, KernelFunction run,
                std::span<const BoundInstruction> members);

/// Instructions of one launch of which some are made inside a product.
void run_descending(const Team& team, const Binding& binding, KernelFunction run,
                    std::span<const BoundInstruction> members);

} // namespace twill::inline v0::compile::detail::inline TWILL_ISA

namespace twill::inline v0::compile::inline TWILL_ISA {

/// Runs a launch, which begins with this instruction.
void run_launch(const Team& team, const Binding& binding, const BoundInstruction* launch,
                std::span<const KernelFunction> kernels);

/// Runs the instructions from `begin` to before `end` once, loops as often as they have steps.
void run_instructions(const Team& team, Binding& binding, std::size_t begin, std::size_t end,
                      std::span<const KernelFunction> kernels);

/// The same for all instructions.
void run_instructions(const Team& team, Binding& binding, std::span<const KernelFunction> kernels);

} // namespace twill::inline v0::compile::inline TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/compile/run_joined.ipp>
#endif
