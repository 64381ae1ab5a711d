#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// A training step of a pipeline in which each rank runs its own stages over a communicator, whatever that is made of: threads,
// or processes that hold nothing of the other stages. All ranks make the same steps; of the batch a rank reads what its
// stages take, the last one the targets. Tied weights and the norm for clipping go over the communicator too. With a
// second communicator, over the ranks that hold the same stages of other replicas, the pipeline is data-parallel:
// replicas see different batches, and gradients are those of all rows together. Read next: parallel/pipeline/step.hpp.

#include <twill/core/clock.hpp>
#include <twill/core/config.hpp>
#include <twill/parallel/chunk.hpp>
#include <twill/parallel/clock_offset.hpp>
#include <twill/parallel/collectives.hpp>
#include <twill/parallel/pipeline/clip.hpp>
#include <twill/parallel/pipeline/gather.hpp>
#include <twill/parallel/pipeline/pipeline.hpp>
#include <twill/parallel/pipeline/run.hpp>
#include <twill/parallel/pipeline/runner.hpp>
#include <twill/parallel/pipeline/step_options.hpp>
#include <twill/parallel/pipeline/verify.hpp>
#include <twill/train/optimiser.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace twill::inline v0::pipeline::inline TWILL_ISA {

/// One rank's part of the steps of a pipeline P by a loss of means and a rule. `Data` is the communicator of replicas.
template <class P, class L, optim::Rule R, parallel::Communicator C, parallel::Communicator Data = C> class RankStep {
  using S = typename P::ScheduleType;
  using D = typename P::device_type;
  using T = typename P::Element;
  using OwnRule = typename detail::RuleOfStages<R>::type;

public:
  /// throws: ValueError where the schedule cannot be carried out, the group has another number of ranks, or the stages that are
  /// here are not those of the communicator's rank
  RankStep(P& pipeline, C& communicator, L loss, R rule, StepOptions options, Data* replicas = nullptr)
      : pipeline_{&pipeline},
        communicator_{&communicator},
        replicas_{replicas},
        loss_{std::move(loss)},
        options_{options},
        max_norm_{detail::RuleOfStages<R>::max_norm(rule)},
        schedule_{pipeline::schedule<S>(P::ranks, options.micro_batches)} {
    require_own_stages(typename P::Sequence{});
    if constexpr (P::Plan::has_ties) tied_ = tied_weights(P::infos());
    make_optimisers(rule, typename P::Sequence{});
  }

  /// One step on a batch: the model's inputs, then the targets. Returns the loss of the whole batch, on every rank.
  /// throws: ValueError where the rows do not fill the micro-batches; what this rank threw; CommunicatorError naming another
  template <AnyTensor... Batch> double operator()(const Batch&... batch) {
    const double loss = gradients(batch...);
    telling_others([&] {
      if (max_norm_ >= 0) clip();
      update(typename P::Sequence{});
    });
    return loss;
  }

  /// The loss, and the gradients of this rank's stages without an update.
  template <AnyTensor... Batch> double gradients(const Batch&... batch) {
    static_assert(sizeof...(Batch) >= 2, "twill: a step of a pipeline takes the model's inputs and the targets");
    const std::tuple<const Batch&...> all{batch...};
    double loss = 0;
    telling_others([&] {
      loss = [&]<std::size_t... I>(std::index_sequence<I...>) {
        return this->gradients_of(std::tie(std::get<I>(all)...), std::get<sizeof...(I)>(all));
      }
      (std::make_index_sequence<sizeof...(Batch) - 1>{});
    });
    return loss;
  }

  /// When each action of the last step ran on this rank, in seconds from its beginning.
  [[nodiscard]] const List<TimedAction>& events() const { return events_.computed; }
  /// The same of all ranks and of the messages between them, in seconds from the earliest beginning. A collective call, which
  /// compares the clocks of the ranks; a step does not.
  [[nodiscard]] Timeline timeline() {
    return gather_timeline(*communicator_, events_, begin_, parallel::clock_offset(*communicator_));
  }
  [[nodiscard]] const Schedule& schedule() const { return schedule_; }
  /// Of all gradients before the last clipping.
  [[nodiscard]] double gradient_norm() const { return gradient_norm_; }

private:
  /// Calls f; what it throws ends the other ranks' calls, too.
  template <class F> void telling_others(F f) {
    try {
      f();
    } catch (...) {
      communicator_->fail(std::current_exception());
      if (replicas_ != nullptr) replicas_->fail(std::current_exception());
      throw;
    }
  }

  template <class X, class Y> double gradients_of(const X& x, const Y& targets) {
    const std::int64_t rows = detail::rows_of_batch(x, targets);
    const auto pieces = detail::micro_batches_of(rows, options_.micro_batches);
    detail::begin_step(*pipeline_);
    if constexpr (P::Plan::has_ties) share_draw();
    detail::ModelRunner<P, L, X, Y> runner{*pipeline_, schedule_, loss_,  pieces,
                                           x,          targets,   rank(), options_.checkpointing};
    begin_ = steady_seconds();
    events_ = pipeline::run(schedule_, *communicator_, runner, begin_);
    add_tied();
    // Means over this replica's rows become means over those of all.
    double sums[2] = {static_cast<double>(rows) * runner.loss(), static_cast<double>(rows)};
    if (replicas_ != nullptr) {
      const double all = total(*replicas_, sums[1]);
      if (rank() == schedule_.rank(P::stages - 1)) sums[0] = total(*replicas_, sums[0]);
      average(sums[1] / all);
      sums[1] = all;
    }
    return total(*communicator_, rank() == schedule_.rank(P::stages - 1) ? sums[0] / sums[1] : 0.0);
  }

  [[nodiscard]] int rank() const { return communicator_->rank(); }

  template <std::size_t... I> void require_own_stages(std::index_sequence<I...>) const {
    if (communicator_->size() != P::ranks)
      throw ValueError("train_step: " + std::string{S::name} + " with " + std::to_string(P::stages) +
                       " stages runs on " + std::to_string(P::ranks) + " ranks, the communicator has " +
                       std::to_string(communicator_->size()));
    if (((pipeline_->template has<I>() != (schedule_.rank(static_cast<int>(I)) == rank())) || ...))
      throw ValueError("train_step: the pipeline holds other stages than those of rank " + std::to_string(rank()) +
                       "; make it with (device, communicator.rank(), draw)");
  }

  /// The sum of a number over a group.
  template <class Group> [[nodiscard]] static double total(Group& group, double number) {
    Tensor<double, D, Shape<>> sum(D(group.device()), Dims{});
    sum.fill(number);
    group.run(parallel::Call::all_reduce(parallel::elements(sum)));
    if constexpr (D::has_memory) return sum.item();
    return number;
  }

  /// All stages draw what the first one draws.
  void share_draw() {
    compile::Knobs knobs{};
    pipeline_->for_each_stage_here([&](auto& stage) { knobs = stage.context.knobs; });
    if (!knobs.draws()) return;
    Tensor<std::int64_t, D, Shape<2>> draw(D(communicator_->device()));
    const auto seed = static_cast<std::size_t>(knobs.find(graph::seed_knob));
    const auto step = static_cast<std::size_t>(knobs.find(graph::step_knob));
    std::int64_t numbers[2] = {static_cast<std::int64_t>(knobs.bits()[seed]),
                               static_cast<std::int64_t>(knobs.bits()[step])};
    copy_bytes(draw.device(), draw.data(), Cpu{}, numbers, sizeof(numbers), CopyOptions{});
    communicator_->run(parallel::Call::broadcast(parallel::elements(draw), schedule_.rank(0)));
    copy_bytes(Cpu{}, numbers, draw.device(), draw.data(), sizeof(numbers), CopyOptions{});
    pipeline_->for_each_stage_here([&](auto& stage) {
      stage.context.knobs.set_draw(static_cast<std::uint64_t>(numbers[0]), static_cast<std::uint64_t>(numbers[1]));
    });
  }

  /// Gives each owner of a tied weight the sum of all gradients, in the order of the stages.
  void add_tied() {
    const StageStates<D> states = pipeline_->states();
    for (const TiedWeight& weight : tied_) {
      const auto first = weight.owners[0];
      const int root = schedule_.rank(static_cast<int>(first.stage));
      for (std::size_t i = 1; i < weight.owners.size(); ++i) {
        const auto other = weight.owners[i];
        const int peer = schedule_.rank(static_cast<int>(other.stage));
        if (rank() == root) add_from(states, first, other, peer);
        if (rank() == peer && peer != root) communicator_->run(parallel::Call::send(gradient(states, other), root));
      }
      for (std::size_t i = 1; i < weight.owners.size(); ++i) {
        const auto other = weight.owners[i];
        const int peer = schedule_.rank(static_cast<int>(other.stage));
        if (peer == root && rank() == root)
          copy_bytes(states[other.stage]->device, gradient(states, other).data, states[first.stage]->device,
                     gradient(states, first).data, gradient(states, first).bytes(), CopyOptions{});
        else if (rank() == root)
          communicator_->run(parallel::Call::send(gradient(states, first), peer));
        else if (rank() == peer)
          communicator_->run(parallel::Call::receive(gradient(states, other), root));
      }
    }
  }
  void add_from(const StageStates<D>& states, const TiedWeight::Owner& first, const TiedWeight::Owner& other,
                int peer) {
    nn::NetworkState<D>& own = *states[first.stage];
    const parallel::Elements sum = gradient(states, first);
    memory::Buffer<D> moved(own.device, sum.bytes());
    if (peer == rank())
      copy_bytes(own.device, moved.data(), states[other.stage]->device, gradient(states, other).data, sum.bytes(),
                 CopyOptions{});
    else
      communicator_->run(parallel::Call::receive({moved.data(), sum.count, sum.dtype}, peer));
    own.add(own.device, sum.dtype, sum.count, sum.data, moved.data());
    synchronize(own.device);
  }
  [[nodiscard]] static parallel::Elements gradient(const StageStates<D>& states, const TiedWeight::Owner& owner) {
    const nn::NetworkState<D>& state = *states[owner.stage];
    const graph::ParameterInfo& info = state.infos[owner.index];
    return {state.gradients[owner.index].data(), info.shape.elements().factor, info.dtype};
  }

  /// Adds the gradients of all replicas, each weighted by its share of the rows.
  void average(double share) {
    detail::for_each_gradient<T>(pipeline_->states(), tied_, [&](const auto& gradient, bool) {
      detail::scale(gradient, share);
      replicas_->run(parallel::Call::all_reduce(parallel::elements(gradient)));
    });
  }

  void clip() {
    const StageStates<D> states = pipeline_->states();
    gradient_norm_ = std::sqrt(total(*communicator_, detail::sum_of_squares<T>(states, tied_)));
    const double factor = std::min(1.0, max_norm_ / (gradient_norm_ + 1e-6)); // always multiplied
    detail::for_each_gradient<T>(states, tied_, [&](const auto& gradient, bool) { detail::scale(gradient, factor); });
  }

  template <std::size_t I>
  using OptimiserOf = train::Optimiser<typename std::tuple_element_t<I, typename P::Stages>::Network, OwnRule>;
  template <std::size_t... I>
  static auto tuple_of(std::index_sequence<I...>) -> std::tuple<std::unique_ptr<OptimiserOf<I>>...>;
  using Optimisers = decltype(tuple_of(typename P::Sequence{}));

  template <std::size_t... I> void make_optimisers(const OwnRule& rule, std::index_sequence<I...>) {
    const auto make = [&]<std::size_t K>(std::integral_constant<std::size_t, K>) {
      if (pipeline_->template has<K>())
        std::get<K>(optimisers_) = std::make_unique<OptimiserOf<K>>(pipeline_->template stage<K>(), rule);
    };
    (make(std::integral_constant<std::size_t, I>{}), ...);
  }
  template <std::size_t... I> void update(std::index_sequence<I...>) {
    ((std::get<I>(optimisers_) ? std::get<I>(optimisers_)->step() : void()), ...);
  }

  P* pipeline_;
  C* communicator_;
  Data* replicas_;
  L loss_;
  StepOptions options_;
  double max_norm_; ///< of all gradients; negative: they are not clipped
  double gradient_norm_ = 0;
  Schedule schedule_;
  std::vector<TiedWeight> tied_;
  double begin_ = 0; ///< of the last step, by the steady clock
  RankTimeline events_{};
  Optimisers optimisers_{};
};

} // namespace twill::inline v0::pipeline::inline TWILL_ISA

