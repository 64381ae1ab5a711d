#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of compile/run/bindings.hpp.

#include <twill/compile/run/bindings.hpp>

namespace twill { inline namespace v0 { namespace compile { inline namespace TWILL_ISA {

TWILL_BODY void place_outside(Bound& bound, const RunArguments& arguments) {
  bound.numbers.orders = arguments.orders;
  kernel::Operand* const operands = bound.numbers.operands.data();
  const OutsideOperand* next = bound.numbers.outside.data();
  const auto place_before = [&](const OutsideOperand* end) {
    for (; next != end; ++next) {
      void* const* addresses = next->storage == Storage::input       ? arguments.inputs.data()
                               : next->storage == Storage::parameter ? arguments.parameters.data()
                                                                     : arguments.outputs.data();
      operands[next->operand].data = static_cast<std::byte*>(addresses[next->index]) + next->start;
    }
  };
  place_before(next + bound.numbers.first_staying);
  if (!std::equal(arguments.parameters.begin(), arguments.parameters.end(), bound.parameters.begin(),
                  bound.parameters.end())) {
    place_before(bound.numbers.outside.data() + bound.numbers.outside.size());
    std::copy_n(arguments.parameters.begin(), std::min(arguments.parameters.size(), bound.parameters.size()),
                bound.parameters.begin());
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
