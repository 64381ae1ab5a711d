#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Estimates of a training step, divided in any way, without a device: `fit::Estimator estimator{fit::traces_of<Step>,
// {{"batch", 256}}}`, then `estimator.report({.data = 4, .zero = 2})`. Bytes are those of the steps that twill runs,
// counted by their own functions; times are predicted for a machine. Every option is a value: each program is traced
// and planned at run time, once for all options that share it. Not in twill.hpp. Read next: parallel/fit/search.hpp.

#include <twill/core/config.hpp>
#include <twill/parallel/data/buckets.hpp>
#include <twill/parallel/fit/calibration.hpp>
#include <twill/parallel/fit/loss_bytes.hpp>
#include <twill/parallel/fit/options.hpp>
#include <twill/parallel/fit/pipeline_replay.hpp>
#include <twill/parallel/fit/planned.hpp>
#include <twill/parallel/fit/replica.hpp>
#include <twill/parallel/fit/report.hpp>
#include <twill/parallel/fit/stage_cuts.hpp>
#include <twill/parallel/fit/stage_plan.hpp>
#include <twill/parallel/fit/traces.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace parallel { namespace fit { inline namespace TWILL_ISA {

/// Estimates of one step, for one element type and one size of the whole batch.
class Estimator {
public:
  /// The rows of the batch are the first extent of the model's first input.
  /// throws: ValueError if a named dimension has no size, or the rows have no name
  Estimator(const Traces& traces, Sizes sizes, Machine machine = {}, BucketOptions buckets = {});

  /// What a step takes that is divided like this.
  /// throws: ValueError for options that no step has, such as more replicas than rows
  [[nodiscard]] Report report(const Options& options);

  /// The rows of a step.
  [[nodiscard]] std::int64_t rows() const { return rows_; }
  /// The ranks that divide the model's layers, by its type; 1: none are divided.
  [[nodiscard]] int layer_ranks();
  /// The device slots into which the model puts its parts, by its type; 1: it has one device.
  [[nodiscard]] int slots() const { return model_.graph.slots(); }
  /// The machine.
  [[nodiscard]] const Machine& machine() const { return machine_; }

private:
  [[nodiscard]] ShardOptions shard_options(const Options& options, int rank) const;
  [[nodiscard]] Report report_of_whole_model(const Options& options);
  [[nodiscard]] Report report_of_stages(const Options& options);
  /// Micro-batches that are shards of `Reproducible`.
  void divide_in_shards(PipelineSetting& setting, const Options& options);
  /// The step that stays within a budget with the least work done again; 0: that keeps everything.
  [[nodiscard]] const PlannedProgram& step_within(std::int64_t budget_bytes);
  [[nodiscard]] const PlannedProgram& made(std::optional<PlannedProgram>& program, graph::Graph (*trace)());
  [[nodiscard]] const PlannedProgram& gradient();
  [[nodiscard]] std::vector<StagePlan>& stages(int number, const StageForm& form);
  [[nodiscard]] std::int64_t loss_bytes(std::int64_t rows, Targets where);
  /// The counted time of loss and gradients.
  [[nodiscard]] double gradient_s(std::int64_t rows);
  [[nodiscard]] const Calibration& calibration();

  Traces traces_;
  Sizes sizes_;
  Machine machine_;
  BucketOptions buckets_;
  std::string rows_name_{};
  std::int64_t rows_ = 0;
  compile::ForwardTrace model_{};
  std::optional<Calibration> calibration_{};
  std::optional<PlannedProgram> gradient_{};
  std::optional<PlannedProgram> update_{};
  std::optional<PlannedProgram> update_of_parts_{};
  std::map<std::int64_t, PlannedProgram> within_{};                       ///< by budget
  std::map<std::pair<int, StageForm>, std::vector<StagePlan>> stages_{};  ///< by their number
  std::map<std::pair<std::int64_t, Targets>, std::int64_t> loss_bytes_{}; ///< by rows
};

}}}}} // namespace twill::v0::parallel::fit::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/parallel/fit/estimate.ipp>
#endif
