#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of expr/bind.hpp.

#include <twill/expr/bind.hpp>

namespace twill { inline namespace v0 { namespace expr { inline namespace TWILL_ISA {

TWILL_BODY void complete_operands(const OperandMap& map, kernel::Operand* operands, int rank, void* to,
                                  const Dims& to_strides, const Dims& extents) {
  const std::size_t last = map.count - map.outputs; // one, or two parts of a complex result
  const int missing = extents.rank - rank;
  for (std::size_t o = 0; o < last && missing > 0; ++o) {
    std::int64_t* strides = operands[o].strides.data();
    for (int axis = extents.rank - 1; axis >= 0; --axis) strides[axis] = axis < missing ? 0 : strides[axis - missing];
  }
  for (std::size_t o = 0; o < last && map.has_numbers; ++o) {
    if (map.entries[o].origin != Origin::number) continue;
    operands[o].data = nullptr;
    operands[o].bits = map.entries[o].bits;
    for (int axis = 0; axis < extents.rank; ++axis) operands[o].strides[static_cast<std::size_t>(axis)] = 0;
  }
  const auto parts = static_cast<std::int64_t>(map.outputs);
  for (std::size_t part = 0; part < map.outputs; ++part) {
    kernel::Operand& target = operands[last + part];
    target.data = static_cast<std::byte*>(to) + part * size_of(map.entries[last].type);
    target.bits = 0;
    for (int axis = 0; axis < extents.rank; ++axis)
      target.strides[static_cast<std::size_t>(axis)] = extents[axis] == 1 ? 0 : parts * to_strides[axis];
  }
}

[[gnu::noinline]] TWILL_BODY void simplify(kernel::Grid& grid, kernel::Operand* operands, std::size_t count, int first,
                                           int last, bool at_least_one) {
  if (first == last && at_least_one && grid[first] != 1) return; // a single dimension stays as it is
  const auto stride = [&](std::size_t operand, int axis) -> std::int64_t& {
    return operands[operand].strides[static_cast<std::size_t>(axis)];
  };
  int to = first; // dimensions [first, to) are done
  const auto keep = [&](int from) {
    grid[to] = grid[from];
    for (std::size_t o = 0; o < count; ++o) stride(o, to) = stride(o, from);
    ++to;
  };
  for (int axis = first; axis <= last; ++axis) {
    if (grid[axis] == 1) continue;
    bool one_walk = to > first;
    for (std::size_t o = 0; o < count && one_walk; ++o) one_walk = stride(o, to - 1) == stride(o, axis) * grid[axis];
    if (!one_walk) {
      keep(axis);
      continue;
    }
    grid[to - 1] *= grid[axis];
    for (std::size_t o = 0; o < count; ++o) stride(o, to - 1) = stride(o, axis);
  }
  if (to == first && at_least_one) {
    grid[to] = 1;
    for (std::size_t o = 0; o < count; ++o) stride(o, to) = 0;
    ++to;
  }
  for (int axis = last + 1; axis < grid.rank; ++axis) keep(axis);
  for (int axis = to; axis < grid.rank; ++axis) grid[axis] = 0;
  grid.rank = to;
}

[[gnu::noinline]] TWILL_BODY void keep_shared(kernel::Grid& grid, kernel::Operand* operands, const OperandMap& map) {
  if (!map.has_shared) return;
  const OperandEntry* const entries = map.entries;
  const std::size_t count = map.count;
  const auto last = static_cast<std::size_t>(grid.rank - 1);
  if (grid[grid.rank - 1] == 1) return;
  bool varies = false;
  for (std::size_t i = 0; i < count; ++i) varies = varies || (entries[i].is_shared() && operands[i].strides[last] != 0);
  if (!varies) return;
  for (std::size_t i = 0; i < count; ++i) operands[i].strides[last + 1] = 0;
  grid[grid.rank++] = 1;
}

TWILL_BODY void bind_elementwise(const OperandMap& map, kernel::Operand* operands, int rank, kernel::Grid& grid,
                                 void* to, const Dims& to_strides, const Dims& extents) {
  complete_operands(map, operands, rank, to, to_strides, extents);
  grid.rank = extents.rank;
  for (int axis = 0; axis < extents.rank; ++axis) grid[axis] = extents[axis];
  simplify(grid, operands, map.count, 0, grid.rank - 1, true);
  keep_shared(grid, operands, map);
}

TWILL_BODY OverlapFinder::OverlapFinder(const void* to, std::size_t element_bytes, const Dims& extents,
                                        const Dims& strides)
    : to_{to},
      element_bytes_{element_bytes},
      extents_{extents},
      strides_{strides},
      span_{layout::touched(extents, strides)} {}

TWILL_BODY bool OverlapFinder::overlaps(const void* from, std::size_t bytes, const Dims& extents,
                                        const Dims& strides) const {
  return detail::ranges_overlap(to_, element_bytes_, span_, from, bytes, layout::touched(extents, strides));
}

}}}} // namespace twill::v0::expr::TWILL_ISA
