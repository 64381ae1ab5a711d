#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Memory of a step of a pipeline, exact to the byte and known before anything runs, for any schedule, loss, rule and
// checkpointing: the stages are traced and planned at run time, and the schedule is replayed (parallel/fit). It holds
// for the steps after the first, which makes the optimiser's states at its end and needs no more. Memory depends only
// on the schedule, see parallel/pipeline/run/run.hpp, so the figures equal `max_memory_allocated` if each rank has its
// own device. Ranks that share one need at most the sum of theirs; their peaks need not coincide. Not in twill.hpp.
// Read next: parallel/pipeline/schedule/predict.hpp, for other clusters.

#include <twill/core/config.hpp>
#include <twill/device/meta/meta.hpp>
#include <twill/parallel/fit/held.hpp>
#include <twill/parallel/fit/loss_bytes.hpp>
#include <twill/parallel/fit/pipeline_replay.hpp>
#include <twill/parallel/fit/plans_of.hpp>
#include <twill/parallel/pipeline/run/step.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace parallel { namespace pipeline { inline namespace TWILL_ISA {

/// Bytes of the pool of a rank's device, without the caller's batch.
struct RankMemory {
  std::int64_t weights = 0; ///< and buffers
  std::int64_t held = 0;    ///< between two steps: weights and buffers, gradients, states of the optimiser
  std::int64_t peak = 0;    ///< during a step
};

}}}}} // namespace twill::v0::parallel::pipeline::TWILL_ISA

namespace twill { inline namespace v0 { namespace parallel { namespace pipeline { namespace detail {
inline namespace TWILL_ISA {

template <class P> struct OnMeta;
template <ScheduleKind S, FloatingScalar T, RankPlaces D, class... Parts>
struct OnMeta<BasicPipeline<S, T, D, Parts...>> {
  using type = BasicPipeline<S, T, Meta, Parts...>;
};

/// Replays of steps of a pipeline P by a loss and a rule, with a stage of ZeRO, on batches like one on `Meta`: the
/// inputs, then the targets.
template <class P, class L, optim::Rule R, int ZeroStage, AnyTensor... Batch> class StepReplay {
  using Mirrored = typename OnMeta<P>::type;
  static constexpr std::size_t inputs = sizeof...(Batch) - 1;
  using LastStage = std::tuple_element_t<static_cast<std::size_t>(P::stages) - 1, typename P::Stages>;
  using Prediction = compile::shown_output_t<StageInference<typename LastStage::Source>, 0, Meta>;
  using Target = std::tuple_element_t<inputs, std::tuple<Batch...>>;

public:
  /// throws: ValueError if the schedule or the checkpointing is not one of the pipeline
  StepReplay(const L& loss, const StepOptions& options, const Batch&... batch)
      : loss_{loss},
        batch_{batch...},
        schedule_{pipeline::schedule<typename P::ScheduleType>(P::ranks, options.micro_batches)},
        plans_{fit::plans_of<P, R, ZeroStage>()} {
    static_assert(sizeof...(Batch) >= 2, "twill: a step of a pipeline takes the model's inputs and the targets");
    check_batch<"train_step", Mirrored>(std::type_identity<AllButLast<Batch...>>{});
    P::Plan::template check<typename Mirrored::Stages>();
    options.checkpointing.require_stages(P::stages);
    setting.schedule = &schedule_;
    setting.zero_stage = ZeroStage;
    setting.stages = &plans_;
    setting.checkpointing = options.checkpointing;
    setting.keeps_orders =
        stages_keep_orders<P> && options.weight_orders == WeightOrders::kept_for_step && options.micro_batches > 1;
    setting.symbols = [this](int stage, std::int64_t rows) { return symbols(stage, rows); };
    setting.loss_bytes = [this](std::int64_t rows) { return bytes_of_loss(rows); };
  }
  StepReplay(const StepReplay&) = delete;
  StepReplay& operator=(const StepReplay&) = delete;

  fit::PipelineSetting setting{};                      ///< for all replicas but their rows and numbers
  fit::Targets targets_place{fit::Targets::are_there}; ///< on the rank of the last stage, or elsewhere

  /// The rows of the batch. throws: ShapeError if its tensors have different numbers, ValueError without any
  [[nodiscard]] std::int64_t rows() const {
    const std::int64_t rows = std::apply([](const auto&... x) { return common_rows(x...).value_or(0); }, batch_);
    std::apply(
        [&](const auto&... x) {
          training::require_rows(training::call_of_step<typename P::Plan::BatchModel>("train_step"),
                                 std::array{x.shape()...});
        },
        batch_);
    return rows;
  }

  /// The memory of each rank of the replica of the setting. throws: exceptions of the step
  [[nodiscard]] std::vector<RankMemory> run(std::int64_t rows) {
    setting.pieces = micro_batches_of(rows, schedule_.micro_batches);
    require_borders(setting.pieces[0].count);
    std::vector<RankMemory> found{};
    for (const fit::RankReport& rank : fit::report_of_pipeline(setting)) {
      fit::Ledger weights{};
      for (int stage = 0; stage < P::stages; ++stage)
        if (schedule_.rank(stage) == static_cast<int>(found.size()))
          fit::hold_weights(weights, plans_[static_cast<std::size_t>(stage)].inference.view());
      found.push_back({weights.now().total(), rank.held_bytes, rank.bytes.total()});
    }
    return found;
  }

private:
  /// The inputs, without the targets.
  [[nodiscard]] auto x() const {
    return [&]<std::size_t... I>(std::index_sequence<I...>) { return std::tie(std::get<I>(batch_)...); }
    (std::make_index_sequence<inputs>{});
  }
  [[nodiscard]] graph::SymbolValues symbols(int stage, std::int64_t rows) const {
    graph::SymbolValues found{};
    P::for_each_number([&]<std::size_t I>(std::integral_constant<std::size_t, I>) {
      if (static_cast<int>(I) == stage)
        found = symbols_of_rows<P, std::tuple_element_t<I, typename P::Stages>>(x(), rows);
    });
    return found;
  }
  /// The shapes of a stage's results of a number of rows.
  [[nodiscard]] std::vector<BorderSide> results(int stage, std::int64_t rows) const {
    const graph::Graph& graph = plans_[static_cast<std::size_t>(stage)].inference.graph();
    std::vector<BorderSide> made{};
    for (const int id : graph.outputs)
      made.push_back({stage, nullptr, graph.node(id).shape.evaluate(symbols(stage, rows))});
    return made;
  }
  void require_borders(std::int64_t rows) const {
    P::for_each_number([&]<std::size_t I>(std::integral_constant<std::size_t, I>) {
      require_fit<P, I, ImagesInMessages::row_major>(x(), rows, results(static_cast<int>(I), rows));
    });
  }
  [[nodiscard]] std::int64_t bytes_of_loss(std::int64_t rows) {
    if (const auto known = loss_bytes_.find(rows); known != loss_bytes_.end()) return known->second;
    Dims targets = std::get<inputs>(batch_).shape();
    targets[0] = rows;
    using Piece = std::remove_cvref_t<decltype(rows_of<0>(std::declval<const Target&>(), Rows{}))>;
    using Wanted = Tensor<typename Piece::value_type, Meta, typename Piece::shape_type>;
    const std::int64_t bytes =
        fit::loss_bytes<Prediction, Wanted>(loss_, results(P::stages - 1, rows)[0].shape, targets, targets_place);
    return loss_bytes_.emplace(rows, bytes).first->second;
  }

  const L& loss_;
  std::tuple<const Batch&...> batch_;
  Schedule schedule_;
  std::vector<fit::StagePlan> plans_;
  std::map<std::int64_t, std::int64_t> loss_bytes_{}; ///< by rows
};

}}}}}} // namespace twill::v0::parallel::pipeline::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace parallel { namespace pipeline { inline namespace TWILL_ISA {

