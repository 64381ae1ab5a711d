#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of parallel/fit/estimate.hpp.

#include <twill/compile/passes/divisions.hpp>
#include <twill/core/error.hpp>
#include <twill/core/text.hpp>
#include <twill/device/gpu/queue.hpp>
#include <twill/parallel/data/chunk.hpp>
#include <twill/parallel/fit/estimate.hpp>
#include <twill/parallel/fit/held.hpp>
#include <twill/parallel/fit/layer_traffic.hpp>
#include <twill/parallel/fit/pipeline_replay.hpp>
#include <twill/parallel/fit/replica.hpp>
#include <twill/parallel/pipeline/model/kept_weights.hpp>
#include <twill/parallel/pipeline/run/machine.hpp>
#include <twill/parallel/pipeline/run/runner.hpp>
#include <twill/parallel/pipeline/run/shard_schedule.hpp>
#include <twill/parallel/pipeline/schedule/predict.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace parallel { namespace fit::detail { inline namespace TWILL_ISA {

/// Seconds of one run of a program on a machine.
[[nodiscard]] inline double seconds_of(const PlannedProgram& program, const graph::SymbolValues& symbols,
                                       const pipeline::Machine& machine) {
  return pipeline::counted_s(program.view(), program.graph(), symbols, machine);
}

/// Costs of a stage on micro-batches of these sizes, with the calls in its layers.
[[nodiscard]] inline pipeline::StageCost cost_of(const StagePlan& stage, const Sizes& sizes,
                                                 pipeline::Checkpointing checkpointing, const Machine& machine,
                                                 const Correction& correction = {}) {
  pipeline::StageCost cost{};
  const auto corrected = [&](const PlannedProgram& program, double factor) {
    const graph::SymbolValues symbols = program.symbols(sizes);
    return factor * seconds_of(program, symbols, machine.device) +
           layer_traffic(program, symbols, machine.between_layers).seconds;
  };
  const auto seconds = [&](const PlannedProgram& program) { return corrected(program, correction.gradient); };
  cost.forward_s = seconds(stage.forward);
  if (stage.splits_gradients) {
    if (stage.counts.received > 0) cost.input_gradient_s = seconds(stage.input_gradient);
    if (stage.counts.weights > 0) cost.weight_gradient_s = seconds(stage.weight_gradient);
  } else {
    cost.input_gradient_s = seconds(stage.backward);
  }
  if (checkpointing != pipeline::Checkpointing::never) cost.input_gradient_s += cost.forward_s;
  const graph::SymbolValues symbols = stage.inference.symbols(sizes);
  for (const int id : stage.inference.graph().outputs) {
    const graph::Node& node = stage.inference.graph().node(id);
    cost.output_bytes += compile::bytes_of(node.dtype, node.shape, symbols);
  }
  cost.gradient_bytes = gradient_bytes(stage.inference.view());
  cost.update_s = corrected(stage.update, correction.update);
  return cost;
}

/// The schedule of a pipeline under `Reproducible`, by which the shards of stages meet that add up values inside their
/// runs. throws: ValueError if it cannot be carried out
[[nodiscard]] inline pipeline::Schedule schedule_of_shards(const pipeline::Schedule& whole,
                                                           const std::vector<StagePlan>& stages,
                                                           const pipeline::StageCheckpointing& checkpointing) {
  std::vector<bool> meets{};
  for (const StagePlan& stage : stages) meets.push_back(compile::adds_over_ranks(stage.forward.view()));
  if (std::none_of(meets.begin(), meets.end(), [](bool one) { return one; })) return whole;
  pipeline::detail::require_equal_passes(checkpointing, meets);
  return pipeline::detail::schedule_of_meetings(whole, meets);
}

/// Seconds that a stage spends in the calls of its layers, for all micro-batches.
[[nodiscard]] inline double layers_s(const StagePlan& stage, const Sizes& sizes, int micro_batches,
                                     pipeline::Checkpointing checkpointing, const pipeline::Link& link) {
  const pipeline::StageCost cost = cost_of(stage, sizes, checkpointing, {.device = {}, .between_layers = link});
  return micro_batches * (cost.forward_s + cost.input_gradient_s + cost.weight_gradient_s) + cost.update_s;
}

}}}}} // namespace twill::v0::parallel::fit::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace parallel { namespace fit { inline namespace TWILL_ISA {

