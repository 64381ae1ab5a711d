#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of nn/shards.hpp.

#include <twill/nn/shards.hpp>

namespace twill { inline namespace v0 { namespace nn { inline namespace TWILL_ISA {

TWILL_BODY std::vector<std::byte> part_of_whole(const graph::ParameterInfo& info, std::span<const std::byte> whole,
                                                int rank) {
  std::vector<std::byte> part(whole.size() / static_cast<std::size_t>(info.shard.axis.size));
  detail::for_each_run(info, rank, [&](std::size_t from, std::size_t to, std::size_t bytes) {
    std::memcpy(part.data() + to, whole.data() + from, bytes);
  });
  return part;
}

TWILL_BODY void put_part(const graph::ParameterInfo& info, std::span<const std::byte> part, int rank,
                         std::span<std::byte> whole) {
  detail::for_each_run(info, rank, [&](std::size_t to, std::size_t from, std::size_t bytes) {
    std::memcpy(whole.data() + to, part.data() + from, bytes);
  });
}

}}}} // namespace twill::v0::nn::TWILL_ISA
