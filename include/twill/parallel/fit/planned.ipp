#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of parallel/fit/planned.hpp.

#include <twill/compile/passes/lower.hpp>
#include <twill/core/error.hpp>
#include <twill/core/text.hpp>
#include <twill/parallel/fit/planned.hpp>

namespace twill { inline namespace v0 { namespace parallel { namespace fit { inline namespace TWILL_ISA {

TWILL_BODY PlannedProgram::PlannedProgram(graph::Graph traced, std::string_view what)
    : graph_{traced}, lowered_{compile::lower(std::move(traced))} {
  if (const graph::Fault& fault = lowered_.fault; fault.any())
    throw ValueError(
        join_text({"fit: ", what, " cannot be planned (problem ", static_cast<int>(fault.problem), ", values ",
                   fault.left, " and ", fault.right, "); a program that trains it does not compile, and says which"}));
}

TWILL_BODY Sizes with_rows(const Sizes& sizes, std::string_view rows_name, std::int64_t rows) {
  Sizes result = sizes;
  for (auto& [name, size] : result)
    if (name == rows_name) size = rows;
  return result;
}

TWILL_BODY graph::SymbolValues symbols_of(const graph::Graph& graph, const Sizes& sizes) {
  graph::SymbolValues symbols{};
  symbols.fill(1);
  for (std::size_t i = 0; i < graph.symbols.size(); ++i)
    for (const auto& [name, size] : sizes)
      if (graph.symbols[i].name.view() == name) symbols[i] = size;
  return symbols;
}

TWILL_BODY graph::SymbolValues PlannedProgram::symbols(const Sizes& sizes) const {
  graph::SymbolValues values{};
  values.fill(1);
  const compile::TableView table = view();
  for (std::size_t i = 0; i < table.symbols.size(); ++i) {
    bool is_given = false;
    for (const auto& [name, size] : sizes)
      if (table.symbols[i].name.view() == name) values[i] = size, is_given = true;
    for (std::size_t v = 0; v < table.values.size() && !is_given; ++v)
      if (table.values[v].first_use >= 0 && table.values[v].shape.elements().power(static_cast<int>(i)) > 0)
        throw ValueError(join_text({"fit: the dimension \"", table.symbols[i].name.view(),
                                    "\" has no size; give it, --size ", table.symbols[i].name.view(), "=64"}));
  }
  return values;
}

TWILL_BODY const ArenaBytes& PlannedProgram::arena(const graph::SymbolValues& symbols, int slot) const {
  if (const auto known = arenas_.find({symbols, slot}); known != arenas_.end()) return known->second;
  const compile::TableView table = view();
  ArenaBytes found{};
  std::vector<std::int64_t> change(table.instructions.size() + 1, 0);
  for (const compile::ValueInfo& value : table.values) {
    if (value.storage != compile::Storage::temporary || value.first_use < 0 || value.slot != slot) continue;
    const std::int64_t bytes = compile::bytes_of(value.dtype, value.shape, symbols);
    change[static_cast<std::size_t>(value.first_use)] += bytes;
    change[static_cast<std::size_t>(value.last_use) + 1] -= bytes;
  }
  std::int64_t live = 0;
  for (const std::int64_t bytes : change) {
    live += bytes;
    if (live > found.live) found.live = live;
  }
  found.total = compile::memory_use(table, symbols, slot).arena;
  return arenas_.emplace(std::pair{symbols, slot}, found).first->second;
}

TWILL_BODY bool PlannedProgram::reads_input(std::size_t input) const {
  for (const compile::ValueInfo& value : view().values)
    if (value.storage == compile::Storage::input && value.first_use >= 0 && value.index == static_cast<int>(input))
      return true;
  return false;
}

}}}}} // namespace twill::v0::parallel::fit::TWILL_ISA