namespace twill::inline v0::inline TWILL_ISA {

/// This rank's part of a training step of a pipeline: `step(inputs, targets)` gives the loss on every rank.
template <pipeline::ScheduleKind S, FloatingScalar T, ComputeDevice D, class... Parts, parallel::Communicator C,
          class L, optim::Rule R>
[[nodiscard]] auto train_step(pipeline::BasicPipeline<S, T, D, Parts...>& model, C& communicator, L loss, R rule,
                              pipeline::StepOptions options) {
  return pipeline::RankStep<pipeline::BasicPipeline<S, T, D, Parts...>, L, R, C>{model, communicator, std::move(loss),
                                                                                 std::move(rule), options};
}

/// The same for one of several replicas; `replicas` joins the ranks that hold the same stages.
template <pipeline::ScheduleKind S, FloatingScalar T, ComputeDevice D, class... Parts, parallel::Communicator C,
          parallel::Communicator Data, class L, optim::Rule R>
[[nodiscard]] auto train_step(pipeline::BasicPipeline<S, T, D, Parts...>& model, C& communicator, Data& replicas,
                              L loss, R rule, pipeline::StepOptions options) {
  return pipeline::RankStep<pipeline::BasicPipeline<S, T, D, Parts...>, L, R, C, Data>{
      model, communicator, std::move(loss), std::move(rule), options, &replicas};
}

} // namespace twill::inline v0::inline TWILL_ISA
