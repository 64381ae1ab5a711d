#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Memory of a step on one device, or on one of several replicas of a model, by class: `memory_use`, the buckets and the
// parts of ZeRO's stages come from the functions by which the steps allocate. Not in twill.hpp. Read next:
// parallel/data/distributed_step.hpp, parallel/fit/estimate.hpp.

#include <twill/core/config.hpp>
#include <twill/parallel/data/buckets.hpp>
#include <twill/parallel/data/reproducible.hpp>
#include <twill/parallel/fit/planned.hpp>
#include <twill/parallel/fit/report.hpp>

#include <cstdint>
#include <functional>

namespace twill { inline namespace v0 { namespace parallel { namespace fit { inline namespace TWILL_ISA {

/// A rank of a step with shards.
struct ShardOptions {
  Reproducible policy{};
  int rank = 0;
  int ranks = 1;
  int zero_stage = 0;
  bool is_replica = false; ///< in one process, whose batch is on the first one's device
  bool is_on_gpu = false;
  std::int64_t rows = 0; ///< of the batch of all ranks
  BucketOptions buckets{};
  std::int64_t element_bytes = 0;
};

/// The device of a slot in a planned step, `train_step(network, loss, rule)`; slot 0 of most models is the only one.
/// Sent are the values that other slots read.
[[nodiscard]] RankReport report_of_slot(const PlannedProgram& step, const Sizes& sizes, int slot);

/// One of several replicas in one process, `train_step(DataParallel, loss, rule)`. Those after the first have copies of
/// their rows, which are on the first one's device.
[[nodiscard]] RankReport report_of_replica(const PlannedProgram& gradient, const PlannedProgram& update,
                                           const Sizes& sizes, int rank, int replicas, std::int64_t element_bytes);

/// One of several ranks, `train_step(DistributedDataParallel, loss, rule, zero<stage>)`. On a GPU the numbers that
/// hosts exchange, four of each rank, go through its memory.
[[nodiscard]] RankReport report_of_rank(const PlannedProgram& gradient, const PlannedProgram& update,
                                        const Sizes& sizes, int rank, int ranks, int zero_stage,
                                        const BucketOptions& options, std::int64_t element_bytes, bool is_on_gpu);

/// A rank of a step with shards: `train_step(DistributedDataParallel, loss, rule, zero<stage>, Reproducible)`, of one
/// rank the step of a network. `sizes(rows)` are those of a shard of so many rows.
[[nodiscard]] RankReport report_of_shards(const PlannedProgram& gradient, const PlannedProgram& update,
                                          const ShardOptions& options, const std::function<Sizes(std::int64_t)>& sizes);

/// The bytes that a rank fetches of the others' weights in a step of ZeRO's third stage.
[[nodiscard]] std::int64_t gathered_bytes(const PlannedProgram& gradient, int ranks, const BucketOptions& options);

}}}}} // namespace twill::v0::parallel::fit::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/parallel/fit/replica.ipp>
#endif
