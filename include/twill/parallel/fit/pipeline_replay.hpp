#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Replay of a pipeline's step on each rank: `pipeline::run` carries out the real schedule with a runner that only
// counts memory and a communicator whose messages arrive at once, so the life of a message is that of a step. Memory
// depends only on the schedule (parallel/pipeline/run/run.hpp), so the ranks are replayed one after another.
// Not in twill.hpp. Read next: parallel/pipeline/run/memory.hpp, which has the figures of pipelines that are types.

#include <twill/core/config.hpp>
#include <twill/parallel/data/buckets.hpp>
#include <twill/parallel/fit/report.hpp>
#include <twill/parallel/fit/stage_plan.hpp>
#include <twill/parallel/pipeline/schedule/schedule.hpp>

#include <cstdint>
#include <functional>
#include <vector>

namespace twill { inline namespace v0 { namespace parallel { namespace fit { inline namespace TWILL_ISA {

/// What a replay of a pipeline is of.
struct PipelineSetting {
  const pipeline::Schedule* schedule = nullptr; ///< with its messages
  std::vector<StagePlan>* stages = nullptr;     ///< in order
  pipeline::Checkpointing checkpointing = pipeline::Checkpointing::never;
  std::string_view rows_name{}; ///< the dimension that counts rows
  std::int64_t rows = 0;        ///< of one replica
  Sizes sizes{};                ///< of the other dimensions
  int replicas = 1;             ///< pipelines side by side
  int zero_stage = 0;           ///< 0 or 1
  BucketOptions buckets{};      ///< of sums over replicas
  /// The bytes that the loss of a number of rows takes beside its operands.
  std::function<std::int64_t(std::int64_t rows)> loss_bytes{};
};

/// The memory and the traffic of each rank. throws: ValueError if the rows do not fill the micro-batches
[[nodiscard]] std::vector<RankReport> report_of_pipeline(const PipelineSetting& setting);

/// These sizes, with another number of rows.
[[nodiscard]] Sizes with_rows(const Sizes& sizes, std::string_view rows_name, std::int64_t rows);

}}}}} // namespace twill::v0::parallel::fit::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/parallel/fit/pipeline_replay.ipp>
#endif
