#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of expr/domain.hpp.

#include <twill/expr/domain.hpp>

namespace twill::inline v0::expr::inline TWILL_ISA {

TWILL_BODY Domain::Domain(const Dims& shape, unsigned reduced, bool kept_first) : extents{shape}, mask{reduced} {
  for (const bool wanted : {!kept_first, kept_first})
    for (int axis = 0; axis < shape.rank; ++axis)
      if (((mask >> axis & 1U) != 0) == wanted) order[order.rank++] = axis;
  for (int axis = 0; axis < shape.rank; ++axis) kept += (mask >> axis & 1U) == 0 ? 1 : 0;
}

[[gnu::noinline]] TWILL_BODY void strides_in_domain(kernel::Operand& operand, const Dims& extents, const Dims& strides,
                                                    const Domain& domain, bool beside_dropped_axes) {
  int kept = 0;
  for (int dimension = 0; dimension < domain.order.rank; ++dimension) {
    const bool is_reduced = domain.reduces(dimension);
    int axis = static_cast<int>(domain.order[dimension]) - (domain.extents.rank - extents.rank);
    if (beside_dropped_axes) axis = is_reduced ? -1 : kept++ - (domain.kept - extents.rank);
    operand.strides[static_cast<std::size_t>(dimension)] = axis < 0 || extents[axis] == 1 ? 0 : strides[axis];
  }
}

[[gnu::noinline]] TWILL_BODY bool is_one_walk(const kernel::Grid& grid, const kernel::Operand* operands,
                                              std::size_t count, int first, int last) {
  for (std::size_t o = 0; o < count; ++o) {
    int inner = last;
    while (inner > first && grid[inner] == 1) --inner;
    for (int outer = inner - 1; outer >= first; --outer) {
      if (grid[outer] == 1) continue;
      const auto& strides = operands[o].strides;
      if (strides[static_cast<std::size_t>(outer)] != strides[static_cast<std::size_t>(inner)] * grid[inner])
        return false;
      inner = outer;
    }
  }
  return true;
}

[[gnu::noinline]] TWILL_BODY void merge(kernel::Grid& grid, kernel::Operand* operands, std::size_t count, int first,
                                        int last) {
  int inner = last;
  while (inner > first && grid[inner] == 1) --inner;
  std::int64_t extent = 1;
  for (int axis = first; axis <= last; ++axis) extent *= grid[axis];
  for (std::size_t o = 0; o < count; ++o) {
    auto& strides = operands[o].strides;
    strides[static_cast<std::size_t>(first)] = strides[static_cast<std::size_t>(inner)];
    for (int axis = last + 1; axis < grid.rank; ++axis)
      strides[static_cast<std::size_t>(axis - last + first)] = strides[static_cast<std::size_t>(axis)];
  }
  grid[first] = extent;
  for (int axis = last + 1; axis < grid.rank; ++axis) grid[axis - last + first] = grid[axis];
  grid.rank -= last - first;
}

} // namespace twill::inline v0::expr::inline TWILL_ISA
