#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of parallel/data/reproducible_step.hpp.

#include <twill/parallel/data/reproducible_step.hpp>

namespace twill { inline namespace v0 { namespace parallel { namespace detail { inline namespace TWILL_ISA {

TWILL_BODY void require_shards(const Reproducible& policy, int ranks) {
  if (policy.shards < ranks)
    throw ValueError(join_text(
        {"Reproducible: a batch has at least one shard for each of ", ranks, " ranks, got .shards = ", policy.shards}));
}

TWILL_BODY void require_rows_of_shards(const Reproducible& policy, const Shares& shares, std::int64_t rows, int rank,
                                       int ranks) {
  if (shares.all_rows < policy.shards)
    throw ValueError(join_text({"Reproducible: a batch of ", shares.all_rows, " rows on all ranks does not fill ",
                                policy.shards, " shards; give it more rows, or train with fewer .shards"}));
  const Rows own = policy.rows_of(shares.all_rows, rank, ranks);
  if (own.count != rows || own.begin != shares.first_row)
    throw ValueError(
        join_text({"Reproducible: of a batch of ", shares.all_rows, " rows in ", policy.shards, " shards, rank ", rank,
                   " of ", ranks, " has rows ", own.begin, " to ", own.begin + own.count, ", got rows ",
                   shares.first_row, " to ", shares.first_row + rows, "; cut the batch by step.rows_of(rows)"}));
}

TWILL_BODY void require_one_type(const compile::TableView& table, DType dtype) {
  for (const compile::ValueInfo& value : table.values)
    if (value.storage == compile::Storage::output && value.dtype != dtype)
      throw ValueError(join_text({"Reproducible: gradients have the element type of the network, ", name(dtype),
                                  ", got ", name(value.dtype)}));
}

TWILL_BODY void require_elementwise(const compile::TableView& update) {
  if (compile::adds_over_ranks(update))
    throw ValueError("Reproducible: the rule sums over all elements of weights or gradients, as clipping, loss scales "
                     "and LAMB do, which zero sums part by part; train without zero, or by another rule");
}

}}}}} // namespace twill::v0::parallel::detail::TWILL_ISA
