#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of data/batching.hpp.

#include <twill/data/batching.hpp>

namespace twill::inline v0::data::inline TWILL_ISA {

TWILL_BODY Batches::Batches(std::vector<std::int64_t> order, std::int64_t batch_size, LastBatch last)
    : order_{std::move(order)}, batch_size_{batch_size} {
  if (batch_size < 1)
    throw ValueError(join_text({"batches: a batch has at least 1 sample, got batch size ", batch_size}));
  count_ = batch_count(static_cast<std::int64_t>(order_.size()), batch_size, last);
}

TWILL_BODY std::span<const std::int64_t> Batches::operator[](std::int64_t batch) const {
  const auto begin = static_cast<std::size_t>(batch * batch_size_);
  const std::size_t left = order_.size() - begin;
  const auto size = static_cast<std::size_t>(batch_size_);
  return {order_.data() + begin, size < left ? size : left};
}

} // namespace twill::inline v0::data::inline TWILL_ISA
