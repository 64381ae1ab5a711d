#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of expr/evaluate_products.hpp.

#include <twill/expr/evaluate_products.hpp>

namespace twill { inline namespace v0 { namespace expr { inline namespace TWILL_ISA {

[[gnu::noinline]] TWILL_BODY bool follow_rows(Epilogue& epilogue, const BoundStatement& bound, const Dims& extents,
                                              const Pattern& pattern) {
  const ProductLabels labels{pattern[0].set(), pattern[1].set(), pattern.result.set()};
  int stage = 0; // batch, rows, columns
  int batch_rank = 0;
  std::int64_t rows = 1;
  std::int64_t columns = 1;
  const auto given = [&](std::size_t o) -> kernel::FollowingOperand& { return epilogue.operands[o]; };
  for (std::size_t o = 0; o < bound.map->count; ++o) {
    const kernel::LineKind kind = bound.map->entries[o].kind;
    given(o).panel = bound.operands[o];
    given(o).panel.strides.fill(0);
    const bool is_memory = kind == kernel::LineKind::input || kind == kernel::LineKind::output;
    given(o).dtype = bound.map->entries[o].type;
    given(o).is_output = kind == kernel::LineKind::output;
    given(o).element_bytes = is_memory ? static_cast<std::int64_t>(size_of(bound.map->entries[o].type)) : 0;
  }
  for (int axis = 0; axis < extents.rank; ++axis) {
    if (extents[axis] == 1) continue;
    const LabelSet label = 1U << pattern.result[axis];
    const int kind = (labels.batch & label) != 0 ? 0 : (labels.rows & label) != 0 ? 1 : 2;
    if (kind < stage) return false;
    stage = kind;
    std::int64_t& extent = kind == 1 ? rows : columns;
    for (std::size_t o = 0; o < bound.map->count; ++o) {
      const std::int64_t own = bound.operands[o].strides[static_cast<std::size_t>(axis)];
      if (kind == 0) {
        given(o).batch[static_cast<std::size_t>(batch_rank)] = own;
      } else {
        std::int64_t& merged = kind == 1 ? given(o).row_stride : given(o).panel.strides[1];
        if (extent != 1 && merged != own * extents[axis]) return false;
        merged = own;
      }
    }
    if (kind == 0)
      ++batch_rank;
    else
      extent *= extents[axis];
  }
  epilogue.count = static_cast<int>(bound.map->count);
  epilogue.is_one_dimension = true;
  for (std::size_t o = 0; o < bound.map->count && columns != 1; ++o)
    epilogue.is_one_dimension =
        epilogue.is_one_dimension && (rows == 1 || given(o).row_stride == given(o).panel.strides[1] * columns);
  std::array<kernel::Operand, kernel::max_following_operands> panel{};
  for (std::size_t o = 0; o < bound.map->count; ++o) {
    auto& strides = given(o).panel.strides;
    if (!epilogue.is_one_dimension)
      strides[0] = given(o).row_stride;
    else
      strides = {columns == 1 ? given(o).row_stride : strides[1]};
    panel[o] = given(o).panel;
  }
  kernel::Grid grid = epilogue.is_one_dimension ? kernel::Grid(2) : kernel::Grid(2, 2);
  const int rank = grid.rank;
  keep_shared(grid, panel.data(), *bound.map);
  epilogue.program = bound.program;
  return grid.rank == rank;
}

}}}} // namespace twill::v0::expr::TWILL_ISA
