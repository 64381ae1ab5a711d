#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Merging of dimensions into fewer, longer ones. Two neighbouring dimensions of a grid become one when every operand
// walks them with one stride, so a contiguous tensor of any rank becomes one row. Results do not change, only the
// length of the inner loops. Read next: kernel/run.hpp.

#include <twill/core/shape.hpp>
#include <twill/kernel/program.hpp>

#include <cstddef>
#include <cstdint>

namespace twill { inline namespace v0 { namespace kernel {

/// Merges dimensions that all operands walk with one stride and drops those of extent 1. With `keep_last_dimension`,
/// the last one stays as it is: it is the row of a reduction. Operands keep their access kind along the last dimension.
constexpr void coalesce(Grid& grid, Operand* operands, int count, bool keep_last_dimension) {
  if (grid.rank <= 1) return;
  const auto stride = [&](int operand, int axis) -> std::int64_t& {
    return operands[operand].strides[static_cast<std::size_t>(axis)];
  };
  const int last = grid.rank - 1;
  int kept = 0; // dimensions [0, kept] are done
  const auto move = [&](int from, int to) {
    grid[to] = grid[from];
    for (int o = 0; o < count; ++o) stride(o, to) = stride(o, from);
  };
  for (int axis = 1; axis <= last; ++axis) {
    const bool fixed = keep_last_dimension && axis == last;
    bool mergeable = !fixed && grid[kept] != 1 && grid[axis] != 1;
    for (int o = 0; o < count && mergeable; ++o) mergeable = stride(o, kept) == stride(o, axis) * grid[axis];
    if (mergeable) {
      const std::int64_t merged = grid[kept] * grid[axis];
      move(axis, kept);
      grid[kept] = merged;
    } else if (!fixed && grid[kept] == 1) {
      move(axis, kept);
    } else if (fixed || grid[axis] != 1 || axis == last) {
      // a last dimension of extent 1 stays: the kinds of access refer to it
      if (fixed && grid[kept] == 1)
        move(axis, kept);
      else
        move(axis, ++kept);
    }
  }
  grid.rank = kept + 1;
  for (int axis = grid.rank; axis <= last; ++axis) grid[axis] = 0;
}

}}} // namespace twill::v0::kernel
