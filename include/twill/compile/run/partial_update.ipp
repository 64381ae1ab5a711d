#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of compile/run/partial_update.hpp.

#include <twill/compile/run/launch.hpp>
#include <twill/compile/run/partial_update.hpp>

namespace twill { inline namespace v0 { namespace compile { namespace detail { inline namespace TWILL_ISA {

TWILL_BODY std::size_t first_update(const TableView& table, const Binding& binding) {
  const std::size_t count = binding.instructions.size();
  for (std::size_t i = 0, end = 0; i < count; i = end) {
    end = i + binding.instructions[i].members;
    if (!changes_parameters(table, i, end)) continue;
    for (const BoundLoop& loop : binding.loops)
      if (loop.first <= i && i < loop.end) return loop.first;
    return i;
  }
  return count;
}

TWILL_BODY bool changes_parameters(const TableView& table, std::size_t begin, std::size_t end) {
  const auto changes = [&](const OperandBinding& operand) {
    return operand.kind == OperandKind::memory && operand.writes &&
           table.values[static_cast<std::size_t>(operand.value)].storage == Storage::parameter;
  };
  return std::any_of(
      table.instructions.begin() + static_cast<std::ptrdiff_t>(begin),
      table.instructions.begin() + static_cast<std::ptrdiff_t>(end), [&](const Instruction& instruction) {
        const auto operands = table.operands.subspan(static_cast<std::size_t>(instruction.first_operand),
                                                     static_cast<std::size_t>(instruction.operand_count));
        return std::any_of(operands.begin(), operands.end(), changes);
      });
}

TWILL_BODY bool changes_parameters(const TableView& table) {
  return changes_parameters(table, 0, table.instructions.size());
}

TWILL_COLD TWILL_BODY void reserve_working_memory(const Team& team, const TableView& table, const Binding& binding,
                                                  std::span<const KernelFunction> kernels, int slot) {
  for (std::size_t i = 0; i < binding.instructions.size(); ++i) {
    const BoundInstruction& instruction = binding.instructions[i];
    const Instruction& info = table.instructions[i];
    if (info.slot != slot || info.moves || instruction.collective != kernel::Collective::none) continue;
    kernels[instruction.kernel].reserve(team, binding.launch_of(instruction));
    if (are_worth_a_team(team, {&instruction, instruction.members}) || instruction.part == FusedSgdPart::updates)
      team.parallel([](int, int) {});
  }
}

}}}}} // namespace twill::v0::compile::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace compile { inline namespace TWILL_ISA {

TWILL_BODY void reserve_working_memory(const Team& team, const TableView& table, Bound& bound,
                                       std::span<const KernelFunction> kernels) {
  if (bound.reserved == kernel::Scratch::state_of_thread()) [[likely]]
    return;
  if (detail::changes_parameters(table)) detail::reserve_working_memory(team, table, bound.numbers, kernels, 0);
  bound.reserved = kernel::Scratch::state_of_thread();
}

}}}} // namespace twill::v0::compile::TWILL_ISA
