#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of parallel/pipeline/run/stage_optimisers.hpp.

#include <twill/parallel/pipeline/run/stage_optimisers.hpp>

namespace twill { inline namespace v0 { namespace parallel { namespace pipeline { namespace detail {
inline namespace TWILL_ISA {

TWILL_BODY parallel::Buckets weight_buckets(ListView<graph::ParameterInfo> infos,
                                            const parallel::BucketOptions& options, int parts) {
  const auto is_weight = [](const graph::ParameterInfo& info) { return info.role == graph::Role::weight; };
  auto entry = static_cast<std::size_t>(std::count_if(infos.begin(), infos.end(), is_weight));
  parallel::Buckets result{};
  result.entries = List<parallel::BucketEntry>(entry + 1, parallel::BucketEntry{});
  parallel::detail::BucketFiller filler{options};
  for (std::size_t i = infos.size(); i-- > 0;)
    if (is_weight(infos[i]))
      result.entries.items[entry--] = filler.add(infos[i].dtype, infos[i].shape.elements().factor);
  result.buckets = filler.finished(parts);
  return result;
}

TWILL_BODY std::vector<graph::ParameterInfo> divided_states(ListView<graph::ParameterInfo> network,
                                                            ListView<graph::ParameterInfo> table) {
  std::vector<graph::ParameterInfo> states{table.begin() + static_cast<std::ptrdiff_t>(network.size()), table.end()};
  for (std::size_t i = 0; i < states.size(); ++i) {
    int weight = parallel::detail::weight_of(table, network.size() + i);
    for (std::size_t k = 0; k < network.size() && weight >= 0; ++k)
      if (network[k].role == graph::Role::weight && weight-- == 0) states[i].shard = network[k].shard;
  }
  return states;
}

}}}}}} // namespace twill::v0::parallel::pipeline::detail::TWILL_ISA
