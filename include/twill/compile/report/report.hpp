#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Costs of a compiled function, as constexpr data: launches, distinct kernels, tensors read and written. A program can
// assert them, `static_assert(plan<Step>().launches == 12)`, so that a change which breaks fusion does not compile.
// Read next: compile/report/dump.hpp.

#include <twill/compile/program_type.hpp>
#include <twill/core/config.hpp>

#include <cstddef>

namespace twill { inline namespace v0 { namespace compile { inline namespace TWILL_ISA {

/// Counts of one compiled function.
struct Report {
  int launches = 0;             ///< kernels launched in one run, operations included
  int distinct_kernels = 0;     ///< kernels compiled
  int elementwise_launches = 0; ///< element by element
  int row_launches = 0;         ///< programs that reduce over the last axis
  int column_launches = 0;      ///< programs that reduce down the columns
  int operation_launches = 0;   ///< matrix products and other kernels of their own
  int tensors_read = 0;    ///< each once for each launch that reads it; scalars of the run and numbers do not count
  int tensors_written = 0; ///< the same for those that it writes
  int temporaries = 0;     ///< tensors in the arena
  int loops = 0;           ///< whose launches are counted for one step
  int longest_program = 0; ///< lines of the longest program

  [[nodiscard]] friend constexpr bool operator==(const Report&, const Report&) = default;
};

}}}} // namespace twill::v0::compile::TWILL_ISA

namespace twill { inline namespace v0 { namespace compile { namespace detail { inline namespace TWILL_ISA {

TWILL_CONSTEXPR void count_launch(const KernelInfo& kernel, Report& report) {
  ++report.launches;
  switch (kernel.kind) {
  case KernelKind::elementwise:
    ++report.elementwise_launches;
    break;
  case KernelKind::rows:
    ++report.row_launches;
    break;
  case KernelKind::columns:
    ++report.column_launches;
    break;
  case KernelKind::operation:
    ++report.operation_launches;
    break;
  }
  if (kernel.line_count > report.longest_program) report.longest_program = kernel.line_count;
}

}}}}} // namespace twill::v0::compile::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace compile { inline namespace TWILL_ISA {

/// Whether the operand is a tensor of at least `elements` elements, as far as the trace knows; unknown ones count.
[[nodiscard]] TWILL_CONSTEXPR bool is_tensor_of(const TableView& table, const OperandBinding& operand,
                                                std::int64_t elements) {
  if (operand.kind != OperandKind::memory) return false;
  const ValueInfo& value = table.values[static_cast<std::size_t>(operand.value)];
  if (value.storage == Storage::run_scalar) return false;
  const graph::Extent size = value.shape.elements();
  return !size.is_static() || size.factor >= elements;
}

/// Counts a table. Tensors of fewer than `large_elements` elements are not counted as read or written.
[[nodiscard]] TWILL_CONSTEXPR Report report_of(const TableView& table, std::int64_t large_elements = 1) {
  Report report{};
  report.distinct_kernels = static_cast<int>(table.kernels.size());
  report.loops = static_cast<int>(table.loops.size());
  for (const Instruction& instruction : table.instructions) {
    if (!instruction.continues)
      detail::count_launch(table.kernels[static_cast<std::size_t>(instruction.kernel)], report);
    for (int k = 0; k < instruction.operand_count; ++k) {
      const OperandBinding& operand = table.operands[static_cast<std::size_t>(instruction.first_operand + k)];
      if (is_tensor_of(table, operand, large_elements))
        ++(operand.writes ? report.tensors_written : report.tensors_read);
    }
  }
  for (const ValueInfo& value : table.values)
    if (value.storage == Storage::temporary && value.first_use >= 0) ++report.temporaries;
  return report;
}

/// The most reads of one tensor by one launch. One, where every operand is read in a single pass.
[[nodiscard]] TWILL_CONSTEXPR int most_reads_of_one_tensor(const TableView& table) {
  int most = 0;
  for (const Instruction& instruction : table.instructions) {
    if (table.kernels[static_cast<std::size_t>(instruction.kernel)].kind == KernelKind::operation) continue;
    for (int k = 0; k < instruction.operand_count; ++k) {
      const OperandBinding& operand = table.operands[static_cast<std::size_t>(instruction.first_operand + k)];
      if (!is_tensor_of(table, operand, 1) || operand.writes) continue;
      int reads = 0;
      for (int other = 0; other < instruction.operand_count; ++other) {
        const OperandBinding& candidate = table.operands[static_cast<std::size_t>(instruction.first_operand + other)];
        if (candidate.kind == OperandKind::memory && !candidate.writes && candidate.value == operand.value) ++reads;
      }
      if (reads > most) most = reads;
    }
  }
  return most;
}

/// The report of a source.
template <Source S> [[nodiscard]] constexpr Report plan(std::int64_t large_elements = 1) {
  return report_of(Compiled<S>::view(), large_elements);
}

}}}} // namespace twill::v0::compile::TWILL_ISA
