#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of compile/run_descents.hpp.

#include <twill/compile/run_descents.hpp>

namespace twill::inline v0::compile::detail::inline TWILL_ISA {

TWILL_BODY void run_descent(const Team& team, const Binding& binding, const BoundInstruction& instruction) {
  const bool is_single = binding.dtypes[instruction.first_operand] == DType::float32;
  if (instruction.part == DescentPart::keeps_factors) {
    const kernel::Call product = binding.call(instruction);
    return is_single ? keep_factors<float>(product) : keep_factors<double>(product);
  }
  const kernel::Call product = binding.call(binding.instructions[instruction.product]);
  const kernel::Call update = binding.call(instruction);
  is_single ? descend<float>(team, product, update) : descend<double>(team, product, update);
}

} // namespace twill::inline v0::compile::detail::inline TWILL_ISA