TWILL_BODY Estimator::Estimator(const Traces& traces, Sizes sizes, Machine machine, BucketOptions buckets)
    : traces_{traces}, sizes_{std::move(sizes)}, machine_{machine}, buckets_{buckets}, model_{traces.model()} {
  const graph::Graph& graph = model_.graph;
  const int symbol =
      graph.inputs.empty() || graph.inputs[0].shape.rank == 0 ? -1 : graph.inputs[0].shape[0].single_symbol();
  if (symbol < 0)
    throw ValueError("fit: the first extent of the model's first input has to be a named dimension, which counts rows; "
                     "declare it, Input<Dim<\"batch\">, ...>");
  rows_name_ = graph.symbols[static_cast<std::size_t>(symbol)].name.view();
  for (const auto& [name, size] : sizes_) {
    const bool is_known =
        std::any_of(graph.symbols.begin(), graph.symbols.end(),
                    [&wanted = name](const graph::Symbol& known) { return known.name.view() == wanted; });
    if (!is_known) throw ValueError(join_text({"fit: the model has no dimension \"", name, "\""}));
    if (size < 1) throw ValueError(join_text({"fit: the size of \"", name, "\" is at least 1, got ", size}));
    if (name == rows_name_) rows_ = size;
  }
  if (rows_ == 0)
    throw ValueError(
        join_text({"fit: the dimension \"", rows_name_, "\" has no size; give it, --size ", rows_name_, "=64"}));
}

TWILL_BODY const PlannedProgram& Estimator::made(std::optional<PlannedProgram>& program, graph::Graph (*trace)()) {
  if (!program) program.emplace(trace(), "the update");
  return *program;
}

TWILL_BODY const PlannedProgram& Estimator::gradient() {
  if (!gradient_) gradient_.emplace(traces_.gradient({}), "the step");
  return *gradient_;
}

TWILL_BODY const PlannedProgram& Estimator::step_within(std::int64_t budget_bytes) {
  if (const auto known = within_.find(budget_bytes); known != within_.end()) return known->second;
  if (budget_bytes == 0) return within_.emplace(0, PlannedProgram{traces_.step({}), "the step"}).first->second;
  const compile::ForwardTrace forward = traces_.forward();
  const compile::Divisions divisions =
      compile::divisions(forward.graph, forward.root, symbols_of(forward.graph, sizes_));
  PlannedProgram smallest{};
  std::int64_t least = -1;
  for (int i = 0; i < divisions.count; ++i) { // by work done again
    PlannedProgram step{traces_.step(divisions.items[static_cast<std::size_t>(i)].parts), "the step"};
    const std::int64_t bytes = compile::memory_use(step.view(), step.symbols(sizes_)).total();
    if (least >= 0 && bytes >= least) continue;
    least = bytes;
    smallest = std::move(step);
    if (least <= budget_bytes) break;
  }
  return within_.emplace(budget_bytes, std::move(smallest)).first->second;
}

TWILL_BODY std::vector<StagePlan>& Estimator::stages(int number, const StageForm& form) {
  const std::pair key{number, form};
  const auto known = stages_.find(key);
  if (known != stages_.end()) return known->second;
  return stages_.emplace(key, plan_stages(traces_, number, form, sizes_)).first->second;
}

TWILL_BODY std::int64_t Estimator::loss_bytes(std::int64_t rows, Targets where) {
  if (const auto known = loss_bytes_.find({rows, where}); known != loss_bytes_.end()) return known->second;
  const Sizes sizes = with_rows(sizes_, rows_name_, rows);
  const Dims prediction = model_.graph.node(model_.root).shape.evaluate(symbols_of(model_.graph, sizes));
  const graph::InputInfo& target = gradient().view().inputs[gradient().view().inputs.size() - 1];
  const Dims targets = target.shape.evaluate(gradient().symbols(sizes));
  return loss_bytes_.emplace(std::pair{rows, where}, traces_.loss_bytes(prediction, targets, where)).first->second;
}

TWILL_BODY double Estimator::gradient_s(std::int64_t rows) {
  const PlannedProgram& program = gradient();
  return detail::seconds_of(program, program.symbols(with_rows(sizes_, rows_name_, rows)), machine_.device);
}

TWILL_BODY const Calibration& Estimator::calibration() {
  if (!calibration_) {
    if (machine_.timed.empty())
      calibration_.emplace();
    else
      calibration_.emplace(
          machine_.timed, [this](std::int64_t rows) { return gradient_s(rows); },
          detail::seconds_of(made(update_, traces_.update), {}, machine_.device));
  }
  return *calibration_;
}

