#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of kernel/transpose.hpp.

#include <twill/kernel/transpose.hpp>

namespace twill { inline namespace v0 { namespace kernel { inline namespace TWILL_ISA { namespace vector_detail {

TWILL_BODY std::int64_t BlockedAxis::size(std::int64_t number) const {
  return number + 1 < blocks ? block : extent - number * block;
}

TWILL_BODY int side_by_side(const Grid& grid, const Operand& operand, int least) {
  for (int axis = grid.rank - 1; axis >= 0; --axis)
    if (grid[axis] >= least && operand.strides[static_cast<std::size_t>(axis)] == 1) return axis;
  return -1;
}

}}}}} // namespace twill::v0::kernel::TWILL_ISA::vector_detail
