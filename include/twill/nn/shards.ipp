#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of nn/shards.hpp.

#include <twill/nn/shards.hpp>

#include <type_traits>

namespace twill { inline namespace v0 { namespace nn { namespace detail { inline namespace TWILL_ISA {

TWILL_BODY double element_of(DType dtype, const std::byte* data, std::size_t index) {
  return with_scalar(dtype, [&]<class T>() {
    std::conditional_t<std::is_same_v<T, bool>, std::uint8_t, T> value{};
    std::memcpy(&value, data + index * sizeof(T), sizeof(T));
    if constexpr (ComplexScalar<T>)
      return static_cast<double>(value.re); // `compare` refuses them
    else
      return static_cast<double>(static_cast<T>(value));
  });
}

}}}}} // namespace twill::v0::nn::detail::TWILL_ISA

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
