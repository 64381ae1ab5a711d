#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Arrangement of a grid for a GPU, made on the host once for each launch: dimensions of one element are dropped, the
// others are sorted so that neighbours in memory become neighbours in a row, those that all operands walk with one
// stride are merged, and grids too large for offsets of 31 bits are cut into several launches. No templates: it is
// compiled once for all programs. Read next: kernel/gpu/plan.hpp.

#include <twill/core/dtype.hpp>
#include <twill/core/shape.hpp>
#include <twill/kernel/program.hpp>
#include <twill/kernel/summary.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace twill { inline namespace v0 { namespace kernel { namespace gpu {

/// The facts about an operand that a plan needs.
struct OperandFacts {
  LineKind kind = LineKind::input;
  Access access = Access::strided; ///< the program's promise about the last dimension
  int bytes = 1;                   ///< of an element; of an iota's number 1

  [[nodiscard]] constexpr bool in_memory() const { return kind != LineKind::immediate && kind != LineKind::iota; }
  [[nodiscard]] constexpr bool moves() const { return kind != LineKind::immediate; }
};

/// The facts about a program's operands.
template <class P>
inline constexpr auto operand_facts_of = [] {
  std::array<OperandFacts, static_cast<std::size_t>(summary_of<P>.operands == 0 ? 1 : summary_of<P>.operands)> facts{};
  for (const Line& line : summary_of<P>.lines)
    if (line.operand >= 0)
      facts[static_cast<std::size_t>(line.operand)] = {
          line.kind, line.access, line.kind == LineKind::iota ? 1 : static_cast<int>(size_of(line.type))};
  return facts;
}();

/// Operands that a plan may change: the caller's are copied first.
struct Bound {
  const OperandFacts* facts = nullptr;
  Operand* operands = nullptr;
  int count = 0;

  [[nodiscard]] constexpr std::int64_t& stride(int operand, int axis) const {
    return operands[operand].strides[static_cast<std::size_t>(axis)];
  }
};

/// Copies of a program's operands for a plan to change.
template <class P> class OperandCopies {
public:
  explicit OperandCopies(const Operand* operands) {
    for (int o = 0; o < summary_of<P>.operands; ++o) operands_[static_cast<std::size_t>(o)] = operands[o];
  }
  [[nodiscard]] Bound bound() { return {operand_facts_of<P>.data(), operands_.data(), summary_of<P>.operands}; }

private:
  std::array<Operand, operand_facts_of<P>.size()> operands_;
};

namespace detail {

[[nodiscard]] constexpr std::int64_t magnitude(std::int64_t x) { return x < 0 ? -x : x; }

constexpr void move_axis(Grid& grid, const Bound& bound, int from, int to) {
  grid[to] = grid[from];
  for (int o = 0; o < bound.count; ++o) bound.stride(o, to) = bound.stride(o, from);
}
constexpr void swap_axes(Grid& grid, const Bound& bound, int a, int b) {
  const std::int64_t extent = grid[a];
  grid[a] = grid[b];
  grid[b] = extent;
  for (int o = 0; o < bound.count; ++o) {
    const std::int64_t stride = bound.stride(o, a);
    bound.stride(o, a) = bound.stride(o, b);
    bound.stride(o, b) = stride;
  }
}

/// Whether a dimension should be outside the next one: decided by outputs, then by other operands that move along both.
[[nodiscard]] constexpr bool in_order(const Bound& bound, int outer, int inner) {
  for (const bool is_output : {true, false})
    for (int o = 0; o < bound.count; ++o) {
      if (!bound.facts[o].in_memory() || (bound.facts[o].kind == LineKind::output) != is_output) continue;
      const std::int64_t a = magnitude(bound.stride(o, outer)), b = magnitude(bound.stride(o, inner));
      if (a != 0 && b != 0 && a != b) return a > b;
    }
  return true;
}

[[nodiscard]] constexpr bool can_merge(const Grid& grid, const Bound& bound, int outer, int inner) {
  for (int o = 0; o < bound.count; ++o)
    if (bound.facts[o].moves() && bound.stride(o, outer) != bound.stride(o, inner) * grid[inner]) return false;
  return true;
}

} // namespace detail

