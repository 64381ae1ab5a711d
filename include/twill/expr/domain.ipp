#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of expr/domain.hpp.

#include <twill/expr/domain.hpp>

namespace twill { inline namespace v0 { namespace expr { inline namespace TWILL_ISA {

TWILL_BODY Domain::Domain(const Dims& shape, unsigned reduced, bool kept_first) : extents{shape}, mask{reduced} {
  for (const bool wanted : {!kept_first, kept_first})
    for (int axis = 0; axis < shape.rank; ++axis)
      if (((mask >> axis & 1U) != 0) == wanted) order[order.rank++] = axis;
  for (int axis = 0; axis < shape.rank; ++axis) kept += (mask >> axis & 1U) == 0 ? 1 : 0;
}

TWILL_BODY void strides_in_domain(kernel::Operand& operand, const std::int64_t* extents, const std::int64_t* strides,
                                  int rank, const Domain& domain, bool beside_dropped_axes) {
  int kept = 0;
  for (int dimension = 0; dimension < domain.order.rank; ++dimension) {
    const bool is_reduced = domain.reduces(dimension);
    int axis = static_cast<int>(domain.order[dimension]) - (domain.extents.rank - rank);
    if (beside_dropped_axes) axis = is_reduced ? -1 : kept++ - (domain.kept - rank);
    operand.strides[static_cast<std::size_t>(dimension)] = axis < 0 || extents[axis] == 1 ? 0 : strides[axis];
  }
}

TWILL_BODY bool are_one(const OperandMap& map, const LeafView* leaves) {
  for (std::size_t k = 0; k < map.leaves; ++k) {
    const auto first = static_cast<std::size_t>(map.leaf[k].first);
    if (first == k) continue;
    const LeafView& a = leaves[first];
    const LeafView& b = leaves[k];
    if (a.data != b.data || a.rank != b.rank || !std::equal(a.extents, a.extents + a.rank, b.extents) ||
        !std::equal(a.strides, a.strides + a.rank, b.strides))
      return false;
  }
  return true;
}

TWILL_BODY ReducedDimensions bind_over(const OperandMap& map, const LeafView* leaves, const OutputView* targets,
                                       const Domain& domain, bool is_column, kernel::Operand* operands,
                                       kernel::Grid& grid) {
  grid = detail::reordered(domain.extents, domain.order);
  const ReducedDimensions reduced{is_column ? 0 : domain.kept, is_column ? grid.rank - domain.kept - 1 : grid.rank - 1};
  for (std::size_t k = 0; k < map.leaves; ++k) {
    kernel::Operand& operand = operands[map.leaf[k].operand];
    operand.data = leaves[k].data;
    operand.bits = leaves[k].bits;
    if (leaves[k].rank > 0)
      strides_in_domain(operand, leaves[k].extents, leaves[k].strides, leaves[k].rank, domain, map.leaf[k].drops);
  }
  for (std::size_t k = 0; k < map.outputs; ++k) {
    kernel::Operand& operand = operands[map.count - map.outputs + k];
    operand.data = targets[k].data;
    strides_in_domain(operand, targets[k].extents.extents.data(), targets[k].strides.extents.data(),
                      targets[k].extents.rank, domain, targets[k].drops_axes);
  }
  std::int64_t length = 1;
  for (int axis = reduced.last; axis >= reduced.first; --axis) {
    for (std::size_t o = 0; o < map.count; ++o)
      if (map.entries[o].origin == Origin::row_index) operands[o].strides[static_cast<std::size_t>(axis)] = length;
    length *= grid[axis];
  }
  for (std::size_t o = 0; o < map.count; ++o) {
    if (map.entries[o].origin == Origin::number) operands[o].bits = map.entries[o].bits;
    if (map.entries[o].origin == Origin::row_length)
      operands[o].bits = kernel::bits_of(map.entries[o].type, static_cast<double>(length));
  }
  return reduced;
}

TWILL_BODY void merge_reduced(const OperandMap& map, ReducedDimensions reduced, bool is_column,
                              kernel::Operand* operands, kernel::Grid& grid) {
  if (reduced.last < reduced.first) // rank 0: a row of one element
    grid[grid.rank++] = 1;
  else
    merge(grid, operands, map.count, reduced.first, reduced.last);
  if (is_column)
    simplify(grid, operands, map.count, 1, grid.rank - 1, true);
  else
    simplify(grid, operands, map.count, 0, grid.rank - 2, false);
  keep_shared(grid, operands, map);
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

}}}} // namespace twill::v0::expr::TWILL_ISA
