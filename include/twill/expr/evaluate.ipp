#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of expr/evaluate.hpp.

#include <twill/expr/evaluate.hpp>

namespace twill::inline v0::expr::inline TWILL_ISA {

TWILL_BODY void bind_elementwise(const OperandMap& map, kernel::Operand* operands, int rank, kernel::Grid& grid,
                                 void* to, const Dims& to_strides, const Dims& extents) {
  complete_operands(map, operands, rank, to, to_strides, extents);
  grid.rank = extents.rank;
  for (int axis = 0; axis < extents.rank; ++axis) grid[axis] = extents[axis];
  simplify(grid, operands, map.count, 0, grid.rank - 1, true);
  keep_shared(grid, operands, map);
}

} // namespace twill::inline v0::expr::inline TWILL_ISA
