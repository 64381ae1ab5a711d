#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Conversion of state-dictionary tensors between one device and many ranks: whole tensors on every rank, gathered from
// parts or from one stage of a pipeline, and a rank's part of them. Read next: parallel/model/state.hpp.

#include <twill/core/config.hpp>
#include <twill/core/text.hpp>
#include <twill/device/copy.hpp>
#include <twill/kernel/rank_group.hpp>
#include <twill/memory/buffer.hpp>
#include <twill/nn/shards.hpp>
#include <twill/nn/state_dict.hpp>
#include <twill/nn/stored_tensor.hpp>
#include <twill/parallel/group/communicator.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace parallel { inline namespace TWILL_ISA {

/// A collective call of the ranks of a pipeline and of those along the axis, among `groups`, by which the tensor is
/// divided. Rank `owner` of the pipeline has the stage: there `own` is this rank's part, or all of it. With `replicas`
/// the first of these determines it.    throws: CommunicatorError
template <Communicator C>
[[nodiscard]] nn::StoredTensor whole_tensor(C& along_pipe, const kernel::RankGroups& groups,
                                            const graph::ParameterInfo& info, int owner, const void* own,
                                            C* replicas = nullptr) {
  using D = typename C::Device;
  kernel::RankGroup* const group = info.shard.is_part() ? groups.find(info.shard.axis) : nullptr;
  const std::int64_t count = info.shape.elements().factor;
  const std::int64_t parts = group != nullptr ? info.shard.axis.size : 1;
  const auto part_bytes = static_cast<std::size_t>(count) * size_of(info.dtype);
  const D device(along_pipe.device());
  auto [tensor, data] = nn::StoredTensor::make(info.dtype, nn::whole_shape(info).evaluate({}));
  if (count == 0) return std::move(tensor);

  const memory::Buffer<D> gathered(device, part_bytes * static_cast<std::size_t>(parts));
  if (along_pipe.rank() == owner) {
    if (group != nullptr)
      group->run({kernel::Collective::all_gather, kernel::Reduction::sum, info.dtype, own, count, gathered.data(),
                  count * parts});
    else
      copy_bytes(device, gathered.data(), device, own, part_bytes, CopyOptions{});
    synchronize(device);
  }
  const Elements elements{gathered.data(), count * parts, info.dtype};
  along_pipe.run(Call::broadcast(elements, owner));
  if (replicas != nullptr) replicas->run(Call::broadcast(elements, 0));
  std::vector<std::byte> host(gathered.bytes());
  copy_bytes(Cpu{}, host.data(), device, gathered.data(), host.size(), CopyOptions{});
  synchronize(device);
  if (group == nullptr) std::memcpy(data, host.data(), host.size());
  for (std::size_t rank = 0; group != nullptr && rank < static_cast<std::size_t>(parts); ++rank)
    nn::put_part(info, {host.data() + rank * part_bytes, part_bytes}, static_cast<int>(rank),
                 {data, tensor.bytes.size()});
  return std::move(tensor);
}

/// The part of a stored tensor that a rank along the weight's axis loads: its part, or all of an undivided one.
/// throws: ShapeError naming the key and both sides
[[nodiscard]] nn::StoredTensor part_of_stored(const graph::ParameterInfo& info, std::string_view name,
                                              const nn::StoredTensor& tensor, int rank);

}}}} // namespace twill::v0::parallel::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/parallel/model/whole_tensors.ipp>
#endif
