#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of kernel/product_stack.hpp.

#include <twill/kernel/product_stack.hpp>

namespace twill { inline namespace v0 { namespace kernel { inline namespace TWILL_ISA {

TWILL_BODY void follow(const AnyTeam& team, const Following& following, std::int64_t columns, std::int64_t first,
                       std::int64_t rows, const BatchStrides& index, int batch_rank) {
  Operand operands[max_following_operands];
  for (int o = 0; o < following.count; ++o) {
    const FollowingOperand& from = following.operands[o];
    operands[o] = from.panel;
    std::int64_t offset = first * from.row_stride;
    for (int axis = 0; axis < batch_rank; ++axis)
      offset += index[static_cast<std::size_t>(axis)] * from.batch[static_cast<std::size_t>(axis)];
    if (from.element_bytes > 0)
      operands[o].data = static_cast<std::byte*>(from.panel.data) + offset * from.element_bytes;
    else
      operands[o].bits += static_cast<std::uint64_t>(offset); // a counter's base; 0 for numbers
  }
  following.run(team, following.is_one_dimension ? Grid(rows * columns) : Grid(rows, columns), operands);
}

}}}} // namespace twill::v0::kernel::TWILL_ISA
