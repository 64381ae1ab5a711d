#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of parallel/pipeline/run/machine.hpp.

#include <twill/compile/passes/simplify.hpp>
#include <twill/compile/plan/memory_use.hpp>
#include <twill/parallel/pipeline/run/machine.hpp>

#include <cstddef>

namespace twill { inline namespace v0 { namespace parallel { namespace pipeline { inline namespace TWILL_ISA {

TWILL_BODY double counted_s(const compile::TableView& table, const graph::Graph& trace,
                            const graph::SymbolValues& symbols, const Machine& machine) {
  double bytes = 0;
  double launches = 0;
  for (const compile::Instruction& instruction : table.instructions) {
    launches += instruction.continues ? 0 : 1;
    for (int k = 0; k < instruction.operand_count; ++k) {
      const compile::OperandBinding& operand = table.operands[static_cast<std::size_t>(instruction.first_operand + k)];
      if (operand.kind != compile::OperandKind::memory || operand.value < 0) continue;
      const compile::ValueInfo& value = table.values[static_cast<std::size_t>(operand.value)];
      bytes += static_cast<double>(compile::bytes_of(value.dtype, value.shape, symbols));
    }
  }
  double operations = 0;
  const List<char> needed = compile::needed_nodes(trace);
  for (int id = 0; id < trace.size(); ++id)
    if (needed.data()[id] != 0 && trace.node(id).kind == graph::Kind::operation)
      operations += static_cast<double>(compile::work_of(trace, trace.node(id), symbols).operations);
  const double traffic_s = machine.bytes_per_s > 0 ? bytes / machine.bytes_per_s : 0;
  const double arithmetic_s = machine.operations_per_s > 0 ? operations / machine.operations_per_s : 0;
  return arithmetic_s + traffic_s + launches * machine.launch_s;
}

}}}}} // namespace twill::v0::parallel::pipeline::TWILL_ISA
