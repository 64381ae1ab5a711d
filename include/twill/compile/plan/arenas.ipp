#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of compile/plan/arenas.hpp.

#include <twill/compile/plan/arenas.hpp>

namespace twill { inline namespace v0 { namespace compile { inline namespace TWILL_ISA {

TWILL_BODY ArenaPlan plan_arenas(const TableView& table, const graph::SymbolValues& symbols) {
  ArenaPlan all{};
  all.value_bytes.resize(table.values.size());
  all.offsets.resize(table.values.size(), -1);
  for (int slot = 0; slot < table.slots; ++slot) {
    List<int> planned(table.values.size(), -1);
    const memory::OffsetPlan plan = plan_arena(table, symbols, all.value_bytes, planned, slot);
    const auto bytes = static_cast<std::size_t>(plan.total_bytes);
    constexpr auto line = static_cast<std::size_t>(arena_alignment);
    const std::size_t first = (all.bytes + line - 1) / line * line;
    for (std::size_t v = 0; v < table.values.size(); ++v)
      if (planned[v] >= 0)
        all.offsets[v] = static_cast<std::int64_t>(first) + plan.offsets[static_cast<std::size_t>(planned[v])];
    all.arenas.push_back({first, bytes});
    all.bytes = first + bytes;
  }
  return all;
}

}}}} // namespace twill::v0::compile::TWILL_ISA
