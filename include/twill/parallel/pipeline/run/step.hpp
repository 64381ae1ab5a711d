#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Pipeline training steps in one process: the batch is divided into micro-batches, every rank carries out its part of
// the schedule in its own thread, and each stage updates its weights. Losses and gradients are weighted by rows, so
// that they equal those of the whole batch on one device, for an uneven last micro-batch too; dropout draws equal the
// whole batch's. The times of actions can be read and drawn. Read next: parallel/pipeline/run/run.hpp.

#include <twill/core/config.hpp>
#include <twill/parallel/data/chunk.hpp>
#include <twill/parallel/pipeline/model/pipeline.hpp>
#include <twill/parallel/pipeline/model/stage_rules.hpp>
#include <twill/parallel/pipeline/model/state.hpp>
#include <twill/parallel/pipeline/run/run.hpp>
#include <twill/parallel/pipeline/run/runner.hpp>
#include <twill/parallel/pipeline/run/step_options.hpp>
#include <twill/parallel/pipeline/schedule/verify.hpp>
#include <twill/parallel/threads/communicator.hpp>
#include <twill/parallel/threads/ranks.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace pipeline { inline namespace TWILL_ISA {

/// Steps of a pipeline by a loss of means and a rule.
template <class P, class L, optim::Rule R> class PipelineStep {
  using S = typename P::ScheduleType;

public:
  /// throws: ValueError if the schedule cannot be carried out with this number of micro-batches
  PipelineStep(P& pipeline, L loss, R given, StepOptions options)
      : rule{std::move(given)},
        pipeline_{&pipeline},
        loss_{std::move(loss)},
        options_{options},
        communicators_{pipeline.make_group({.timeout_ms = options.timeout_ms})},
        schedule_{pipeline::schedule<S>(P::ranks, options.micro_batches)} {
    options_.checkpointing.require_stages(P::stages);
    if constexpr (P::Plan::has_ties) tied_ = tied_weights(P::infos());
    make_optimisers(typename P::Sequence{});
  }

  /// One step on a batch: the model's inputs, then the targets. Micro-batches have equal numbers of rows but the last.
  /// throws: ValueError if the rows do not fill the micro-batches; a rank's exception, or a TimeoutError naming one
  /// missing. Gradients are dropped then; weights stay, except those of stages that an update already reached.
  template <AnyTensor... Batch> double operator()(const Batch&... batch) {
    const double loss = gradients(batch...);
    detail::GradientSums sums{};
    if constexpr (detail::asks_for_sums<R>)
      sums = detail::sums_of_gradients<typename P::Element>(pipeline_->states(), tied_, rule, loss_scale());
    gradient_norm_ = std::sqrt(sums.squares);
    update(sums, typename P::Sequence{});
    return loss;
  }

  /// The loss, and the gradients of all stages without an update: times the loss scale, if the rule has one.
  template <AnyTensor... Batch> double gradients(const Batch&... batch) {
    static_assert(sizeof...(Batch) >= 2, "twill: a step of a pipeline takes the model's inputs and the targets");
    const std::tuple<const Batch&...> all{batch...};
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return gradients_of(std::tie(std::get<I>(all)...), std::get<sizeof...(I)>(all));
    }
    (std::make_index_sequence<sizeof...(Batch) - 1>{});
  }

  /// The times of each action and message of the last step, in seconds from its beginning.
  [[nodiscard]] const Timeline& timeline() const { return timeline_; }
  /// The actions of the ranks, in order.
  [[nodiscard]] const Schedule& schedule() const { return schedule_; }
  /// The norm of all gradients before the last clipping, for rules made by `optim::clip_norm`.
  [[nodiscard]] double gradient_norm() const { return gradient_norm_; }

  /// A single number of the rule, such as `optim::loss_scale_state`, after the last step. Waits for it.
  /// throws: ValueError if there is none of this name, or no step was made
  [[nodiscard]] double state(std::string_view name) const {
    std::optional<double> found;
    std::apply([&](const auto&... own) { ((found = found ? found : own->find_state(name)), ...); }, optimisers_);
    return found ? *found : std::get<0>(optimisers_)->state(name);
  }
  /// The optimiser of a stage's weights.
  template <std::size_t I> [[nodiscard]] auto& optimiser() { return *std::get<I>(optimisers_); }
  /// Steps made, including those skipped by a loss scale.
  [[nodiscard]] std::int64_t steps() const { return std::get<0>(optimisers_)->steps(); }

  /// The rule's states, the count of steps and the rule's options, equal to one network's. Waits for the devices.
  [[nodiscard]] nn::StateDict state_dict() const {
    nn::StateDict whole{};
    for_each_number([&]<std::size_t I>(std::integral_constant<std::size_t, I>) {
      const auto own = train::without_steps(train::states_alone(std::get<I>(optimisers_)->state_dict()));
      for (const auto& [name, tensor] : own.states.entries()) {
        std::string key = detail::prefix_of<P>(I) + name;
        if (whole.find(key) == nullptr) whole.add(std::move(key), tensor); // once for a tied weight
      }
    });
    train::add_steps(whole, steps());
    return train::with_options(std::move(whole), rule);
  }
  /// Throws the exceptions of `load_state_dict`, without loading.
  void require_loadable(const nn::StateDict& state) const {
    R copy = rule; // nothing is set
    const train::LoadedOptions options{copy, state};
    const train::CountedStates given = train::without_steps(options.states());
    if (given.states.size() == 0 && given.steps == 0) return; // of a rule that made no step
    detail::WholeStateCheck check{given.states};
    for_each_number([&]<std::size_t I>(std::integral_constant<std::size_t, I>) {
      for (const graph::ParameterInfo& info : states_of<I>())
        check.expect(detail::prefix_of<P>(I) + std::string{info.name.view()}, info);
    });
    check.finish();
  }
  /// Resumes from the state of a step on one device, or on any number of ranks; if it holds no options, the rule keeps
  /// its own.    throws: ShapeError, ValueError naming the mismatch, with nothing changed
  train::OptionsReport load_state_dict(const nn::StateDict& state) {
    require_loadable(state);
    train::LoadedOptions options{rule, state};
    const train::CountedStates given = train::without_steps(options.states());
    for_each_number([&]<std::size_t I>(std::integral_constant<std::size_t, I>) {
      nn::StateDict own{};
      if (given.states.size() > 0)
        for (const graph::ParameterInfo& info : states_of<I>())
          own.add(std::string{info.name.view()},
                  *given.states.find(detail::prefix_of<P>(I) + std::string{info.name.view()}));
      train::add_steps(own, given.steps);
      std::get<I>(optimisers_)->load_state_dict(own);
    });
    return options.set();
  }

  R rule; ///< its options may change between steps

