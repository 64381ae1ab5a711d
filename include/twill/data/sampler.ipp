#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of data/sampler.hpp.

#include <twill/data/sampler.hpp>

namespace twill { inline namespace v0 { namespace data { inline namespace TWILL_ISA {

TWILL_BODY std::vector<std::int64_t> SequentialSampler::order(std::int64_t size, std::int64_t /*epoch*/) const {
  std::vector<std::int64_t> indices(static_cast<std::size_t>(size));
  std::iota(indices.begin(), indices.end(), std::int64_t{0});
  return indices;
}

TWILL_BODY std::vector<std::int64_t> ShuffledSampler::order(std::int64_t size, std::int64_t epoch) const {
  auto indices = SequentialSampler{}.order(size, epoch);
  for (std::int64_t i = size - 1; i > 0; --i) {
    const auto j =
        draw(static_cast<std::uint64_t>(i), static_cast<std::uint64_t>(epoch)) % (static_cast<std::uint64_t>(i) + 1);
    std::swap(indices[static_cast<std::size_t>(i)], indices[static_cast<std::size_t>(j)]);
  }
  return indices;
}

TWILL_BODY std::uint64_t ShuffledSampler::draw(std::uint64_t i, std::uint64_t epoch) const {
  const auto low = [](std::uint64_t value) { return static_cast<std::uint32_t>(value); };
  const auto high = [](std::uint64_t value) { return static_cast<std::uint32_t>(value >> 32); };
  const auto words = philox4x32({low(i), high(i), low(epoch), high(epoch)}, {low(seed), high(seed)});
  return std::uint64_t{words[1]} << 32 | words[0];
}

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

}}}} // namespace twill::v0::data::TWILL_ISA
