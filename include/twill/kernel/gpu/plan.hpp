#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Plan of a launch's walk over its grid and of each operand's access mode, chosen by the cost of memory accesses. Rows
// are walked in chunks of neighbouring elements, so that aligned operands move by vectors; where hardly any operand is
// aligned, a chunk's elements are a row's worth of chunks apart instead, so that neighbouring threads still touch
// neighbouring elements; and where rows are short or odd, the grid is flattened and the operands that do not flatten
// divide. Read next: kernel/gpu/elementwise.hpp.

#include <twill/core/shape.hpp>
#include <twill/kernel/gpu/arrange.hpp>
#include <twill/kernel/gpu/parameters.hpp>
#include <twill/kernel/program.hpp>

#include <cstddef>
#include <cstdint>

namespace twill { inline namespace v0 { namespace kernel { namespace gpu {

/// The ways to walk a grid.
enum class Way : std::uint8_t { rows, interleaved_rows, flattened };

namespace detail {

/// Bytes of one access to an operand: `Words::unit_bytes`.
[[nodiscard]] constexpr int unit_bytes(int bytes, int lanes) {
  const int all = bytes * lanes;
  const int most = bytes == 1 ? 4 : 16;
  return all < most ? all : most;
}

/// Whether whole chunks of an operand can move at once along rows of stride 1. The dimensions [first, rank) are walked,
/// as one when they are flattened; earlier ones are passed in steps.
[[nodiscard]] inline bool is_aligned(const Grid& grid, const Bound& bound, int operand, int first, int lanes, Way way) {
  const std::int64_t unit = unit_bytes(bound.facts[operand].bytes, lanes);
  bool aligned =
      reinterpret_cast<std::uintptr_t>(bound.operands[operand].data) % static_cast<std::uintptr_t>(unit) == 0;
  for (int axis = 0; axis + 1 < grid.rank; ++axis) {
    const bool is_merged = way == Way::flattened && axis >= first;
    const bool moves = grid[axis] > 1 && !is_merged;
    aligned = aligned && (!moves || bound.stride(operand, axis) * bound.facts[operand].bytes % unit == 0);
  }
  return aligned;
}

/// Whether an operand walks the dimensions [first, rank) as one.
[[nodiscard]] constexpr bool is_flat(const Grid& grid, const Bound& bound, int operand, int first) {
  for (int axis = first; axis + 1 < grid.rank; ++axis)
    if (bound.stride(operand, axis) != bound.stride(operand, axis + 1) * grid[axis + 1]) return false;
  return true;
}

/// The access mode of an operand for a way to walk.
[[nodiscard]] inline Mode mode_of(const Grid& grid, const Bound& bound, int operand, int first, int lanes, Way way) {
  const OperandFacts& facts = bound.facts[operand];
  if (!facts.moves()) return Mode::broadcast;
  if (way == Way::flattened && !is_flat(grid, bound, operand, first)) return Mode::indexed;
  const std::int64_t stride = bound.stride(operand, grid.rank - 1);
  if (stride == 0 && facts.kind == LineKind::input && facts.access != Access::contiguous) return Mode::broadcast;
  const bool can_vector =
      facts.kind == LineKind::output || (facts.kind == LineKind::input && facts.access != Access::uniform);
  if (way != Way::interleaved_rows && stride == 1 && can_vector && is_aligned(grid, bound, operand, first, lanes, way))
    return Mode::vector;
  return Mode::stepped;
}

/// The cost of a way, in accesses for a chunk, scaled by the waste of rows that end within a chunk.
[[nodiscard]] inline std::int64_t cost_of(const Grid& grid, const Bound& bound, int first, int lanes, Way way) {
  const std::int64_t n = grid[grid.rank - 1];
  const std::int64_t row_chunks = (n + lanes - 1) / lanes;
  const bool may_interleave = way == Way::interleaved_rows && row_chunks >= 8; // shorter runs fill no sector of memory
  std::int64_t cost = 0;
  for (int o = 0; o < bound.count; ++o) {
    const Mode mode = mode_of(grid, bound, o, first, lanes, way);
    if (!bound.facts[o].in_memory()) {
      cost += mode == Mode::indexed ? lanes : 0;
      continue;
    }
    const bool neighbours = may_interleave && magnitude(bound.stride(o, grid.rank - 1)) <= 1;
    cost += mode == Mode::vector || mode == Mode::broadcast ? 1
            : mode == Mode::indexed                         ? 2 * lanes
            : neighbours                                    ? 2
                                                            : lanes;
  }
  if (way == Way::flattened) return cost * 1024;
  return cost * 1024 * row_chunks * lanes / n;
}

} // namespace detail

/// The cheapest way to walk the dimensions [first, rank) of an arranged grid without empty dimensions.
[[nodiscard]] inline Way choose_way(const Grid& grid, const Bound& bound, int first, int lanes) {
  Way best = Way::rows;
  std::int64_t least = detail::cost_of(grid, bound, first, lanes, best);
  for (const Way way : {Way::interleaved_rows, Way::flattened}) {
    if (way == Way::flattened && grid.rank - first < 2) continue;
    const std::int64_t cost = detail::cost_of(grid, bound, first, lanes, way);
    if (cost >= least) continue;
    least = cost;
    best = way;
  }
  return best;
}

/// Fills in a walk over the dimensions [first, rank) and its operands. They fit (`too_large_along`), none is empty, and
/// there is at least one. A dimension 0 before `first` is the one that a column program reduces: `down`.
inline void plan_walk(const Grid& grid, const Bound& bound, int first, int lanes, Way way, Walk& walk,
                      OperandParameters* parameters) {
  const int last = grid.rank - 1;
  std::int64_t length = grid[last];
  walk = Walk{};
  if (way == Way::flattened) {
    length = 1;
    for (int axis = last; axis >= first; --axis) {
      walk.index_extents[walk.index_rank++] = Divisor{static_cast<std::uint32_t>(grid[axis])};
      length *= grid[axis];
    }
  }
  const std::int64_t row_chunks = (length + lanes - 1) / lanes;
  std::int64_t chunks = row_chunks;
  walk.length = static_cast<std::int32_t>(length);
  walk.lead = way == Way::interleaved_rows ? 1 : lanes;
  walk.spacing = way == Way::interleaved_rows ? static_cast<std::int32_t>(row_chunks) : 1;
  walk.extents[0] = Divisor{static_cast<std::uint32_t>(row_chunks)};
  if (way != Way::flattened)
    for (int axis = last - 1; axis >= first; --axis) {
      walk.extents[walk.rank++] = Divisor{static_cast<std::uint32_t>(grid[axis])};
      chunks *= grid[axis];
    }
  walk.chunks = static_cast<std::uint32_t>(chunks);
  walk.is_plain = true;
  for (int o = 0; o < bound.count; ++o) {
    OperandParameters& to = parameters[o];
    to = OperandParameters{};
    to.data = static_cast<std::byte*>(bound.operands[o].data);
    to.bits = bound.operands[o].bits;
    to.mode = detail::mode_of(grid, bound, o, first, lanes, way);
    if (!bound.facts[o].moves()) continue;
    const bool is_simple = bound.facts[o].kind == LineKind::iota || bound.facts[o].kind == LineKind::gather;
    walk.is_plain = walk.is_plain && to.mode != Mode::indexed && (is_simple || to.mode != Mode::stepped);
    to.down = first > 0 ? bound.stride(o, 0) : 0;
    const auto along = static_cast<std::int32_t>(bound.stride(o, last));
    to.step = along * walk.spacing;
    to.strides[0] = to.mode == Mode::indexed ? along : along * walk.lead;
    for (int axis = last - 1; axis >= first; --axis)
      to.strides[last - axis] = static_cast<std::int32_t>(bound.stride(o, axis));
  }
}

/// A program's launches on a queue: its kernel's parameters, filled in for one piece of the grid after the other.
struct PieceLaunch {
  Bound bound{};
  int first = 0; ///< of the dimensions that are walked
  int lanes = 1;
  Walk* walk = nullptr;
  OperandParameters* parameters = nullptr;
  PieceFunction launch{}; ///< called when they are filled in
};

/// Arranges a grid without empty dimensions and launches its pieces.
inline void launch_pieces(Grid grid, const PieceLaunch& launch, std::int64_t most) {
  arrange(grid, launch.bound, launch.first, grid.rank, true);
  const auto one = [](const void* context, const Grid& piece) {
    const PieceLaunch& own = *static_cast<const PieceLaunch*>(context);
    const Way way = choose_way(piece, own.bound, own.first, own.lanes);
    plan_walk(piece, own.bound, own.first, own.lanes, way, *own.walk, own.parameters);
    own.launch.call(own.launch.context, piece);
  };
  in_pieces(grid, launch.bound, launch.first, most, {one, &launch});
}

}}}} // namespace twill::v0::kernel::gpu
