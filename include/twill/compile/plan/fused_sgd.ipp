#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of compile/plan/fused_sgd.hpp.

#include <twill/compile/plan/fused_sgd.hpp>

namespace twill::inline v0::compile::inline TWILL_ISA {

TWILL_BODY void DescentsInProducts::apply(const TableView& table, Binding& binding) const {
  for (const Descent& descent : find_descents(table, binding.symbols)) {
    const auto product = static_cast<std::size_t>(descent.product);
    const auto update = static_cast<std::size_t>(descent.update);
    binding.instructions[product].part = DescentPart::keeps_factors;
    binding.instructions[product].descends = true;
    binding.instructions[update].part = DescentPart::updates;
    binding.instructions[update].product = product;
    std::size_t launch = update;
    while (table.instructions[launch].continues) --launch;
    binding.instructions[launch].descends = true;
  }
}

} // namespace twill::inline v0::compile::inline TWILL_ISA
