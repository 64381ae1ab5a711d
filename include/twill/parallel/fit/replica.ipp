#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of parallel/fit/replica.hpp.

#include <twill/parallel/data/bucket_memory.hpp>
#include <twill/parallel/data/gathers.hpp>
#include <twill/parallel/data/shard_memory.hpp>
#include <twill/parallel/data/shards.hpp>
#include <twill/parallel/fit/counting_communicator.hpp>
#include <twill/parallel/fit/held.hpp>
#include <twill/parallel/fit/replica.hpp>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace twill { inline namespace v0 { namespace parallel { namespace fit::detail { inline namespace TWILL_ISA {

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

/// The calls that sum a rank's gradients, and up to ZeRO's second stage those that spread the new weights.
inline void send_gradients(CountingCommunicator& rank, const Buckets& layout, int zero_stage) {
  for (const Bucket& bucket : layout.buckets) {
    const Elements all{nullptr, bucket.count, bucket.dtype};
    const Elements part{nullptr, bucket.count / rank.size(), bucket.dtype};
    if (zero_stage == 0 || bucket.is_whole) {
      rank.run(Call::all_reduce(all));
      continue;
    }
    rank.run(Call::reduce_scatter(all, part));
    if (zero_stage < 3) rank.run(Call::all_gather(part, all)); // of the updated weights
  }
}

/// What a rank holds for any program of loss and gradients but its arena. Returns its buckets.
[[nodiscard]] inline Buckets hold_rank(Ledger& ledger, const PlannedProgram& gradient, const PlannedProgram& update,
                                       int rank, int ranks, int zero_stage, const BucketOptions& options,
                                       std::int64_t element_bytes, bool is_on_gpu) {
  const compile::TableView table = gradient.view();
  Buckets layout = fill_buckets(table, options, zero_stage == 0 ? 0 : ranks);
  const Kept kept = zero_stage == 0 ? Kept::all : zero_stage == 1 ? Kept::part : Kept::part_only;
  const BucketOffsets offsets = lay_out(table, layout, kept, ranks);
  if (zero_stage == 3) {
    std::int64_t parts = 0;
    for (const Bucket& bucket : layout.buckets)
      if (!bucket.is_whole) parts += bucket.bytes() / ranks;
    ledger.hold(Bytes::weights, parts);
    hold_untrained(ledger, table);
  } else {
    hold_weights(ledger, table);
  }
  if (zero_stage == 0)
    hold_states(ledger, update.view());
  else
    hold_parts_of_states(ledger, update.view(), parts_of(layout, rank, ranks));
  ledger.hold(zero_stage < 2 ? Bytes::gradients : Bytes::communication, offsets.bytes);
  ledger.hold(Bytes::gradients, offsets.part_bytes);
  ledger.hold(Bytes::working, update.arena({}));
  ledger.hold(Bytes::working, element_bytes); // the loss
  if (is_on_gpu) ledger.hold(Bytes::communication, 4 * (ranks + 1) * static_cast<std::int64_t>(sizeof(std::int64_t)));
  return layout;
}

/// Whole weights during a run of ZeRO's third stage, and the calls that fetch them.
[[nodiscard]] inline Ledger::Entry fetch_weights(Ledger& ledger, CountingCommunicator& rank,
                                                 const compile::TableView& table, const Buckets& layout) {
  const GatherPlan gathers = plan_gathers(table, layout);
  for (const Gathered& fetch : gathers.fetches) {
    const Bucket& bucket = layout.buckets[static_cast<std::size_t>(fetch.bucket)];
    const Elements all{nullptr, bucket.count, bucket.dtype};
    rank.run(Call::all_gather({nullptr, bucket.count / rank.size(), bucket.dtype}, all));
  }
  return ledger.allocate(Bytes::communication, gathers.bytes);
}

