#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of parallel/fit/replica.hpp.

#include <twill/device/cpu/cpu.hpp>
#include <twill/parallel/data/bucket_memory.hpp>
#include <twill/parallel/data/gathers.hpp>
#include <twill/parallel/data/sharded_state.hpp>
#include <twill/parallel/data/shards.hpp>
#include <twill/parallel/fit/replica.hpp>

#include <algorithm>
#include <vector>

namespace twill { inline namespace v0 { namespace parallel { namespace fit::detail { inline namespace TWILL_ISA {

/// The classes of a rank under construction. Each allocation is counted as the pool does; what it takes beyond its
/// content is fragmentation.
class RankBytes {
public:
  void allocate(Bytes kind, std::int64_t bytes) { allocate(kind, bytes, compile::pool_bytes(bytes)); }
  void allocate(Bytes kind, std::int64_t content, std::int64_t taken) {
    counts_[kind] += content;
    counts_[Bytes::fragmentation] += taken - content;
  }
  void allocate(Bytes kind, const ArenaBytes& arena) { allocate(kind, arena.live, arena.total); }
  void allocate_parameters(const compile::TableView& table) {
    for (const graph::ParameterInfo& info : table.parameters)
      allocate(info.role == graph::Role::optimiser_state ? Bytes::states : Bytes::weights,
               compile::bytes_of(info.dtype, info.shape, {}));
  }
  void allocate_weights(const compile::TableView& table) {
    for (const graph::ParameterInfo& info : table.parameters)
      if (info.role != graph::Role::optimiser_state)
        allocate(Bytes::weights, compile::bytes_of(info.dtype, info.shape, {}));
  }
  [[nodiscard]] const ByteCounts& counts() const { return counts_; }

private:
  ByteCounts counts_{};
};

/// Memory in which buffers of one type travel together.
[[nodiscard]] inline std::int64_t staged_buffer_bytes(const compile::TableView& table) {
  std::int64_t most = 0;
  for (const graph::ParameterInfo& first : table.parameters) {
    std::int64_t bytes = 0;
    int count = 0;
    for (const graph::ParameterInfo& info : table.parameters) {
      if (info.role != graph::Role::buffer || info.dtype != first.dtype) continue;
      bytes += compile::bytes_of(info.dtype, info.shape, {});
      ++count;
    }
    if (count > 1) most = std::max(most, bytes);
  }
  return most;
}

}}}}} // namespace twill::v0::parallel::fit::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace parallel { namespace fit { inline namespace TWILL_ISA {

TWILL_BODY RankReport report_of_device(const PlannedProgram& step, const Sizes& sizes) {
  const graph::SymbolValues symbols = step.symbols(sizes);
  const compile::TableView table = step.view();
  detail::RankBytes bytes{};
  bytes.allocate_parameters(table);
  for (const compile::ValueInfo& value : table.values)
    if (value.storage == compile::Storage::output)
      bytes.allocate(Bytes::working, compile::bytes_of(value.dtype, value.shape, symbols)); // the loss
  bytes.allocate(Bytes::activations, step.arena(symbols));
  RankReport report{};
  report.bytes = bytes.counts();
  report.held_bytes = report.bytes.total();
  return report;
}

TWILL_BODY RankReport report_of_replica(const PlannedProgram& gradient, const PlannedProgram& update,
                                        const Sizes& sizes, int rank, int replicas, std::int64_t element_bytes) {
  const graph::SymbolValues symbols = gradient.symbols(sizes);
  detail::RankBytes bytes{};
  bytes.allocate_parameters(update.view());
  constexpr std::int64_t line = 64;
  std::int64_t results = line; // the loss, then the gradients, each on its own cache lines
  std::int64_t content = element_bytes;
  for (const graph::ParameterInfo& info : update.view().parameters) {
    if (info.role != graph::Role::weight) continue;
    const std::int64_t own = compile::bytes_of(info.dtype, info.shape, {});
    results += (own + line - 1) / line * line;
    content += own;
  }
  bytes.allocate(Bytes::gradients, content, compile::pool_bytes(results));
  bytes.allocate(Bytes::activations, gradient.arena(symbols));
  bytes.allocate(Bytes::working, update.arena({}));
  RankReport report{};
  report.held_bytes = bytes.counts().total();
  if (rank > 0) // its rows
    for (const graph::InputInfo& info : gradient.view().inputs)
      bytes.allocate(Bytes::communication, compile::bytes_of(info.dtype, info.shape, symbols));
  report.bytes = bytes.counts();
  if (replicas > 1) report.summed_bytes = 2 * results * (replicas - 1) / replicas;
  return report;
}

