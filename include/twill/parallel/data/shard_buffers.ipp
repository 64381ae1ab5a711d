#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of parallel/data/shard_buffers.hpp.

#include <twill/parallel/data/shard_buffers.hpp>

namespace twill { inline namespace v0 { namespace parallel { namespace detail { inline namespace TWILL_ISA {

TWILL_BODY std::vector<std::size_t> written_buffers(const compile::TableView& table) {
  std::vector<bool> found(table.parameters.size(), false);
  for (const compile::OperandBinding& operand : table.operands) {
    if (operand.kind != compile::OperandKind::memory || !operand.writes) continue;
    const compile::ValueInfo& value = table.values[static_cast<std::size_t>(operand.value)];
    if (value.storage != compile::Storage::parameter) continue;
    const auto number = static_cast<std::size_t>(value.index);
    if (table.parameters[number].role == graph::Role::buffer) found[number] = true;
  }
  std::vector<std::size_t> numbers{};
  for (std::size_t i = 0; i < found.size(); ++i)
    if (found[i]) numbers.push_back(i);
  return numbers;
}

}}}}} // namespace twill::v0::parallel::detail::TWILL_ISA
