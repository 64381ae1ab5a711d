#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// What a launch would do, written down instead of done. A device without memory runs nothing; while somebody on its thread
// listens, every program that is launched there leaves a record: its shape, its grid, and how each operand moves.
// Read next: expr/planned.hpp, which tells users.

#include <twill/core/config.hpp>
#include <twill/core/dtype.hpp>
#include <twill/core/list.hpp>
#include <twill/core/shape.hpp>
#include <twill/kernel/body.hpp>
#include <twill/kernel/plan.hpp>
#include <twill/kernel/program.hpp>
#include <twill/kernel/summary.hpp>

#include <bit>
#include <cstddef>
#include <utility>

namespace twill::inline v0::kernel {

/// An operand of a launch that lies in memory.
struct OperandRecord {
  DType dtype = DType::boolean;
  LineKind kind = LineKind::input;
  int passes = 1; ///< stages of the program that touch its elements one by one; 0 when it is read once for a row
  const void* data = nullptr;
  Dims strides{}; ///< in elements, along the grid
};

/// One launch.
struct LaunchRecord {
  KernelShape shape = KernelShape::elementwise;
  int lanes = 0; ///< elements that are computed together
  int steps = 0;
  Dims grid{};
  List<OperandRecord> operands{};
};

/// Where launches of this thread on a device without memory are written down; null: nowhere.
inline constinit thread_local List<LaunchRecord>* launch_records = nullptr;

/// Listens while it lives.
class LaunchListener {
public:
  explicit LaunchListener(List<LaunchRecord>& records) : before_{std::exchange(launch_records, &records)} {}
  LaunchListener(const LaunchListener&) = delete;
  LaunchListener& operator=(const LaunchListener&) = delete;
  ~LaunchListener() { launch_records = before_; }

private:
  List<LaunchRecord>* before_;
};

} // namespace twill::inline v0::kernel

namespace twill::inline v0::kernel::inline TWILL_ISA {

/// Writes a launch down. Out of the way of launches: only plans come here.
template <class... Lines> TWILL_COLD void record_launch(Program<Lines...>, const Grid& grid, const Operand* operands) {
  using P = Program<Lines...>;
  LaunchRecord record{};
  record.shape = summary_of<P>.shape;
  record.lanes = vector_bytes / plan_of<P>.element_bytes;
  record.steps = summary_of<P>.steps;
  record.grid = grid;
  for (std::size_t i = 0; i < summary_of<P>.lines.size(); ++i) {
    const Line& line = summary_of<P>.lines[i];
    if (line.kind != LineKind::input && line.kind != LineKind::gather && line.kind != LineKind::output) continue;
    const Operand& operand = operands[line.operand];
    OperandRecord added{};
    added.dtype = line.type;
    added.kind = line.kind;
    added.passes = std::popcount(plan_of<P>.lines[i].computed);
    added.data = operand.data;
    added.strides.rank = grid.rank;
    for (int axis = 0; axis < grid.rank; ++axis)
      added.strides[axis] = grid[axis] == 1 ? 0 : operand.strides[static_cast<std::size_t>(axis)];
    record.operands.push_back(added);
  }
  launch_records->push_back(std::move(record));
}

} // namespace twill::inline v0::kernel::inline TWILL_ISA
