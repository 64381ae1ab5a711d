#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of compile/run/partial_update.hpp.

#include <twill/compile/run/partial_update.hpp>

namespace twill { inline namespace v0 { namespace compile { namespace detail { inline namespace TWILL_ISA {

TWILL_BODY std::size_t first_update(const TableView& table, const Binding& binding) {
  const std::size_t count = binding.instructions.size();
  for (std::size_t i = 0, end = 0; i < count; i = end) {
    end = i + binding.instructions[i].members;
    if (!changes_parameters(table, i, end)) continue;
    for (const BoundLoop& loop : binding.loops)
      if (loop.first <= i && i < loop.end) return loop.first;
    return i;
  }
  return count;
}

}}}}} // namespace twill::v0::compile::detail::TWILL_ISA