/// The bytes that a rank sends in a step with shards, but for numbers and buffers.
[[nodiscard]] inline std::int64_t sent_by_shards(const compile::TableView& table, const Buckets& layout,
                                                 const ShardOptions& options) {
  CountingCommunicator rank{options.rank, options.ranks};
  if (options.ranks == 1) return 0;
  const bool at_once = compile::adds_over_ranks(table);
  const parallel::detail::ShardPlaces places{layout, options.policy, options.ranks, at_once, options.element_bytes};
  for (std::size_t i = 0; i < layout.buckets.size(); ++i) {
    const Bucket& bucket = layout.buckets[i];
    const Elements all{nullptr, places.padded[i], bucket.dtype};
    const Elements part{nullptr, places.padded[i] / options.ranks, bucket.dtype};
    for (std::size_t node = 0; node < places.sent; ++node) rank.run(Call::all_to_all(all, all));
    if (options.zero_stage == 0 || bucket.is_whole) rank.run(Call::all_gather(part, all));
    if (options.zero_stage > 0 && options.zero_stage < 3 && !bucket.is_whole)
      rank.run(Call::all_gather({nullptr, bucket.count / options.ranks, bucket.dtype},
                                {nullptr, bucket.count, bucket.dtype})); // of the updated weights
  }
  const int runs = 1 + (options.policy.shards - 1) / options.ranks; // of each rank, some without a shard
  for (int run = 0; run < runs && options.zero_stage == 3; ++run) {
    Ledger ledger{};
    static_cast<void>(fetch_weights(ledger, rank, table, layout));
  }
  return rank.traffic().total().sent_bytes;
}

}}}}} // namespace twill::v0::parallel::fit::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace parallel { namespace fit { inline namespace TWILL_ISA {

TWILL_BODY RankReport report_of_slot(const PlannedProgram& step, const Sizes& sizes, int slot) {
  const graph::SymbolValues symbols = step.symbols(sizes);
  const compile::TableView table = step.view();
  Ledger ledger{};
  hold_weights(ledger, table, slot);
  hold_states(ledger, table, slot);
  for (const compile::ValueInfo& value : table.values)
    if (value.storage == compile::Storage::output && value.slot == slot)
      ledger.hold(Bytes::working, compile::bytes_of(value.dtype, value.shape, symbols)); // the loss
  ledger.hold(Bytes::activations, step.arena(symbols, slot));
  const std::int64_t operation_bytes = step.working_bytes(symbols, slot);
  ledger.allocate(Bytes::working, operation_bytes).reset();
  RankReport report = ledger.report();
  report.operation_bytes = operation_bytes;
  for (const compile::Instruction& instruction : table.instructions) {
    if (!instruction.moves) continue;
    const compile::OperandBinding& from = table.operands[static_cast<std::size_t>(instruction.first_operand)];
    const compile::ValueInfo& moved = table.values[static_cast<std::size_t>(from.value)];
    if (moved.slot == slot) report.sent_bytes += compile::bytes_of(moved.dtype, moved.shape, symbols);
  }
  return report;
}

TWILL_BODY RankReport report_of_replica(const PlannedProgram& gradient, const PlannedProgram& update,
                                        const Sizes& sizes, int rank, int replicas, std::int64_t element_bytes) {
  const graph::SymbolValues symbols = gradient.symbols(sizes);
  Ledger ledger{};
  hold_weights(ledger, update.view());
  hold_states(ledger, update.view());
  constexpr std::int64_t line = 64;
  std::int64_t results = line; // the loss, then the gradients, each on its own cache lines
  for (const graph::ParameterInfo& info : update.view().parameters)
    if (info.role == graph::Role::weight)
      results += (compile::bytes_of(info.dtype, info.shape, {}) + line - 1) / line * line;
  ledger.hold(Bytes::gradients, {element_bytes + gradient_bytes(update.view()), compile::pool_bytes(results)});
  ledger.hold(Bytes::activations, gradient.arena(symbols));
  ledger.hold(Bytes::working, update.arena({}));
  std::vector<Ledger::Entry> batch{}; // its rows, during a step
  if (rank > 0)
    for (const graph::InputInfo& info : gradient.view().inputs)
      batch.push_back(ledger.allocate(Bytes::communication, compile::bytes_of(info.dtype, info.shape, symbols)));
  const std::int64_t operation_bytes = gradient.working_bytes(symbols);
  batch.push_back(ledger.allocate(Bytes::working, operation_bytes));
  batch.clear();
  RankReport report = ledger.report();
  report.operation_bytes = operation_bytes;
  if (replicas > 1) report.summed_bytes = 2 * results * (replicas - 1) / replicas;
  return report;
}

