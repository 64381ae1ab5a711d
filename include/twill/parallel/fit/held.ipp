#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of parallel/fit/held.hpp.

#include <twill/device/cpu/cpu.hpp>
#include <twill/parallel/data/sharded_state.hpp>
#include <twill/parallel/fit/held.hpp>

namespace twill { inline namespace v0 { namespace parallel { namespace fit::detail { inline namespace TWILL_ISA {

/// Holds the parameters of a table that are chosen.
template <class Chosen>
void hold_parameters(Ledger& ledger, Bytes kind, const compile::TableView& table, const Chosen& is_chosen) {
  for (const graph::ParameterInfo& info : table.parameters)
    if (is_chosen(info)) ledger.hold(kind, compile::bytes_of(info.dtype, info.shape, {}));
}

}}}}} // namespace twill::v0::parallel::fit::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace parallel { namespace fit { inline namespace TWILL_ISA {

TWILL_BODY void hold_weights(Ledger& ledger, const compile::TableView& table, int slot) {
  detail::hold_parameters(ledger, Bytes::weights, table, [slot](const graph::ParameterInfo& info) {
    return info.role != graph::Role::optimiser_state && info.slot == slot;
  });
}

TWILL_BODY void hold_untrained(Ledger& ledger, const compile::TableView& table) {
  detail::hold_parameters(ledger, Bytes::weights, table, [](const graph::ParameterInfo& info) {
    return info.role == graph::Role::frozen_weight || info.role == graph::Role::buffer;
  });
}

TWILL_BODY void hold_states(Ledger& ledger, const compile::TableView& update, int slot) {
  detail::hold_parameters(ledger, Bytes::states, update, [slot](const graph::ParameterInfo& info) {
    return info.role == graph::Role::optimiser_state && info.slot == slot;
  });
}

TWILL_BODY void hold_parts_of_states(Ledger& ledger, const compile::TableView& update, const std::vector<Part>& parts) {
  ledger.hold(Bytes::states, ShardedState<Cpu>::bytes(update.parameters, parts));
  std::int64_t stand_ins = 0;
  for (const Part& part : parts) stand_ins += part.needs_stand_in() ? 2 * 64 : 0;
  ledger.hold(Bytes::working, stand_ins);
}

TWILL_BODY std::int64_t gradient_bytes(const compile::TableView& table) {
  std::int64_t bytes = 0;
  for (const graph::ParameterInfo& info : table.parameters)
    if (info.role == graph::Role::weight) bytes += compile::bytes_of(info.dtype, info.shape, {});
  return bytes;
}

}}}}} // namespace twill::v0::parallel::fit::TWILL_ISA
