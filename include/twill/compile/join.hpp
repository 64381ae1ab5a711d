#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Launches that follow each other, run the same elementwise kernel and do not need each other's results share one launch
// over all of their elements: the updates of all weights are one pass. From the instructions then follows how long each
// value lives. Read next: compile/lower.hpp.

#include <twill/compile/table.hpp>

#include <cstddef>

namespace twill::inline v0::compile {

/// A launch is shared only by kernels of so few operands: a share of it is described on a thread's stack.
inline constexpr int most_joined_operands = 16;

namespace detail {

/// True where no value that either instruction writes is touched by the other.
[[nodiscard]] constexpr bool independent(const Lowered& table, const Instruction& a, const Instruction& b) {
  for (int i = 0; i < a.operand_count; ++i) {
    const OperandInfo& left = table.operands[static_cast<std::size_t>(a.first_operand + i)];
    if (left.kind != OperandKind::memory) continue;
    for (int k = 0; k < b.operand_count; ++k) {
      const OperandInfo& right = table.operands[static_cast<std::size_t>(b.first_operand + k)];
      if (right.kind == OperandKind::memory && right.value == left.value && (left.writes || right.writes)) return false;
    }
  }
  return true;
}

/// Random draws count the elements of a launch; such launches stay alone.
[[nodiscard]] constexpr bool counts_positions(const Lowered& table, const Instruction& instruction) {
  for (int i = 0; i < instruction.operand_count; ++i)
    if (table.operands[static_cast<std::size_t>(instruction.first_operand + i)].kind == OperandKind::position)
      return true;
  return false;
}

} // namespace detail

/// Marks the instructions that continue the launch of the one before them.
constexpr void join_launches(Lowered& table) {
  constexpr std::size_t most_members = 256;
  std::size_t first = 0; // of the launch under way
  for (std::size_t i = 1; i < table.instructions.size(); ++i) {
    Instruction& instruction = table.instructions[i];
    bool joins = instruction.kernel == table.instructions[first].kernel && i - first < most_members &&
                 table.kernels[static_cast<std::size_t>(instruction.kernel)].kind == KernelKind::elementwise &&
                 instruction.operand_count <= most_joined_operands && !detail::counts_positions(table, instruction);
    for (std::size_t member = first; member < i && joins; ++member)
      joins = detail::independent(table, table.instructions[member], instruction);
    instruction.continues = joins;
    if (!joins) first = i;
  }
}

/// The first and the last instruction that touch each value; the members of one launch run at the same time.
constexpr void find_uses(Lowered& table) {
  std::size_t first = 0;
  for (std::size_t i = 0; i < table.instructions.size(); ++i) {
    const Instruction& instruction = table.instructions[i];
    if (!instruction.continues) first = i;
    std::size_t last = i;
    while (last + 1 < table.instructions.size() && table.instructions[last + 1].continues) ++last;
    for (int k = 0; k < instruction.operand_count; ++k) {
      const OperandInfo& operand = table.operands[static_cast<std::size_t>(instruction.first_operand + k)];
      if (operand.kind != OperandKind::memory) continue;
      ValueInfo& value = table.values[static_cast<std::size_t>(operand.value)];
      if (value.first_use < 0) value.first_use = static_cast<int>(first);
      value.last_use = static_cast<int>(last);
    }
  }
}

} // namespace twill::inline v0::compile