TWILL_BODY RankReport report_of_rank(const PlannedProgram& gradient, const PlannedProgram& update, const Sizes& sizes,
                                     int rank, int ranks, int zero_stage, const BucketOptions& options,
                                     std::int64_t element_bytes) {
  const graph::SymbolValues symbols = gradient.symbols(sizes);
  const compile::TableView table = gradient.view();
  const Buckets layout = fill_buckets(table, options, zero_stage == 0 ? 0 : ranks);
  const Kept kept = zero_stage == 0 ? Kept::all : zero_stage == 1 ? Kept::part : Kept::part_only;
  const BucketOffsets offsets = lay_out(table, layout, kept, ranks);
  detail::RankBytes bytes{};
  std::int64_t during = 0; // of a run alone
  if (zero_stage == 3) {
    std::int64_t parts = 0;
    for (const Bucket& bucket : layout.buckets)
      if (!bucket.is_whole) parts += bucket.bytes() / ranks;
    bytes.allocate(Bytes::weights, parts);
    for (const graph::ParameterInfo& info : table.parameters)
      if (info.role == graph::Role::frozen_weight || info.role == graph::Role::buffer)
        bytes.allocate(Bytes::weights, compile::bytes_of(info.dtype, info.shape, {}));
    const std::int64_t gathered = plan_gathers(table, layout).bytes;
    bytes.allocate(Bytes::communication, gathered);
    during += compile::pool_bytes(gathered);
  } else {
    bytes.allocate_weights(table);
  }
  if (zero_stage == 0) {
    for (const graph::ParameterInfo& info : update.view().parameters)
      if (info.role == graph::Role::optimiser_state)
        bytes.allocate(Bytes::states, compile::bytes_of(info.dtype, info.shape, {}));
  } else {
    const std::vector<Part> parts = parts_of(layout, rank, ranks);
    bytes.allocate(Bytes::states, ShardedState<Cpu>::bytes(update.view().parameters, parts));
    std::int64_t stand_ins = 0;
    for (const Part& part : parts) stand_ins += part.needs_stand_in() ? 2 * 64 : 0;
    bytes.allocate(Bytes::working, stand_ins);
  }
  bytes.allocate(zero_stage < 2 ? Bytes::gradients : Bytes::communication, offsets.bytes);
  bytes.allocate(Bytes::gradients, offsets.part_bytes);
  bytes.allocate(Bytes::activations, gradient.arena(symbols));
  bytes.allocate(Bytes::working, update.arena({}));
  bytes.allocate(Bytes::working, element_bytes); // the loss
  bytes.allocate(Bytes::communication, detail::staged_buffer_bytes(table));
  RankReport report{};
  report.bytes = bytes.counts();
  report.held_bytes = report.bytes.total() - during;
  std::int64_t all = 0;
  std::int64_t whole = 0;
  for (const Bucket& bucket : layout.buckets) (bucket.is_whole ? whole : all) += bucket.bytes();
  if (zero_stage < 3) // a sum is a reduce-scatter and an all-gather
    report.summed_bytes = 2 * (all + whole) * (ranks - 1) / ranks;
  else
    report.summed_bytes =
        (2 * whole + all) * (ranks - 1) / ranks + gathered_bytes(gradient, ranks, options) * (ranks - 1) / ranks;
  return report;
}

TWILL_BODY std::int64_t gathered_bytes(const PlannedProgram& gradient, int ranks, const BucketOptions& options) {
  const Buckets layout = fill_buckets(gradient.view(), options, ranks);
  std::int64_t bytes = 0;
  for (const Gathered& fetch : plan_gathers(gradient.view(), layout).fetches)
    bytes += layout.buckets[static_cast<std::size_t>(fetch.bucket)].bytes();
  return bytes;
}

}}}}} // namespace twill::v0::parallel::fit::TWILL_ISA
