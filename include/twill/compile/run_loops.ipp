#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of compile/run_loops.hpp.

#include <twill/compile/run_loops.hpp>

namespace twill::inline v0::compile::inline TWILL_ISA {

TWILL_BODY void move_operands(Binding& binding, const BoundLoop& loop, std::int64_t steps) {
  for (std::size_t i = loop.first_moving; i < loop.end_moving; ++i) {
    const SteppingOperand& moving = binding.moving[i];
    kernel::Operand& operand = binding.operands[moving.operand];
    const std::int64_t distance = moving.step * steps;
    if (moving.is_position)
      operand.bits = static_cast<std::uint64_t>(static_cast<std::int64_t>(operand.bits) + distance);
    else
      operand.data = static_cast<std::byte*>(operand.data) + distance;
  }
}

TWILL_BODY std::size_t launches_between(const Binding& binding, std::size_t begin, std::size_t end) {
  const auto once = [&](std::size_t from, std::size_t to) {
    std::size_t count = 0;
    for (; from < to; from += binding.instructions[from].members) ++count;
    return count;
  };
  std::size_t count = once(begin, end);
  for (const BoundLoop& loop : binding.loops)
    if (loop.first >= begin && loop.end <= end)
      count += once(loop.first, loop.end) * (static_cast<std::size_t>(loop.count) - 1); // none: it counted once
  return count;
}

} // namespace twill::inline v0::compile::inline TWILL_ISA
