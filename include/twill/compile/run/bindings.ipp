#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of compile/run/bindings.hpp.

#include <twill/compile/run/bindings.hpp>

namespace twill { inline namespace v0 { namespace compile { inline namespace TWILL_ISA {

TWILL_BODY void place_outside(Bound& bound, const RunArguments& arguments) {
  bound.numbers.orders = arguments.orders;
  kernel::Operand* const operands = bound.numbers.operands.data();
  for (const OutsideOperand& operand : bound.numbers.outside) {
    void* const* addresses = operand.storage == Storage::input       ? arguments.inputs.data()
                             : operand.storage == Storage::parameter ? arguments.parameters.data()
                                                                     : arguments.outputs.data();
    operands[operand.operand].data = static_cast<std::byte*>(addresses[operand.index]) + operand.start;
  }
  for (const RandomOperand& operand : bound.numbers.random)
    operands[operand.operand].bits =
        static_cast<std::uint64_t>(arguments.first_row * operand.elements_per_row + operand.start);
}

TWILL_BODY void place_operands(Bound& bound, void* arena, const RunArguments& arguments) {
  if (bound.arena != arena) {
    for (const OutsideOperand& operand : bound.numbers.inside)
      bound.numbers.operands[operand.operand].data = static_cast<std::byte*>(arena) + operand.index + operand.start;
    bound.arena = arena;
  }
  place_outside(bound, arguments);
}

}}}} // namespace twill::v0::compile::TWILL_ISA
