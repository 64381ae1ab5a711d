#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of parallel/data/distributed.hpp.

#include <twill/parallel/data/distributed.hpp>

#include <algorithm>

namespace twill { inline namespace v0 { namespace parallel { namespace detail { inline namespace TWILL_ISA {

TWILL_BODY std::uint64_t fingerprint(ListView<graph::ParameterInfo> infos) {
  constexpr std::uint64_t prime = 0x100000001b3;
  std::uint64_t hash = infos.size();
  const auto mix = [&](std::uint64_t number) { hash = (hash ^ number) * prime; };
  for (const graph::ParameterInfo& info : infos) {
    mix(info.name.hash);
    mix(static_cast<std::uint64_t>(info.dtype));
    mix(static_cast<std::uint64_t>(info.role));
    for (int axis = 0; axis < info.shape.rank; ++axis) mix(static_cast<std::uint64_t>(info.shape[axis].factor));
  }
  return hash;
}

/// Calls `f(info, stride)` for the first weight divided along each axis; `stride` is the value of the axis's digit.
template <class F> void for_each_divided_axis(ListView<graph::ParameterInfo> infos, const F& f) {
  std::vector<kernel::AxisId> known{};
  std::int64_t stride = 1;
  for (const graph::ParameterInfo& info : infos) {
    const kernel::AxisId& axis = info.shard.axis;
    if (axis.size < 2 || std::find(known.begin(), known.end(), axis) != known.end()) continue;
    known.push_back(axis);
    f(info, stride);
    stride *= axis.size;
  }
}

TWILL_BODY std::int64_t places_of_parts(ListView<graph::ParameterInfo> infos, const kernel::RankGroups& groups) {
  std::int64_t places = 0;
  for_each_divided_axis(infos, [&](const graph::ParameterInfo& info, std::int64_t stride) {
    const kernel::RankGroup* const group = groups.find(info.shard.axis);
    if (group == nullptr)
      throw ValueError(join_text({"DistributedDataParallel: '", info.name.view(), "' is divided along the axis '",
                                  info.shard.axis.name(), "', of which the network has no group; ",
                                  "call network.bind(parallel::rank_group<Axis>(communicator)) first"}));
    places += group->rank() * stride;
  });
  return places;
}

TWILL_BODY void require_replicas(ListView<graph::ParameterInfo> infos, std::span<const std::int64_t> of_ranks) {
  for (std::size_t rank = 1; 2 * rank < of_ranks.size(); ++rank) {
    if (of_ranks[2 * rank] != of_ranks[0])
      throw ValueError(join_text({"DistributedDataParallel: the weights of rank ", rank,
                                  " differ in name, type or shape from those of rank 0; make the same network on "
                                  "all ranks"}));
    for_each_divided_axis(infos, [&](const graph::ParameterInfo& info, std::int64_t stride) {
      const auto place = [&](std::int64_t places) { return places / stride % info.shard.axis.size; };
      const std::int64_t first = place(of_ranks[1]);
      const std::int64_t own = place(of_ranks[2 * rank + 1]);
      if (own == first) return;
      const std::string axis = info.shard.axis.name();
      throw ValueError(join_text({"DistributedDataParallel: '", info.name.view(), "' is divided along the axis '", axis,
                                  "': rank ", rank, " holds part ", own, ", rank 0 part ", first,
                                  ", and replicas hold equal parts; give it the ranks of one place along '", axis,
                                  "', communicator.split(place, rank)"}));
    });
  }
}

}}}}} // namespace twill::v0::parallel::detail::TWILL_ISA
