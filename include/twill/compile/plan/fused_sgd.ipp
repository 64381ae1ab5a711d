#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of compile/plan/fused_sgd.hpp.

#include <twill/compile/plan/fused_sgd.hpp>

namespace twill { inline namespace v0 { namespace compile { inline namespace TWILL_ISA {

TWILL_BODY void FuseSgdUpdates::apply(const TableView& table, Binding& binding) const {
  binding.run_fused_sgd = run_;
  for (const FusedSgdUpdate& descent : find_fused_sgd(table, binding.symbols)) {
    const auto product = static_cast<std::size_t>(descent.product);
    const auto update = static_cast<std::size_t>(descent.update);
    if (binding.dtypes[binding.instructions[update].first_operand] != weights_) continue;
    binding.instructions[product].part = FusedSgdPart::keeps_factors;
    binding.instructions[product].has_fused_sgd = true;
    binding.instructions[update].part = FusedSgdPart::updates;
    binding.instructions[update].product = product;
    std::size_t launch = update;
    while (table.instructions[launch].continues) --launch;
    binding.instructions[launch].has_fused_sgd = true;
  }
}

}}}} // namespace twill::v0::compile::TWILL_ISA
