#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of compile/watch.hpp.

#include <twill/compile/watch.hpp>

namespace twill::inline v0::compile::detail::inline TWILL_ISA {

TWILL_BODY NotFinite search(const TableView& table, const graph::SymbolValues& symbols, int value, const void* data) {
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

TWILL_BODY void FiniteWatcher::see(const TableView& table, const graph::SymbolValues& symbols, int value,
                                   const void* data) {
  if (!found.is_found()) found = detail::search(table, symbols, value, data);
}

TWILL_BODY void run_watched(const Team& team, const TableView& table, Binding& binding, std::size_t begin,
                            std::size_t end, std::span<const KernelFunction> kernels, Watcher& watcher) {
  run_one_by_one(
      table, binding, begin, end,
      [&](const BoundInstruction& instruction, const kernel::Call& call) { kernels[instruction.kernel](team, call); },
      [&](int value, const void* data) { watcher.see(table, binding.symbols, value, data); });
}

} // namespace twill::inline v0::compile::inline TWILL_ISA
