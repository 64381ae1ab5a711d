#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Working memory of a program's operations on a GPU: decompositions and Fourier transforms take theirs from the pool
// while they run, beside the arena, one after another. An operation's rule tells the bytes for given sizes, the
// library's own at their most. Read next: linalg/working_bytes.hpp, fft/gpu/lines_plan.hpp.

#include <twill/compile/table.hpp>
#include <twill/core/config.hpp>
#include <twill/core/shape.hpp>
#include <twill/graph/node.hpp>
#include <twill/memory/size_classes.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace twill { inline namespace v0 { namespace compile { inline namespace TWILL_ISA {

/// The bytes of a pool that an allocation of this size takes.
[[nodiscard]] TWILL_CONSTEXPR std::int64_t pool_bytes(std::int64_t bytes) {
  return bytes == 0 ? 0 : static_cast<std::int64_t>(memory::ReferenceSizes::round(static_cast<std::size_t>(bytes)));
}

/// The bytes that the kernel of an instruction takes of a GPU's pool while it runs.
[[nodiscard]] TWILL_CONSTEXPR std::int64_t working_bytes(const TableView& table, const Instruction& instruction,
                                                         const graph::SymbolValues& symbols) {
  const KernelInfo& kernel = table.kernels[static_cast<std::size_t>(instruction.kernel)];
  if (kernel.working_bytes == nullptr) return 0;
  std::array<Dims, graph::max_inputs + graph::max_results> shapes{};
  graph::SizedCall call{};
  call.dtype = kernel.dtype;
  call.shapes = shapes.data();
  if (!table.attributes.empty()) call.attributes = table.attributes.data() + instruction.first_attribute;
  for (int i = 0; i < instruction.operand_count; ++i) {
    shapes[static_cast<std::size_t>(i)] =
        table.shapes[static_cast<std::size_t>(instruction.first_shape + i)].evaluate(symbols);
    if (table.operands[static_cast<std::size_t>(instruction.first_operand + i)].kind != OperandKind::nothing)
      call.there |= 1U << i;
  }
  return kernel.working_bytes(call);
}

/// The most bytes that the operations of a slot take of a GPU's pool while one of them runs; 0 in programs of hosts.
[[nodiscard]] TWILL_CONSTEXPR std::int64_t working_bytes(const TableView& table, const graph::SymbolValues& symbols,
                                                         int slot = 0) {
  std::int64_t most = 0;
  if (!table.suits_gpus) return most;
  for (const Instruction& instruction : table.instructions) {
    if (instruction.slot != slot) continue;
    const std::int64_t bytes = working_bytes(table, instruction, symbols);
    if (bytes > most) most = bytes;
  }
  return most;
}

}}}} // namespace twill::v0::compile::TWILL_ISA
