#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// What comes before the first run of a table that changes weights: the threads that will run it take the working memory that
// its programs need. When there is none the run ends there, with every weight as it was; in the midst of a step it would leave
// some weights updated and others not. Once for each binding and each thread that starts runs. Read next: compile/executor.hpp.

#include <twill/compile/bindings.hpp>
#include <twill/compile/program_type.hpp>
#include <twill/compile/table.hpp>
#include <twill/core/config.hpp>
#include <twill/device/cpu/team.hpp>
#include <twill/kernel/scratch.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace twill::inline v0::compile::detail::inline TWILL_ISA {

/// Whether some instruction writes what outlives the run.
[[nodiscard]] inline bool changes_parameters(const TableView& table) {
  return std::any_of(table.operands.begin(), table.operands.end(), [&](const OperandInfo& operand) {
    return operand.kind == OperandKind::memory && operand.writes &&
           table.values[static_cast<std::size_t>(operand.value)].storage == Storage::parameter;
  });
}

/// Whether a kernel is a program that reduces: those know what they need.
[[nodiscard]] inline bool can_rehearse(const TableView& table, const KernelInfo& kernel) {
  const std::span<const Line> lines =
      table.lines.subspan(static_cast<std::size_t>(kernel.first_line), static_cast<std::size_t>(kernel.line_count));
  return (kernel.kind == KernelKind::rows || kernel.kind == KernelKind::columns) &&
         std::any_of(lines.begin(), lines.end(), [](const Line& line) {
           return line.kind == LineKind::reduce || line.kind == LineKind::reduce_columns;
         });
}

TWILL_COLD inline void rehearse(const Team& team, const TableView& table, const Binding& binding,
                                std::span<const KernelFunction> kernels) {
  if (!changes_parameters(table)) return;
  const kernel::Rehearsal rehearsal{};
  for (const BoundInstruction& instruction : binding.instructions)
    if (instruction.collective == kernel::Collective::none && can_rehearse(table, table.kernels[instruction.kernel]))
      kernels[instruction.kernel](team, binding.call(instruction));
}

} // namespace twill::inline v0::compile::detail::inline TWILL_ISA

namespace twill::inline v0::compile::inline TWILL_ISA {

/// Lets the team and the calling thread take what a run of this binding needs, unless they have it.
/// throws: std::bad_alloc    cost: a comparison, when they have it
inline void take_working_memory(const Team& team, const TableView& table, Bound& bound,
                                std::span<const KernelFunction> kernels) {
  if (bound.rehearsed == kernel::Scratch::state_of_thread()) [[likely]]
    return;
  detail::rehearse(team, table, bound.numbers, kernels);
  bound.rehearsed = kernel::Scratch::state_of_thread();
}

} // namespace twill::inline v0::compile::inline TWILL_ISA