TWILL_BODY int Estimator::layer_ranks() { return fit::layer_ranks(gradient()); }

TWILL_BODY Report Estimator::report(const Options& options) {
  if (options.data < 1 || options.pipeline < 1)
    throw ValueError(join_text({"fit: there is at least one replica and one rank of a pipeline, got ", options.data,
                                " and ", options.pipeline}));
  if (options.zero < 0 || options.zero > 3)
    throw ValueError(join_text({"fit: ZeRO has stages 1 to 3, and 0 for none, got ", options.zero}));
  if (options.data > rows_)
    throw ValueError(join_text({"fit: ", rows_, " rows are less than one for each of ", options.data, " replicas"}));
  if (options.shards > 0 && (options.shards < options.data || options.shards > rows_))
    throw ValueError(
        join_text({"fit: a batch under Reproducible has at least one shard for each of ", options.data,
                   " replicas and one row for each shard, got ", options.shards, " shards and ", rows_, " rows"}));
  const int tensor = layer_ranks();
  if (options.shards > 0 && (tensor > 1 || slots() > 1 || (options.pipeline > 1 && options.data > 1)))
    throw ValueError(
        "fit: Reproducible is for one device, replicas, and a pipeline without them, not for divided layers "
        "and device slots");
  if (options.shards > 0 && options.pipeline > 1 && options.shards != options.micro_batches)
    throw ValueError(join_text({"fit: each shard of a batch is a micro-batch of a pipeline under Reproducible, got ",
                                options.shards, " shards and ", options.micro_batches, " micro-batches"}));
  if (options.tensor != 0 && options.tensor != tensor)
    throw ValueError(join_text({"fit: the model's type divides its layers among ", tensor, " ranks, got ",
                                options.tensor, "; the number is that of its RankAxis"}));
  if (tensor > 1 && (options.is_replicated || options.budget_bytes > 0))
    throw ValueError("fit: divided layers are estimated on ranks, not in replicas of one process, or with parts "
                     "computed again");
  if (slots() > 1 && (options.pipeline > 1 || options.data > 1 || options.zero > 0 || tensor > 1))
    throw ValueError(join_text({"fit: a model with parts in ", slots(),
                                " device slots is one replica on as many "
                                "devices, without pipeline, ZeRO or divided layers, as nn::Network takes them"}));
  Report report = options.pipeline > 1 ? report_of_stages(options) : report_of_whole_model(options);
  report.options = options;
  report.options.tensor = tensor;
  report.options.slots = slots();
  report.rows = rows_;
  std::int64_t library_bytes = machine_.library_bytes;
  if (traces_.is_for_gpus) // the working memory of a stream, outside of the pool
    library_bytes += static_cast<std::int64_t>(gpu::allowance_bytes + gpu::allowance_counters * sizeof(unsigned));
  for (RankReport& rank : report.ranks) rank.bytes[Bytes::working] += library_bytes;
  return report;
}

TWILL_BODY ShardOptions Estimator::shard_options(const Options& options, int rank) const {
  return {.policy = {.shards = options.shards},
          .rank = rank,
          .ranks = options.data,
          .zero_stage = options.zero,
          .is_replica = options.is_replicated,
          .is_on_gpu = traces_.is_for_gpus,
          .rows = rows_,
          .buckets = options.is_replicated || options.data == 1 ? BucketOptions{} : buckets_, // as these steps have
          .element_bytes = traces_.element_bytes};
}

