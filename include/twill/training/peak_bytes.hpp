#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Peak memory of a planned training step as a constant: `static_assert(peak_bytes<Step, nn::Size<"batch", 64>> <=
// 80_GB)`, where `Step` is `training::StepOf<Model, nn::cross_entropy, optim::Adam, Labels>`. It is the total of
// `step.memory`, which the executor's own plan of the arena gives. Not in twill.hpp. Read next:
// parallel/fit/estimate.hpp, for steps that are divided among several devices.

#include <twill/compile/plan/memory_use.hpp>
#include <twill/compile/program_type.hpp>
#include <twill/core/config.hpp>
#include <twill/core/decimal_bytes.hpp>
#include <twill/nn/fit.hpp>
#include <twill/training/inspect.hpp>

#include <cstddef>
#include <cstdint>

namespace twill { inline namespace v0 { namespace training { namespace detail { inline namespace TWILL_ISA {

/// Whether a value of a table has an extent with this symbol.
[[nodiscard]] constexpr bool uses_symbol(const compile::TableView& table, int symbol) {
  for (const compile::ValueInfo& value : table.values)
    if (value.first_use >= 0 && value.shape.elements().power(symbol) > 0) return true;
  return false;
}

/// The numbers of a table's symbols: -1 for those that are used and have no size.
template <class... Dimensions> [[nodiscard]] constexpr graph::SymbolValues sizes_in(const compile::TableView& table) {
  graph::SymbolValues values{};
  values.fill(1);
  for (std::size_t i = 0; i < table.symbols.size(); ++i) {
    if (uses_symbol(table, static_cast<int>(i))) values[i] = -1;
    ((table.symbols[i].name.view() == Dimensions::name ? void(values[i] = Dimensions::extent) : void()), ...);
  }
  return values;
}

[[nodiscard]] constexpr bool are_all_given(const graph::SymbolValues& symbols) {
  for (const std::int64_t size : symbols)
    if (size < 0) return false;
  return true;
}

template <compile::Source Step, class... Dimensions> [[nodiscard]] constexpr std::int64_t peak_of_step() {
  using Table = compile::Compiled<Step>;
  constexpr graph::SymbolValues symbols = sizes_in<Dimensions...>(Table::view());
  constexpr bool has_all_sizes = are_all_given(symbols);
  static_assert(has_all_sizes, "twill: peak_bytes: a named dimension of the step has no size; give each one, "
                               "peak_bytes<Step, nn::Size<\"batch\", 64>>");
  std::int64_t peak = 0;
  if constexpr (has_all_sizes) {
    for (int slot = 0; slot < Table::view().slots; ++slot) {
      const std::int64_t own = compile::memory_use(Table::view(), symbols, slot).total();
      if (own > peak) peak = own;
    }
  }
  return peak;
}

}}}}} // namespace twill::v0::training::detail::TWILL_ISA

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

/// The most bytes that a step holds in the pool of one device, for batches of these sizes: weights, states, gradients
/// and activations, without the caller's batch. `Step` is a source, `training::StepOf<...>`, or the type
/// `source` of a step; of several device slots the one that needs most counts.
/// cost: compiles the step's tables, which the step does as well
template <compile::Source Step, class... Sizes>
inline constexpr std::int64_t peak_bytes = training::detail::peak_of_step<Step, Sizes...>();

}}} // namespace twill::v0::TWILL_ISA
