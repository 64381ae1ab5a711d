#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Conversion between a weight's part on each rank along an axis and the whole weight of a single device: initial values
// are drawn for the whole, files hold the whole. Bytes in host memory, row-major. Read next: nn/tensor_parallel.hpp.

#include <twill/core/config.hpp>
#include <twill/core/dtype.hpp>
#include <twill/core/shape.hpp>
#include <twill/graph/parameter.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace twill { inline namespace v0 { namespace nn { inline namespace TWILL_ISA {

/// The shape of the whole weight.
[[nodiscard]] TWILL_CONSTEXPR graph::Extents whole_shape(const graph::ParameterInfo& info) {
  graph::Extents shape = info.shape;
  if (info.shard.is_part()) shape[info.shard.dimension].factor *= info.shard.axis.size;
  return shape;
}

}}}} // namespace twill::v0::nn::TWILL_ISA

namespace twill { inline namespace v0 { namespace nn { namespace detail { inline namespace TWILL_ISA {

/// Number `index` of an array of elements.
[[nodiscard]] double element_of(DType dtype, const std::byte* data, std::size_t index);

/// Calls `f(in the whole, in the part, bytes)` for every run of bytes shared by a rank's part and the whole.
template <class F> void for_each_run(const graph::ParameterInfo& info, int rank, const F& f) {
  const Dims part = info.shape.evaluate({});
  const graph::ShardInfo& shard = info.shard;
  const auto ranks = static_cast<std::size_t>(shard.axis.size);
  std::size_t outer = static_cast<std::size_t>(shard.blocks);
  for (int axis = 0; axis < shard.dimension; ++axis) outer *= static_cast<std::size_t>(part[axis]);
  const std::size_t bytes = static_cast<std::size_t>(part.elements()) * size_of(info.dtype);
  const std::size_t run = outer == 0 ? 0 : bytes / outer;
  for (std::size_t i = 0; i < outer && run > 0; ++i)
    f((i * ranks + static_cast<std::size_t>(rank)) * run, i * run, run);
}

}}}}} // namespace twill::v0::nn::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace nn { inline namespace TWILL_ISA {

/// A rank's part of a whole weight.
[[nodiscard]] std::vector<std::byte> part_of_whole(const graph::ParameterInfo& info, std::span<const std::byte> whole,
                                                   int rank);

/// Writes a rank's part into the whole weight.
void put_part(const graph::ParameterInfo& info, std::span<const std::byte> part, int rank, std::span<std::byte> whole);

}}}} // namespace twill::v0::nn::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/nn/shards.ipp>
#endif