TWILL_BODY Report Estimator::report_of_whole_model(const Options& options) {
  Report report{};
  const int replicas = options.data;
  const pipeline::Schedule schedule = pipeline::schedule<pipeline::GPipe>(1, 1);
  pipeline::StageCost cost{};
  double fetch_s = 0;
  const auto pieces = chunk_rows(rows_, replicas);
  if (replicas == 1 && options.zero == 0 && options.shards == 0) {
    const PlannedProgram& step = step_within(options.budget_bytes);
    const LayerTraffic layers = layer_traffic(step, step.symbols(sizes_), machine_.between_layers);
    for (int slot = 0; slot < slots(); ++slot) report.ranks.push_back(report_of_slot(step, sizes_, slot));
    report.ranks.front().layer_bytes = layers.sent_bytes;
    report.layers_s = layers.seconds;
    const Correction correction = calibration().at(rows_);
    const double whole_s = detail::seconds_of(step, step.symbols(sizes_), machine_.device);
    const double part_s = std::min(whole_s, gradient_s(rows_)); // the rest is what the update adds
    cost.input_gradient_s = correction.gradient * part_s;
    cost.update_s = correction.update * (whole_s - part_s);
  } else {
    if (options.budget_bytes > 0) throw ValueError("fit: a budget for parts to be computed again is for one device");
    if (options.is_replicated && options.zero > 0)
      throw ValueError("fit: DataParallel divides nothing but the rows; ZeRO is for ranks");
    const PlannedProgram& backward = gradient();
    const PlannedProgram& update =
        options.zero > 0 ? made(update_of_parts_, traces_.update_of_parts) : made(update_, traces_.update);
    for (int rank = 0; rank < replicas; ++rank) {
      const std::int64_t own =
          rank < static_cast<int>(pieces.size()) ? pieces[static_cast<std::size_t>(rank)].count : 0;
      const Sizes sizes = with_rows(sizes_, rows_name_, own);
      if (options.shards > 0)
        report.ranks.push_back(report_of_shards(backward, update, shard_options(options, rank),
                                                [this](auto rows) { return with_rows(sizes_, rows_name_, rows); }));
      else
        report.ranks.push_back(options.is_replicated
                                   ? report_of_replica(backward, update, sizes, rank, replicas, traces_.element_bytes)
                                   : report_of_rank(backward, update, sizes, rank, replicas, options.zero, buckets_,
                                                    traces_.element_bytes, traces_.is_for_gpus));
      const LayerTraffic layers = layer_traffic(backward, backward.symbols(sizes), machine_.between_layers);
      const LayerTraffic of_update = layer_traffic(update, {}, machine_.between_layers);
      report.ranks.back().layer_bytes = layers.sent_bytes + of_update.sent_bytes;
      report.layers_s = std::max(report.layers_s, layers.seconds + of_update.seconds);
    }
    const int runs = options.shards > 0 ? 1 + (options.shards - 1) / replicas : 1; // one after another
    const std::int64_t rows = options.shards > 0 ? 1 + (rows_ - 1) / options.shards : pieces[0].count;
    const Correction correction = calibration().at(rows);
    cost.input_gradient_s = runs * correction.gradient * gradient_s(rows);
    cost.update_s =
        correction.update * detail::seconds_of(update, {}, machine_.device) / (options.zero > 0 ? replicas : 1);
    cost.gradient_bytes = gradient_bytes(update.view());
    if (options.zero == 3) { // weights are fetched by bucket, in place of once after the update
      const double fetched = static_cast<double>(gathered_bytes(backward, replicas, buckets_));
      fetch_s = (replicas - 1) *
                machine_.between_replicas.time_s((fetched - static_cast<double>(cost.gradient_bytes)) / replicas);
    }
  }
  const pipeline::Prediction prediction =
      pipeline::predict(schedule, {cost}, {.replicas = replicas, .between_replicas = machine_.between_replicas});
  report.timeline = prediction.timeline;
  report.bubble_s = prediction.bubble_s;
  report.all_reduce_s = prediction.all_reduce_s + fetch_s;
  report.step_s = prediction.step_s + fetch_s + report.layers_s;
  return report;
}

TWILL_BODY void Estimator::divide_in_shards(PipelineSetting& setting, const Options& options) {
  constexpr std::int64_t line = 64; // on which each row begins in the copies that the step makes of its batch
  const Reproducible policy{.shards = options.shards};
  for (int shard = 0; shard < policy.shards; ++shard) setting.pieces.push_back(policy.rows_of_shard(rows_, shard));
  setting.adds_along_tree = true;
  setting.batch_copies.resize(static_cast<std::size_t>(options.pipeline));
  const ListView<graph::InputInfo> inputs = gradient().view().inputs;
  const graph::SymbolValues one_row = gradient().symbols(with_rows(sizes_, rows_name_, 1));
  std::vector<std::int64_t> row_bytes{};
  for (const graph::InputInfo& info : inputs) {
    row_bytes.push_back(compile::bytes_of(info.dtype, info.shape, one_row));
    const bool is_target = row_bytes.size() == inputs.size();
    const int rank = setting.schedule->rank(is_target ? setting.schedule->stages - 1 : 0);
    setting.batch_copies[static_cast<std::size_t>(rank)].push_back(rows_ *
                                                                   ((row_bytes.back() + line - 1) / line * line));
  }
  const auto are_in_one_piece = [row_bytes](std::size_t input, std::int64_t rows) {
    return rows == 1 || row_bytes[input] % line == 0;
  };
  setting.has_input = [=, first = setting.schedule->rank(0)](int input, int rank, std::int64_t rows) {
    return rank == first && are_in_one_piece(static_cast<std::size_t>(input), rows);
  };
  setting.loss_bytes = [this, are_in_one_piece, last = inputs.size() - 1](std::int64_t rows) {
    return loss_bytes(rows, are_in_one_piece(last, rows) ? Targets::are_there : Targets::are_copied);
  };
}

