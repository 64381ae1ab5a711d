#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of parallel/data/shard_memory.hpp.

#include <twill/compile/plan/memory_use.hpp>
#include <twill/parallel/data/shard_buffers.hpp>
#include <twill/parallel/data/shard_memory.hpp>
#include <twill/parallel/group/rank_sums.hpp>

#include <algorithm>

namespace twill { inline namespace v0 { namespace parallel { namespace detail { inline namespace TWILL_ISA {

/// The copies of a shard's rows, made unless they begin on a cache line, as in every allocation.
[[nodiscard]] inline std::vector<std::int64_t> copies_of_rows(const ShardSetting& setting, int shard) {
  constexpr std::int64_t line = 64;
  const Rows own = setting.policy.rows_of(setting.all_rows, setting.rank, setting.ranks);
  const Rows rows = setting.policy.rows_of_shard(setting.all_rows, shard);
  std::vector<std::int64_t> copies{};
  for (const std::int64_t bytes : setting.row_bytes)
    if ((rows.begin - own.begin) * bytes % line != 0) copies.push_back(rows.count * bytes);
  return copies;
}

/// The memory in which the nodes of all ranks meet in the largest sum inside a program.
[[nodiscard]] inline std::int64_t met_bytes(const compile::TableView& table, const graph::SymbolValues& symbols,
                                            std::int64_t nodes) {
  std::int64_t most = 0;
  for (const compile::Instruction& instruction : table.instructions) {
    const compile::KernelInfo& kernel = table.kernels[static_cast<std::size_t>(instruction.kernel)];
    if (kernel.kind != compile::KernelKind::operation || kernel.operation != graph::rank_sum_operation.name) continue;
    const auto result = static_cast<std::size_t>(instruction.first_operand) + 1;
    const Dims shape = table.shapes[static_cast<std::size_t>(instruction.first_shape) + 1].evaluate(symbols);
    most = std::max(most, shape.elements() * static_cast<std::int64_t>(size_of(table.operands[result].dtype)));
  }
  return nodes * most;
}

[[nodiscard]] inline std::int64_t pooled(const std::vector<std::int64_t>& allocations) {
  std::int64_t bytes = 0;
  for (const std::int64_t each : allocations) bytes += compile::pool_bytes(each);
  return bytes;
}

TWILL_BODY ShardPlaces::ShardPlaces(const Buckets& layout, const Reproducible& policy, int ranks, bool at_once,
                                    std::int64_t element_bytes) {
  for (int rank = 0; rank < ranks; ++rank) {
    const ShardRange shards = policy.shards_of(rank, ranks);
    const RankNodes own = nodes_of(shards, policy.shards);
    places = std::max(places, at_once ? static_cast<std::size_t>(shards.count()) : own.most);
    sent = std::max(sent, own.nodes.size());
  }
  for (const Bucket& bucket : layout.buckets) {
    offsets.push_back(place);
    padded.push_back(rounded_up(bucket.count, ranks * (64 / element_bytes)));
    place += padded.back();
    if (ranks > 1) received = std::max(received, padded.back() * static_cast<std::int64_t>(sent));
  }
}

TWILL_BODY ShardMemory shard_memory(const compile::TableView& table, const graph::SymbolValues& symbols,
                                    const Buckets& layout, const ShardSetting& setting) {
  const bool at_once = compile::adds_over_ranks(table);
  const ShardPlaces places{layout, setting.policy, setting.ranks, at_once, setting.element_bytes};
  const ShardRange own = setting.policy.shards_of(setting.rank, setting.ranks);
  ShardMemory memory{};
  memory.kept.push_back(static_cast<std::int64_t>(places.places) * places.place * setting.element_bytes);
  memory.kept.push_back(places.received * setting.element_bytes);
  std::vector<std::int64_t> buffers{};
  for (const std::size_t i : written_buffers(table))
    buffers.push_back(compile::bytes_of(table.parameters[i].dtype, table.parameters[i].shape, {}));
  const int copying = own.count() - (own.begin == 0 ? 1 : 0); // shard 0 writes the network's own
  const int copies = 1 + (at_once ? copying : std::min(copying, 1));
  for (int i = 0; i < copies; ++i) memory.kept.insert(memory.kept.end(), buffers.begin(), buffers.end());
  for (int shard = own.begin; shard < own.end; ++shard) {
    const std::int64_t rows = setting.policy.rows_of_shard(setting.all_rows, shard).count;
    if (at_once || memory.arenas.empty()) memory.arenas.emplace_back();
    memory.arenas.back().push_back(rows);
    const std::vector<std::int64_t> copied = copies_of_rows(setting, shard);
    if (at_once) {
      memory.during.insert(memory.during.end(), copied.begin(), copied.end());
    } else if (pooled(copied) > pooled(memory.during)) {
      memory.during = copied;
    }
  }
  if (at_once && setting.ranks > 1)
    memory.during.push_back(met_bytes(table, symbols, setting.ranks * static_cast<std::int64_t>(places.sent)));
  return memory;
}

TWILL_BODY std::int64_t rows_of_all(const Reproducible& policy, std::int64_t rows, int rank, int ranks) {
  std::int64_t all = policy.shards_of(rank, ranks).count() > 0 ? rows : 0;
  while (all < policy.shards || policy.rows_of(all, rank, ranks).count < rows) ++all;
  return all;
}

}}}}} // namespace twill::v0::parallel::detail::TWILL_ISA
