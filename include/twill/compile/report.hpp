#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// What a compiled function costs, as constexpr data: launches, distinct kernels, tensors read and written. A program can
// assert it, `static_assert(plan<Step>().launches == 12)`, so that a change which breaks fusion does not compile. Read
// next: compile/dump.hpp.

#include <twill/compile/program_type.hpp>

#include <cstddef>

namespace twill::inline v0::compile {

/// A table that is still growing, as the run time would see it. It has to stay where it is.
[[nodiscard]] constexpr TableView view_of(const Lowered& lowered) {
  TableView view{};
  view.values = lowered.values;
  view.operands = lowered.operands;
  view.instructions = lowered.instructions;
  view.kernels = lowered.kernels;
  view.lines = lowered.lines;
  view.inputs = lowered.inputs;
  view.parameters = lowered.parameters;
  view.knobs = lowered.knobs;
  view.symbols = lowered.symbols;
  view.outputs = lowered.outputs;
  return view;
}

/// Counts of one compiled function.
struct Report {
  int launches = 0;         ///< kernels launched in one run, operations included
  int distinct_kernels = 0; ///< kernels compiled
  int elementwise_launches = 0;
  int row_launches = 0;       ///< programs that reduce over the last axis
  int column_launches = 0;    ///< programs that reduce down the columns
  int operation_launches = 0; ///< matrix products and other kernels of their own
  int tensors_read = 0;       ///< each once for each launch that reads it; scalars of the run and numbers do not count
  int tensors_written = 0;
  int temporaries = 0;     ///< tensors in the arena
  int longest_program = 0; ///< lines of the longest program

  [[nodiscard]] friend constexpr bool operator==(const Report&, const Report&) = default;
};

namespace detail {

/// Adds one launch, whose lines say what sort of program it is.
constexpr void count_launch(const TableView& table, const Instruction& instruction, Report& report) {
  const KernelInfo& kernel = table.kernels[static_cast<std::size_t>(instruction.kernel)];
  bool reduces_rows = false;
  bool reduces_columns = false;
  for (int line = 0; line < kernel.line_count; ++line) {
    const LineKind kind = table.lines[static_cast<std::size_t>(kernel.first_line + line)].kind;
    reduces_rows = reduces_rows || kind == LineKind::reduce;
    reduces_columns = reduces_columns || kind == LineKind::reduce_columns;
  }
  ++report.launches;
  if (kernel.is_operation)
    ++report.operation_launches;
  else if (reduces_columns)
    ++report.column_launches;
  else if (reduces_rows)
    ++report.row_launches;
  else
    ++report.elementwise_launches;
  if (kernel.line_count > report.longest_program) report.longest_program = kernel.line_count;
}

} // namespace detail

/// The operand is a tensor of at least `elements` elements, as far as the trace knows; unknown extents count as many.
[[nodiscard]] constexpr bool is_tensor_of(const TableView& table, const OperandInfo& operand, std::int64_t elements) {
  if (operand.kind != OperandKind::memory) return false;
  const ValueInfo& value = table.values[static_cast<std::size_t>(operand.value)];
  if (value.storage == Storage::knob) return false;
  const graph::Extent size = value.shape.elements();
  return !size.is_static() || size.factor >= elements;
}

/// Counts a table. Tensors of fewer than `large_elements` elements are not counted as read or written.
[[nodiscard]] constexpr Report report_of(const TableView& table, std::int64_t large_elements = 1) {
  Report report{};
  report.distinct_kernels = static_cast<int>(table.kernels.size());
  for (const Instruction& instruction : table.instructions) {
    detail::count_launch(table, instruction, report);
    for (int k = 0; k < instruction.operand_count; ++k) {
      const OperandInfo& operand = table.operands[static_cast<std::size_t>(instruction.first_operand + k)];
      if (is_tensor_of(table, operand, large_elements))
        ++(operand.writes ? report.tensors_written : report.tensors_read);
    }
  }
  for (const ValueInfo& value : table.values)
    if (value.storage == Storage::temporary && value.first_use >= 0) ++report.temporaries;
  return report;
}

/// How often one launch reads the same tensor at most. One, where every operand is read in a single pass.
[[nodiscard]] constexpr int most_reads_of_one_tensor(const TableView& table) {
  int most = 0;
  for (const Instruction& instruction : table.instructions) {
    if (table.kernels[static_cast<std::size_t>(instruction.kernel)].is_operation) continue;
    for (int k = 0; k < instruction.operand_count; ++k) {
      const OperandInfo& operand = table.operands[static_cast<std::size_t>(instruction.first_operand + k)];
      if (!is_tensor_of(table, operand, 1) || operand.writes) continue;
      int reads = 0;
      for (int other = 0; other < instruction.operand_count; ++other) {
        const OperandInfo& candidate = table.operands[static_cast<std::size_t>(instruction.first_operand + other)];
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

} // namespace twill::inline v0::compile