/// The memory of each rank of a pipeline of type P in a step on a batch like this: the model's inputs, then the
/// targets, on `Meta`: those on `Meta{r}` on the device of rank r, and those on others where no rank is, so that their
/// readers make copies of the pieces.
/// throws: exceptions of the step    cost: host time of planning the stages, and no memory
template <class P, class L, optim::Rule R, AnyTensor... Batch>
requires(std::same_as<typename Batch::device_type, Meta>&&...)
    [[nodiscard]] std::vector<RankMemory> memory(const L& loss, [[maybe_unused]] const R& rule,
                                                 const StepOptions& options, const Batch&... batch) {
  detail::StepReplay<P, L, R, 0, Batch...> replay{loss, options, batch...};
  const std::array places{batch.device().index...};
  replay.setting.has_input = [&](int input, int rank, std::int64_t) {
    return places[static_cast<std::size_t>(input)] == rank;
  };
  if (places.back() != replay.setting.schedule->rank(P::stages - 1)) replay.targets_place = fit::Targets::are_copied;
  return replay.run(replay.rows());
}

/// The memory of each rank for an existing pipeline and batch.
template <ScheduleKind S, FloatingScalar T, ComputeDevice D, class... Parts, class L, optim::Rule R, AnyTensor... Batch>
[[nodiscard]] std::vector<RankMemory> memory(const BasicPipeline<S, T, D, Parts...>& pipeline, const L& loss,
                                             const R& rule, const StepOptions& options, const Batch&... batch) {
  using P = BasicPipeline<S, T, D, Parts...>;
  const auto on_meta = [&](const auto& x) {
    int rank = 0;
    if constexpr (std::same_as<typename std::remove_cvref_t<decltype(x)>::device_type, D>)
      while (rank < P::ranks && !(pipeline.devices()[static_cast<std::size_t>(rank)] == x.device())) ++rank;
    else
      rank = P::ranks;
    using X = std::remove_cvref_t<decltype(x)>;
    return Tensor<typename X::value_type, Meta, typename X::shape_type>(Meta{rank}, x.shape());
  };
  return memory<P>(loss, rule, options, on_meta(batch)...);
}

}}}}} // namespace twill::v0::parallel::pipeline::TWILL_ISA
