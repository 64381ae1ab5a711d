#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of kernel/streaming.hpp.

#include <twill/kernel/streaming.hpp>

namespace twill { inline namespace v0 { namespace kernel { inline namespace TWILL_ISA { namespace vector_detail {

TWILL_BODY bool is_updated(const ProgramTable& program, const Grid& grid, const Operand* bound, int output) {
  for (int o = 0; o < program.operands; ++o) {
    const OperandInfo& info = program.operand[o];
    if (info.role != OperandInfo::Role::input || info.bytes != program.operand[output].bytes ||
        bound[o].data != bound[output].data)
      continue;
    bool is_same_walk = true;
    for (int axis = 0; axis < grid.rank; ++axis) {
      const auto i = static_cast<std::size_t>(axis);
      is_same_walk = is_same_walk && (grid[axis] == 1 || bound[o].strides[i] == bound[output].strides[i]);
    }
    if (is_same_walk) return true;
  }
  return false;
}

[[gnu::noinline]] TWILL_BODY bool choose_streams(const ProgramTable& program, const Grid& grid, const Operand* bound,
                                                 StoreMode* mode) {
  const std::int64_t elements = grid.elements();
  bool found = false;
  for (int o = 0; o < program.operands; ++o) {
    const OperandInfo& info = program.operand[o];
    if (info.role != OperandInfo::Role::output || mode[o] != StoreMode::plain ||
        elements * info.bytes < worth_streaming || is_updated(program, grid, bound, o))
      continue;
    mode[o] = StoreMode::stream;
    found = true;
  }
  return found;
}

}}}}} // namespace twill::v0::kernel::TWILL_ISA::vector_detail