/// Drops, sorts and merges the dimensions [first, last); later ones move up. At least one of them remains, perhaps of
/// one element. The index of an element may change; which elements of the operands meet does not.
constexpr void arrange(Grid& grid, const Bound& bound, int first, int last, bool sorts) {
  if (last == first) { // a scalar, or columns of a vector
    grid[grid.rank] = 1;
    for (int o = 0; o < bound.count; ++o) bound.stride(o, grid.rank) = 0;
    ++grid.rank;
    return;
  }
  int end = first;
  for (int axis = first; axis < last; ++axis)
    if (grid[axis] != 1) detail::move_axis(grid, bound, axis, end++);
  for (int axis = first + 1; sorts && axis < end; ++axis)
    for (int at = axis; at > first && !detail::in_order(bound, at - 1, at); --at)
      detail::swap_axes(grid, bound, at - 1, at);
  int kept = first;
  for (int axis = first + 1; axis < end; ++axis) {
    if (detail::can_merge(grid, bound, kept, axis)) {
      const std::int64_t merged = grid[kept] * grid[axis];
      detail::move_axis(grid, bound, axis, kept);
      grid[kept] = merged;
    } else {
      detail::move_axis(grid, bound, axis, ++kept);
    }
  }
  if (end > first) {
    end = kept + 1;
  } else { // all of one element
    grid[first] = 1;
    for (int o = 0; o < bound.count; ++o) bound.stride(o, first) = 0;
    end = first + 1;
  }
  for (int axis = last; axis < grid.rank; ++axis) detail::move_axis(grid, bound, axis, end + axis - last);
  const int rank = grid.rank - (last - end);
  for (int axis = rank; axis < grid.rank; ++axis) grid[axis] = 0;
  grid.rank = rank;
}

/// Most elements of a launch, and the largest offset: 31 bits, with room for chunks past the end.
inline constexpr std::int64_t most_elements = (std::int64_t{1} << 31) - (1 << 20);

/// The dimension of [first, rank) along which a grid is too large for one launch; -1 when there is none.
[[nodiscard]] constexpr int too_large_along(const Grid& grid, const Bound& bound, int first, std::int64_t most) {
  bool fits = true;
  std::int64_t elements = 1;
  for (int axis = first; axis < grid.rank; ++axis) elements *= grid[axis];
  fits = elements < most;
  for (int o = 0; o < bound.count && fits; ++o) {
    if (!bound.facts[o].moves()) continue;
    std::int64_t reach = 0;
    for (int axis = first; axis < grid.rank; ++axis)
      reach += (grid[axis] - 1) * detail::magnitude(bound.stride(o, axis));
    fits = reach < most;
  }
  if (fits) return -1;
  // the dimension along which an operand moves farthest
  int worst = first;
  std::int64_t farthest = -1;
  for (int axis = first; axis < grid.rank; ++axis) {
    std::int64_t step = 1;
    for (int o = 0; o < bound.count; ++o)
      if (bound.facts[o].moves() && detail::magnitude(bound.stride(o, axis)) > step)
        step = detail::magnitude(bound.stride(o, axis));
    if (grid[axis] > 1 && (grid[axis] - 1) * step > farthest) {
      farthest = (grid[axis] - 1) * step;
      worst = axis;
    }
  }
  return worst;
}

/// Advances the operands by `steps` along a dimension.
constexpr void advance(const Bound& bound, int axis, std::int64_t steps) {
  for (int o = 0; o < bound.count; ++o) {
    const std::int64_t distance = steps * bound.stride(o, axis);
    if (bound.facts[o].kind == LineKind::iota)
      bound.operands[o].bits += static_cast<std::uint64_t>(distance);
    else if (bound.facts[o].in_memory())
      bound.operands[o].data = static_cast<std::byte*>(bound.operands[o].data) + distance * bound.facts[o].bytes;
  }
}

/// A function to be called for each piece of a grid, by pointer: programs share the code that calls it.
struct PieceFunction {
  void (*call)(const void* context, const Grid& piece) = nullptr;
  const void* context = nullptr;
};

/// Calls a function for pieces that fit, one after another; the operands are those of the piece while it runs. Only the
/// dimensions from `first` on are cut and count.
inline void in_pieces(const Grid& grid, const Bound& bound, int first, std::int64_t most, PieceFunction launch) {
  const int axis = too_large_along(grid, bound, first, most);
  if (axis < 0) return launch.call(launch.context, grid);
  constexpr std::int64_t granule = 64; // so that the second half is as aligned as the first
  const std::int64_t half = grid[axis] / 2;
  const std::int64_t cut = half > granule ? half / granule * granule : half;
  Grid piece = grid;
  piece[axis] = cut;
  in_pieces(piece, bound, first, most, launch);
  advance(bound, axis, cut);
  piece[axis] = grid[axis] - cut;
  in_pieces(piece, bound, first, most, launch);
  advance(bound, axis, -cut);
}

}}}} // namespace twill::v0::kernel::gpu
