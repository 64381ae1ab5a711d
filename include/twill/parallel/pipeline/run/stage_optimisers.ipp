#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of parallel/pipeline/run/stage_optimisers.hpp.

#include <twill/parallel/pipeline/run/stage_optimisers.hpp>

namespace twill { inline namespace v0 { namespace parallel { namespace pipeline { namespace detail {
inline namespace TWILL_ISA {

TWILL_BODY parallel::Buckets weight_buckets(std::span<const graph::ParameterInfo> infos,
                                            const parallel::BucketOptions& options, int parts) {
  constexpr std::int64_t line = 64;
  const auto per_line = [](DType dtype) { return line / static_cast<std::int64_t>(size_of(dtype)); };
  const auto is_weight = [](const graph::ParameterInfo& info) { return info.role == graph::Role::weight; };
  auto entry = static_cast<std::size_t>(std::count_if(infos.begin(), infos.end(), is_weight));
  parallel::Buckets result{};
  result.entries = List<parallel::BucketEntry>(entry + 1, parallel::BucketEntry{});
  std::vector<int> open{}; // one of each type
  for (std::size_t i = infos.size(); i-- > 0;) {
    const graph::ParameterInfo& info = infos[i];
    if (!is_weight(info)) continue;
    std::size_t place = 0;
    while (place < open.size() && result.buckets.items[open[place]].dtype != info.dtype) ++place;
    if (place == open.size()) {
      open.push_back(static_cast<int>(result.buckets.size()));
      result.buckets.push_back({info.dtype, 0});
    }
    const int number = open[place];
    parallel::Bucket& bucket = result.buckets.items[number];
    const std::int64_t count = info.shape.elements().factor;
    result.entries.items[entry--] = {number, bucket.count, count};
    bucket.count += parallel::detail::rounded_up(count, per_line(info.dtype));
    if (bucket.bytes() >= (number == 0 ? options.first_bucket_bytes : options.bucket_bytes))
      open.erase(open.begin() + static_cast<std::ptrdiff_t>(place));
  }
  for (parallel::Bucket& bucket : result.buckets)
    bucket.count = parallel::detail::rounded_up(bucket.count, parts * per_line(bucket.dtype));
  return result;
}

TWILL_BODY std::vector<graph::ParameterInfo> divided_states(std::span<const graph::ParameterInfo> network,
                                                            std::span<const graph::ParameterInfo> table) {
  std::vector<graph::ParameterInfo> states{table.begin() + static_cast<std::ptrdiff_t>(network.size()), table.end()};
  for (std::size_t i = 0; i < states.size(); ++i) {
    int weight = parallel::detail::weight_of(table, network.size() + i);
    for (std::size_t k = 0; k < network.size() && weight >= 0; ++k)
      if (network[k].role == graph::Role::weight && weight-- == 0) states[i].shard = network[k].shard;
  }
  return states;
}

}}}}}} // namespace twill::v0::parallel::pipeline::detail::TWILL_ISA