TWILL_BODY Report Estimator::report_of_stages(const Options& options) {
  if (options.zero > 1)
    throw ValueError(
        join_text({"fit: ranks of a pipeline divide the optimiser's states, ZeRO 1, at most; got ", options.zero}));
  const ScheduleName& kind = schedule_called(options.schedule);
  pipeline::Schedule schedule = kind.make(options.pipeline, options.micro_batches);
  const std::int64_t rows = chunk_rows(rows_, options.data)[0].count;
  PipelineSetting setting{};
  setting.stages =
      &stages(schedule.stages, {.splits_gradients = kind.splits_gradients, .is_reproducible = options.shards > 0});
  options.checkpointing.require_stages(schedule.stages);
  if (options.shards > 0) schedule = detail::schedule_of_shards(schedule, *setting.stages, options.checkpointing);
  setting.schedule = &schedule;
  setting.checkpointing = options.checkpointing;
  setting.keeps_orders = pipeline::can_keep_orders<Cpu> && options.micro_batches > 1 &&
                         options.weight_orders == pipeline::WeightOrders::kept_for_step;
  setting.replicas = options.data > 1 ? options.data : 0;
  setting.zero_stage = options.data > 1 ? options.zero : 0;
  setting.symbols = [this, &setting](int stage, std::int64_t of) {
    return (*setting.stages)[static_cast<std::size_t>(stage)].inference.symbols(with_rows(sizes_, rows_name_, of));
  };
  setting.has_input = [&](int, int rank, std::int64_t) { return rank == schedule.rank(0); };
  setting.loss_bytes = [this](std::int64_t of) { return loss_bytes(of, Targets::are_there); };
  if (options.shards > 0)
    divide_in_shards(setting, options);
  else
    setting.pieces = pipeline::detail::micro_batches_of(rows, options.micro_batches);
  setting.buckets = buckets_;
  Report report{};
  report.ranks = report_of_pipeline(setting);
  const std::int64_t rows_of_piece = chunk_rows(rows, options.micro_batches)[0].count;
  const Sizes piece = with_rows(sizes_, rows_name_, rows_of_piece);
  List<pipeline::StageCost> costs{};
  for (int stage = 0; stage < schedule.stages; ++stage) {
    pipeline::StageCost cost = detail::cost_of((*setting.stages)[static_cast<std::size_t>(stage)], piece,
                                               options.checkpointing(stage), machine_, calibration().at(rows_of_piece));
    if (setting.zero_stage > 0) // a part of the update, and then the others' new weights
      cost.update_s = cost.update_s / options.data +
                      (options.data - 1) *
                          machine_.between_replicas.time_s(static_cast<double>(cost.gradient_bytes) / options.data);
    costs.push_back(cost);
  }
  const pipeline::Prediction prediction = pipeline::predict(schedule, costs,
                                                            {.replicas = options.data,
                                                             .between_stages = machine_.between_stages,
                                                             .between_replicas = machine_.between_replicas});
  report.timeline = prediction.timeline;
  report.bubble_s = prediction.bubble_s;
  report.all_reduce_s = prediction.all_reduce_s;
  report.step_s = prediction.step_s;
  std::vector<double> in_layers(static_cast<std::size_t>(schedule.ranks), 0);
  for (int stage = 0; stage < schedule.stages; ++stage)
    in_layers[static_cast<std::size_t>(schedule.rank(stage))] +=
        detail::layers_s((*setting.stages)[static_cast<std::size_t>(stage)], piece, options.micro_batches,
                         options.checkpointing(stage), machine_.between_layers);
  report.layers_s = *std::max_element(in_layers.begin(), in_layers.end());
  return report;
}

}}}}} // namespace twill::v0::parallel::fit::TWILL_ISA
