#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Records of launches that do not run. A device without memory runs nothing; while a listener exists on its thread,
// every program that is launched there leaves a record: its shape, its grid, and how each operand moves.
// Read next: expr/planned.hpp, which reports them to users.

#include <twill/core/config.hpp>
#include <twill/core/dtype.hpp>
#include <twill/core/list.hpp>
#include <twill/core/shape.hpp>
#include <twill/kernel/body.hpp>
#include <twill/kernel/plan.hpp>
#include <twill/kernel/product_stack.hpp>
#include <twill/kernel/program.hpp>
#include <twill/kernel/summary.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace twill { inline namespace v0 { namespace kernel {

/// An operand of a launch that is in memory.
struct OperandRecord {
  DType dtype = DType::boolean;
  LineKind kind = LineKind::input;
  int passes = 1; ///< stages of the program that touch its elements one by one; 0 when it is read once for a row
  const void* data = nullptr;
  Dims strides{};             ///< in elements, along the grid
  std::int64_t elements = -1; ///< of a product's operands: the number of different ones
};

/// One launch.
struct LaunchRecord {
  KernelShape shape = KernelShape::elementwise;
  bool is_product = false; ///< a matrix product, and the program that follows its rows
  int lanes = 0;           ///< elements that a host computes together
  int chunk = 0;           ///< elements that a thread of a GPU computes together
  int steps = 0;
  Dims grid{};
  List<OperandRecord> operands{};
};

/// The records of this thread's launches on a device without memory; null: not recorded.
inline constinit thread_local List<LaunchRecord>* launch_records = nullptr;

/// Records launches while it exists.
class LaunchListener {
public:
  explicit LaunchListener(List<LaunchRecord>& records) : before_{std::exchange(launch_records, &records)} {}
  LaunchListener(const LaunchListener&) = delete;
  LaunchListener& operator=(const LaunchListener&) = delete;
  ~LaunchListener() { launch_records = before_; }

private:
  List<LaunchRecord>* before_;
};

}}} // namespace twill::v0::kernel

namespace twill { inline namespace v0 { namespace kernel { inline namespace TWILL_ISA {

/// Records a launch. Kept out of launches' code: only plans call it.
template <class... Lines> TWILL_COLD void record_launch(Program<Lines...>, const Grid& grid, const Operand* operands) {
  using P = Program<Lines...>;
  LaunchRecord record{};
  record.shape = summary_of<P>.shape;
  record.lanes = vector_bytes / plan_of<P>.element_bytes;
  record.chunk = chunk_elements(summary_of<P>.lines.data(), static_cast<int>(summary_of<P>.lines.size()));
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

/// Records a stack of products, and the operands of the program that follows them.
template <class T> TWILL_COLD void record_products(const ProductStack<T>& stack, const Following& following) {
  const auto of_batch = [&](const BatchStrides& strides) {
    std::int64_t count = 1;
    for (int axis = 0; axis < stack.batch.rank; ++axis)
      if (strides[static_cast<std::size_t>(axis)] != 0) count *= stack.batch[axis];
    return count;
  };
  LaunchRecord record{.is_product = true,
                      .lanes = vector_bytes / static_cast<int>(sizeof(compute_t<T>)),
                      .chunk = 16 / static_cast<int>(sizeof(T)),
                      .steps = 1};
  const auto add = [&](DType dtype, LineKind kind, const void* data, std::int64_t elements) {
    OperandRecord operand{.dtype = dtype, .kind = kind, .data = data};
    operand.elements = elements;
    record.operands.push_back(operand);
  };
  add(dtype_of<T>, LineKind::input, stack.a.data, of_batch(stack.a.batch) * stack.m * stack.k);
  add(dtype_of<T>, LineKind::input, stack.b.data, of_batch(stack.b.batch) * stack.k * stack.n);
  add(dtype_of<T>, LineKind::output, stack.c, stack.batch.elements() * stack.m * stack.n);
  for (int o = 0; o < following.count; ++o) {
    const FollowingOperand& operand = following.operands[o];
    if (operand.element_bytes == 0 || operand.panel.data == stack.c) continue; // numbers, and the product's result
    std::int64_t elements =
        of_batch(operand.batch) * (operand.row_stride != 0 || following.is_one_dimension ? stack.m : 1);
    if (operand.panel.strides[following.is_one_dimension ? 0 : 1] != 0) elements *= stack.n;
    add(operand.dtype, operand.is_output ? LineKind::output : LineKind::input, operand.panel.data, elements);
    ++record.steps;
  }
  launch_records->push_back(std::move(record));
}

}}}} // namespace twill::v0::kernel::TWILL_ISA
