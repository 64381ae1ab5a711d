#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Memory that a rank holds in all steps, entered into its ledger: weights, buffers, and the rule's states, whole or a
// rank's part of them. Not in twill.hpp. Read next: parallel/fit/replica.hpp, parallel/fit/pipeline_replay.hpp.

#include <twill/compile/table.hpp>
#include <twill/core/config.hpp>
#include <twill/parallel/data/shards.hpp>
#include <twill/parallel/fit/ledger.hpp>

#include <cstdint>
#include <vector>

namespace twill { inline namespace v0 { namespace parallel { namespace fit { inline namespace TWILL_ISA {

/// Weights and buffers of a table that are on the device of a slot.
void hold_weights(Ledger& ledger, const compile::TableView& table, int slot = 0);
/// Those that are not trained: buffers and frozen weights.
void hold_untrained(Ledger& ledger, const compile::TableView& table);
/// The rule's states in the table of an update, on the device of a slot.
void hold_states(Ledger& ledger, const compile::TableView& update, int slot = 0);
/// A rank's part of the rule's states, by its parts of the weights.
void hold_parts_of_states(Ledger& ledger, const compile::TableView& update, const std::vector<Part>& parts);

/// The bytes of the trained weights of a table, which are those of their gradients.
[[nodiscard]] std::int64_t gradient_bytes(const compile::TableView& table);

}}}}} // namespace twill::v0::parallel::fit::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/parallel/fit/held.ipp>
#endif
