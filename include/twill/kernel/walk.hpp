#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Visits the rows of a grid: keeps the addresses of all operands at the present index of the outer dimensions and moves
// them on by additions. Nothing here depends on the instruction set. Read next: kernel/rows.hpp.

#include <twill/core/shape.hpp>
#include <twill/kernel/program.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace twill::inline v0::kernel {

/// The rows of a grid over the dimensions [first, last).
template <int Operands> class RowWalk {
public:
  /// `units[o]`: what one step of operand o's stride adds to its address: an element's bytes, 1 for Iota.
  RowWalk(const Grid& grid, const Operand* operands, const std::array<int, Operands>& units, int first, int last)
      : first_{first}, last_{last} {
    for (int axis = first; axis < last; ++axis) {
      extents_[static_cast<std::size_t>(axis)] = grid[axis];
      index_[static_cast<std::size_t>(axis)] = 0;
      count_ *= grid[axis];
      for (int o = 0; o < Operands; ++o)
        steps_[static_cast<std::size_t>(axis)][static_cast<std::size_t>(o)] =
            operands[o].strides[static_cast<std::size_t>(axis)] * units[static_cast<std::size_t>(o)];
    }
  }

  /// How many rows there are.
  [[nodiscard]] std::int64_t count() const { return count_; }

  /// Moves addresses that stand at row 0 to another row.
  void seek(std::int64_t row, std::array<std::int64_t, Operands>& at) {
    for (int axis = last_ - 1; axis >= first_ && row != 0; --axis) {
      const auto d = static_cast<std::size_t>(axis);
      index_[d] = row % extents_[d];
      row /= extents_[d];
      for (std::size_t o = 0; o < Operands; ++o) at[o] += index_[d] * steps_[d][o];
    }
  }

  /// Moves the addresses on by one row.
  void next(std::array<std::int64_t, Operands>& at) {
    for (int axis = last_ - 1; axis >= first_; --axis) {
      const auto d = static_cast<std::size_t>(axis);
      for (std::size_t o = 0; o < Operands; ++o) at[o] += steps_[d][o];
      if (++index_[d] < extents_[d]) return;
      for (std::size_t o = 0; o < Operands; ++o) at[o] -= extents_[d] * steps_[d][o];
      index_[d] = 0;
    }
  }

private:
  // only the dimensions of the walk are ever set: clearing the rest would cost more than a small kernel
  int first_;
  int last_;
  std::int64_t count_ = 1;
  std::array<std::int64_t, max_rank> extents_;
  std::array<std::int64_t, max_rank> index_;
  std::array<std::array<std::int64_t, Operands>, max_rank> steps_;
};

/// The part of `total` things that a member of a team takes, in multiples of `granule`.
struct Share {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};
[[nodiscard]] constexpr Share share_of(std::int64_t total, std::int64_t granule, int rank, int size) {
  const std::int64_t granules = (total + granule - 1) / granule;
  const std::int64_t begin = granules * rank / size * granule;
  const std::int64_t end = granules * (rank + 1) / size * granule;
  return {.begin = begin, .end = end < total ? end : total};
}

} // namespace twill::inline v0::kernel
