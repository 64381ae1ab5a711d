#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Replay of a pipeline's step on each rank: `pipeline::run` carries out the real schedule with a runner that only
// counts memory and a communicator whose messages arrive at once, so the life of a message is that of a step. Memory
// depends only on the schedule (parallel/pipeline/run/run.hpp), so the ranks are replayed one after another.
// Not in twill.hpp. Read next: parallel/pipeline/run/memory.hpp, for pipelines that are types.

#include <twill/core/config.hpp>
#include <twill/parallel/data/buckets.hpp>
#include <twill/parallel/data/chunk.hpp>
#include <twill/parallel/fit/report.hpp>
#include <twill/parallel/fit/stage_plan.hpp>
#include <twill/parallel/pipeline/schedule/schedule.hpp>

#include <cstdint>
#include <functional>
#include <vector>

namespace twill { inline namespace v0 { namespace parallel { namespace fit { inline namespace TWILL_ISA {

/// What a replay of a pipeline is of.
struct PipelineSetting {
  const pipeline::Schedule* schedule = nullptr;   ///< with its messages
  const std::vector<StagePlan>* stages = nullptr; ///< in order
  pipeline::StageCheckpointing checkpointing{};
  bool keeps_orders = false;    ///< of the weights of convolutions, during a step
  bool adds_along_tree = false; ///< gradients of micro-batches, the shards of `Reproducible`
  std::vector<Rows> pieces{};   ///< micro-batches of this replica
  /// Bytes of copies of the batch on each rank while gradients are computed.
  std::vector<std::vector<std::int64_t>> batch_copies{};
  int replicas = 0;               ///< pipelines side by side that sum gradients; 0: one, which sums none
  int replica = 0;                ///< this one
  int zero_stage = 0;             ///< 0 or 1
  BucketOptions buckets{};        ///< of sums over replicas
  bool broadcasts_buffers = true; ///< those of the first replica, before each step
  /// The numbers of a stage's symbols for a micro-batch of these rows.
  std::function<graph::SymbolValues(int stage, std::int64_t rows)> symbols{};
  /// Whether so many rows of an input of the batch are in one piece on the device of a rank; others are copied.
  std::function<bool(int input, int rank, std::int64_t rows)> has_input{};
  /// The bytes that the loss of a number of rows takes beside its operands.
  std::function<std::int64_t(std::int64_t rows)> loss_bytes{};
};

/// The memory and the traffic of each rank. throws: ValueError if the rows do not fill the micro-batches
[[nodiscard]] std::vector<RankReport> report_of_pipeline(const PipelineSetting& setting);

}}}}} // namespace twill::v0::parallel::fit::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/parallel/fit/pipeline_replay.ipp>
#endif
