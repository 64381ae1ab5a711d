#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Shared launches: consecutive launches that run the same elementwise kernel and do not need each other's results share
// one launch over all of their elements, so the updates of all weights are one pass. The lifetime of each value follows
// from the instructions. Read next: compile/passes/lower.hpp.

#include <twill/compile/table.hpp>
#include <twill/core/config.hpp>

#include <cstddef>

namespace twill { inline namespace v0 { namespace compile { inline namespace TWILL_ISA {

/// The most operands of a kernel that shares launches: a share is described on a thread's stack.
inline constexpr int most_joined_operands = 16;
/// The most instructions that share a launch.
inline constexpr std::size_t most_joined_launches = 256;

}}}} // namespace twill::v0::compile::TWILL_ISA

namespace twill { inline namespace v0 { namespace compile { namespace detail { inline namespace TWILL_ISA {

/// The values that the current launch reads and writes.
class LaunchUses {
public:
  constexpr explicit LaunchUses(std::size_t values) : read_in_(values, -1), written_in_(values, -1) {}

  constexpr void start_launch() { ++launch_; }

  /// True where the launch writes nothing that the instruction touches and touches nothing that it writes. Random draws
  /// count the elements of a launch; such instructions stay alone.
  [[nodiscard]] TWILL_CONSTEXPR bool admits(const Lowered& table, const Instruction& instruction) const {
    const OperandBinding* operand = table.operands.data() + instruction.first_operand;
    for (const OperandBinding* const end = operand + instruction.operand_count; operand != end; ++operand) {
      if (operand->kind == OperandKind::position) return false;
      if (operand->kind != OperandKind::memory) continue;
      if (written_in_.items[operand->value] == launch_) return false;
      if (operand->writes && read_in_.items[operand->value] == launch_) return false;
    }
    return true;
  }
  TWILL_CONSTEXPR void note(const Lowered& table, const Instruction& instruction) {
    const OperandBinding* operand = table.operands.data() + instruction.first_operand;
    for (const OperandBinding* const end = operand + instruction.operand_count; operand != end; ++operand)
      if (operand->kind == OperandKind::memory)
        (operand->writes ? written_in_ : read_in_).items[operand->value] = launch_;
  }

private:
  List<int> read_in_; ///< for each value the last launch
  List<int> written_in_;
  int launch_ = 0;
};

}}}}} // namespace twill::v0::compile::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace compile { inline namespace TWILL_ISA {

/// Marks the instructions that continue the launch of the one before them.
TWILL_CONSTEXPR void join_launches(Lowered& table) {
  detail::LaunchUses uses{table.values.size()};
  std::size_t first = 0; // of the current launch
  for (std::size_t i = 0; i < table.instructions.size(); ++i) {
    Instruction& instruction = table.instructions[i];
    instruction.continues = i > 0 && instruction.loop == table.instructions[first].loop &&
                            instruction.kernel == table.instructions[first].kernel &&
                            instruction.slot == table.instructions[first].slot && i - first < most_joined_launches &&
                            table.kernels.items[instruction.kernel].kind == KernelKind::elementwise &&
                            instruction.operand_count <= most_joined_operands && uses.admits(table, instruction);
    if (!instruction.continues) {
      first = i;
      uses.start_launch();
    }
    uses.note(table, instruction);
  }
}

/// The first and the last instruction that touch each value; the members of one launch run at the same time.
TWILL_CONSTEXPR void find_uses(Lowered& table) {
  std::size_t first = 0; // and last instruction of the current launch
  std::size_t last = 0;
  for (std::size_t i = 0; i < table.instructions.size(); ++i) {
    const Instruction& instruction = table.instructions[i];
    if (!instruction.continues) {
      first = last = i;
      while (last + 1 < table.instructions.size() && table.instructions[last + 1].continues) ++last;
    }
    for (int k = 0; k < instruction.operand_count; ++k) {
      const OperandBinding& operand = table.operands.items[instruction.first_operand + k];
      if (operand.kind != OperandKind::memory) continue;
      ValueInfo& value = table.values.items[operand.value];
      if (value.first_use < 0) value.first_use = static_cast<int>(first);
      value.last_use = static_cast<int>(last);
    }
  }
  // Values that live before, after or across the steps of a loop live through all of it.
  for (const LoopRegion& loop : table.loops)
    for (ValueInfo& value : table.values) {
      const bool is_outside = value.first_use < loop.first || value.last_use > loop.last;
      if (value.first_use < 0 || !is_outside || value.last_use < loop.first || value.first_use > loop.last) continue;
      if (value.first_use > loop.first) value.first_use = loop.first;
      if (value.last_use < loop.last) value.last_use = loop.last;
    }
}

}}}} // namespace twill::v0::compile::TWILL_ISA
