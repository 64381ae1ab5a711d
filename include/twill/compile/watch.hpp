#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Looking for the first NaN or infinity of a run: instructions run one after the other, and what each has written is searched. It
// is slow and meant for the search only; the same kernels run on the same numbers, so what it finds is what happened. Values
// written in the steps of a loop are searched where they are used. Read next: compile/blame.hpp.

#include <twill/compile/run_joined.hpp>
#include <twill/core/config.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>

namespace twill::inline v0::compile::inline TWILL_ISA {

/// The first value that is not finite.
struct NotFinite {
  int value = -1; ///< in the table's list; -1: all are finite
  std::int64_t elements = 0;
  std::int64_t nans = 0;
  std::int64_t infinities = 0;

  [[nodiscard]] bool is_found() const { return value >= 0; }
};

} // namespace twill::inline v0::compile::inline TWILL_ISA

namespace twill::inline v0::compile::detail::inline TWILL_ISA {

template <class T> void count_not_finite(const void* data, NotFinite& found) {
  const auto* const elements = static_cast<const T*>(data);
  for (std::int64_t i = 0; i < found.elements; ++i) {
    const auto element = static_cast<double>(elements[i]);
    found.nans += std::isnan(element) ? 1 : 0;
    found.infinities += std::isinf(element) ? 1 : 0;
  }
}

/// Counts what is not finite in a dense value.
inline NotFinite search(const TableView& table, const graph::SymbolValues& symbols, int value, const void* data) {
  const ValueInfo& info = table.values[static_cast<std::size_t>(value)];
  NotFinite found{};
  found.elements = info.shape.elements().evaluate(symbols);
  if (info.dtype == DType::float32) count_not_finite<float>(data, found);
  if (info.dtype == DType::float64) count_not_finite<double>(data, found);
  if (info.dtype == DType::float16) count_not_finite<half>(data, found);
  if (info.dtype == DType::bfloat16) count_not_finite<bfloat16>(data, found);
  if (found.nans + found.infinities > 0) found.value = value;
  return found;
}

} // namespace twill::inline v0::compile::detail::inline TWILL_ISA

namespace twill::inline v0::compile::inline TWILL_ISA {

/// Runs everything once and keeps the first value that is not finite.
inline void run_watched(const Team& team, const TableView& table, Binding& binding,
                        std::span<const KernelFunction> kernels, NotFinite& found) {
  for_each_launch(binding, [&](const BoundInstruction* launch) {
    for (std::size_t m = 0; m < launch->members; ++m) {
      const BoundInstruction& instruction = launch[m];
      kernels[launch->kernel](team, binding.call(instruction));
      const Instruction& known =
          table.instructions[static_cast<std::size_t>(&instruction - binding.instructions.data())];
      for (std::size_t k = 0; k < instruction.operand_count && !found.is_found() && known.loop < 0; ++k) {
        const OperandInfo& operand = table.operands[instruction.first_operand + k];
        if (operand.kind != OperandKind::memory || !operand.writes) continue;
        found =
            detail::search(table, binding.symbols, operand.value, binding.operands[instruction.first_operand + k].data);
      }
    }
  });
}

} // namespace twill::inline v0::compile::inline TWILL_ISA
