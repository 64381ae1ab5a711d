#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of parallel/group/rank_sums.hpp.

#include <twill/parallel/group/rank_sums.hpp>

namespace twill { inline namespace v0 { namespace parallel { inline namespace TWILL_ISA {

TWILL_BODY RankSums::RankSums(const compile::TableView& table) {
  for (std::size_t i = 0; i < table.instructions.size(); ++i) {
    const compile::KernelInfo& kernel = table.kernels[static_cast<std::size_t>(table.instructions[i].kernel)];
    if (kernel.kind != compile::KernelKind::operation || kernel.operation != graph::rank_sum_operation.name) continue;
    if (table.instructions[i].loop >= 0)
      throw ValueError("rank_sum: the steps of a scan run without the host; take the sum outside of it");
    instructions_.push_back(i);
    places_.push_back(compile::place_after(table, static_cast<int>(i)));
  }
}

}}}} // namespace twill::v0::parallel::TWILL_ISA