TWILL_BODY RankReport report_of_rank(const PlannedProgram& gradient, const PlannedProgram& update, const Sizes& sizes,
                                     int rank, int ranks, int zero_stage, const BucketOptions& options,
                                     std::int64_t element_bytes, bool is_on_gpu) {
  Ledger ledger{};
  const Buckets layout =
      detail::hold_rank(ledger, gradient, update, rank, ranks, zero_stage, options, element_bytes, is_on_gpu);
  ledger.hold(Bytes::activations, gradient.arena(gradient.symbols(sizes)));
  ledger.hold(Bytes::communication, detail::staged_buffer_bytes(gradient.view()));
  CountingCommunicator counted{rank, ranks};
  detail::send_gradients(counted, layout, zero_stage);
  const std::int64_t operation_bytes = gradient.working_bytes(gradient.symbols(sizes));
  {
    Ledger::Entry weights{};
    if (zero_stage == 3) weights = detail::fetch_weights(ledger, counted, gradient.view(), layout);
    ledger.allocate(Bytes::working, operation_bytes).reset();
  }
  RankReport report = ledger.report();
  report.operation_bytes = operation_bytes;
  report.summed_bytes = counted.traffic().total().sent_bytes;
  return report;
}

TWILL_BODY RankReport report_of_shards(const PlannedProgram& gradient, const PlannedProgram& update,
                                       const ShardOptions& options, const std::function<Sizes(std::int64_t)>& sizes) {
  const compile::TableView table = gradient.view();
  const graph::SymbolValues one_row = gradient.symbols(sizes(1));
  std::vector<std::int64_t> row_bytes{};
  for (const graph::InputInfo& info : table.inputs)
    row_bytes.push_back(compile::bytes_of(info.dtype, info.shape, one_row));
  Ledger ledger{};
  const Buckets layout = detail::hold_rank(ledger, gradient, update, options.rank, options.ranks, options.zero_stage,
                                           options.buckets, options.element_bytes, options.is_on_gpu);
  const parallel::detail::ShardMemory shards = parallel::detail::shard_memory(table, one_row, layout,
                                                                              {.policy = options.policy,
                                                                               .rank = options.rank,
                                                                               .ranks = options.ranks,
                                                                               .all_rows = options.rows,
                                                                               .row_bytes = row_bytes,
                                                                               .element_bytes = options.element_bytes});
  for (const std::vector<std::int64_t>& of_shards : shards.arenas) {
    ArenaBytes most{};
    for (const std::int64_t rows : of_shards)
      if (const ArenaBytes& arena = gradient.arena(gradient.symbols(sizes(rows))); arena.total > most.total)
        most = arena;
    ledger.hold(Bytes::activations, most);
  }
  for (const std::int64_t bytes : shards.kept) ledger.hold(Bytes::gradients, bytes);
  if (!options.is_replica) ledger.hold(Bytes::communication, detail::staged_buffer_bytes(table));
  std::int64_t operation_bytes = 0;
  for (const std::vector<std::int64_t>& of_shards : shards.arenas)
    for (const std::int64_t rows : of_shards)
      operation_bytes = std::max(operation_bytes, gradient.working_bytes(gradient.symbols(sizes(rows))));
  {
    std::vector<Ledger::Entry> during{};
    during.push_back(ledger.allocate(Bytes::working, operation_bytes));
    const std::int64_t own = options.policy.rows_of(options.rows, options.rank, options.ranks).count;
    for (const std::int64_t bytes : row_bytes)
      if (options.is_replica && options.rank > 0) during.push_back(ledger.allocate(Bytes::communication, own * bytes));
    CountingCommunicator fetched{options.rank, options.ranks};
    if (options.zero_stage == 3) during.push_back(detail::fetch_weights(ledger, fetched, table, layout));
    for (const std::int64_t bytes : shards.during) during.push_back(ledger.allocate(Bytes::communication, bytes));
  }
  RankReport report = ledger.report();
  report.summed_bytes = detail::sent_by_shards(table, layout, options);
  report.operation_bytes = operation_bytes;
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
