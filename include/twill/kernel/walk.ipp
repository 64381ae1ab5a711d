#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of kernel/walk.hpp.

#include <twill/kernel/walk.hpp>

namespace twill { inline namespace v0 { namespace kernel { inline namespace TWILL_ISA {

TWILL_BODY RowWalk::RowWalk(const ProgramTable& program, const Grid& grid, const Operand* bound, int first, int last)
    : program_{&program}, grid_{&grid}, bound_{bound}, first_{first}, last_{last} {
  for (int axis = first; axis < last; ++axis) {
    index_[axis] = 0;
    count_ *= grid[axis];
  }
}

TWILL_BODY void RowWalk::seek(std::int64_t row, std::int64_t* at) {
  for (int axis = last_ - 1; axis >= first_ && row != 0; --axis) {
    const std::int64_t extent = (*grid_)[axis];
    index_[axis] = row % extent;
    row /= extent;
    move(axis, index_[axis], at);
  }
}

TWILL_BODY void RowWalk::next(std::int64_t* at) {
  for (int axis = last_ - 1; axis >= first_; --axis) {
    move(axis, 1, at);
    const std::int64_t extent = (*grid_)[axis];
    if (++index_[axis] < extent) return;
    move(axis, -extent, at);
    index_[axis] = 0;
  }
}

TWILL_BODY void RowWalk::distances(std::int64_t* row) const {
  for (int o = 0; o < program_->operands; ++o) row[o] = 0;
  if (last_ > first_) move(last_ - 1, 1, row);
}

TWILL_BODY void RowWalk::next(std::int64_t* at, const std::int64_t* distances) {
  const int axis = last_ - 1;
  if (axis < first_ || index_[axis] + 1 >= (*grid_)[axis]) return next(at);
  ++index_[axis];
  const int operands = program_->operands;
  for (int o = 0; o < operands; ++o) at[o] += distances[o];
}

TWILL_BODY void RowWalk::move(int axis, std::int64_t steps, std::int64_t* at) const {
  for (int o = 0; o < program_->operands; ++o)
    at[o] += steps * bound_[o].strides[static_cast<std::size_t>(axis)] * program_->operand[o].unit;
}

}}}} // namespace twill::v0::kernel::TWILL_ISA