private:
  template <class X, class Y> double gradients_of(const X& x, const Y& targets) {
    const auto pieces = detail::micro_batches_of(detail::rows_of_batch(x, targets), options_.micro_batches);
    detail::begin_step(*pipeline_, options_);
    timeline_ = Timeline{};
    timeline_.ranks.resize(static_cast<std::size_t>(P::ranks));
    timeline_.messages.resize(static_cast<std::size_t>(P::ranks));
    double loss = 0;
    const double scale = loss_scale();
    const double origin = steady_seconds();
    try {
      parallel::run_ranks(communicators_, [&](auto& communicator) {
        const int rank = communicator.rank();
        detail::ModelRunner<P, L, X, Y> runner{*pipeline_, schedule_, loss_, pieces,
                                               x,          targets,   rank,  options_.checkpointing};
        runner.scale_gradients(scale);
        RankTimeline events = pipeline::run(schedule_, communicator, runner, origin);
        timeline_.ranks[static_cast<std::size_t>(rank)].swap(events.computed);
        timeline_.messages[static_cast<std::size_t>(rank)].swap(events.messages);
        if (rank == schedule_.rank(P::stages - 1)) loss = runner.loss();
      });
    } catch (...) { // a failed group can serve no later step
      detail::give_up_step(*pipeline_);
      communicators_ = pipeline_->make_group({.timeout_ms = options_.timeout_ms});
      throw;
    }
    timeline_.is_complete = true;
    detail::drop_orders(*pipeline_);
    add_tied_gradients(pipeline_->states(), tied_);
    return loss;
  }

  template <std::size_t I>
  using OptimiserOf = detail::StageOptimiser<typename std::tuple_element_t<I, typename P::Stages>::Network, R>;

  template <std::size_t... I>
  static auto tuple_of(std::index_sequence<I...>) -> std::tuple<std::unique_ptr<OptimiserOf<I>>...>;
  using Optimisers = decltype(tuple_of(typename P::Sequence{}));

  template <class F> static void for_each_number(F f) {
    [&]<std::size_t... I>(std::index_sequence<I...>) { (f(std::integral_constant<std::size_t, I>{}), ...); }
    (typename P::Sequence{});
  }
  /// The rule's states of a stage.
  template <std::size_t I> [[nodiscard]] static std::span<const graph::ParameterInfo> states_of() {
    using Network = typename std::tuple_element_t<I, typename P::Stages>::Network;
    return OptimiserOf<I>::table().parameters.subspan(Network::parameter_infos().size());
  }
  template <std::size_t... I> void make_optimisers(std::index_sequence<I...>) {
    ((std::get<I>(optimisers_) = std::make_unique<OptimiserOf<I>>(pipeline_->template stage<I>(), rule)), ...);
  }
  template <std::size_t... I> void update(const detail::GradientSums& sums, std::index_sequence<I...>) {
    (detail::update_stage(*std::get<I>(optimisers_), rule, sums), ...);
  }
  [[nodiscard]] double loss_scale() {
    if constexpr (optim::ScaledRule<R>) return std::get<0>(optimisers_)->scale();
    return 1;
  }

  P* pipeline_;
  L loss_;
  StepOptions options_;
  double gradient_norm_ = 0;
  typename P::Communicators communicators_;
  Schedule schedule_;
  std::vector<TiedWeight> tied_;
  Timeline timeline_{};
  Optimisers optimisers_{};
};

}}}} // namespace twill::v0::pipeline::TWILL_ISA

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

/// A training step of a pipeline: `step(inputs, targets)` gives the loss.
template <pipeline::ScheduleKind S, FloatingScalar T, pipeline::RankPlaces D, class... Parts, class L, optim::Rule R>
[[nodiscard]] auto train_step(pipeline::BasicPipeline<S, T, D, Parts...>& model, L loss, R rule,
                              pipeline::StepOptions options) {
  return pipeline::PipelineStep<pipeline::BasicPipeline<S, T, D, Parts...>, L, R>{model, std::move(loss),
                                                                                  std::move(rule), options};
}

}}} // namespace twill::v0::TWILL_ISA
