#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Pipeline training steps in which each rank runs its own stages over any communicator, of threads or of processes. All
// ranks make the same steps; a rank reads the part of the batch that its stages take, the last one the targets. Tied
// weights and the norm for clipping go over the communicator too. Other ranks may hold the same stages for replicas,
// with other rows, and other parts of the same layers; losses and gradients are those of all rows together.
// `ParallelModel` combines all of them. All ranks at a stage carry out its actions in one order without deadlock, so
// calls among them inside an action cannot form a cycle. Read next: parallel/model/parallel_model.hpp.

#include <twill/core/clock.hpp>
#include <twill/core/config.hpp>
#include <twill/parallel/data/chunk.hpp>
#include <twill/parallel/data/zero_stage.hpp>
#include <twill/parallel/group/collectives.hpp>
#include <twill/parallel/pipeline/model/pipeline.hpp>
#include <twill/parallel/pipeline/model/stage_rules.hpp>
#include <twill/parallel/pipeline/model/ties.hpp>
#include <twill/parallel/pipeline/run/gather.hpp>
#include <twill/parallel/pipeline/run/replica_ranks.hpp>
#include <twill/parallel/pipeline/run/run.hpp>
#include <twill/parallel/pipeline/run/runner.hpp>
#include <twill/parallel/pipeline/run/staged_step.hpp>
#include <twill/parallel/pipeline/run/step_options.hpp>
#include <twill/training/step_loss.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace parallel { namespace pipeline { inline namespace TWILL_ISA {

/// The other ranks at a rank's stages. Pointers that are not null outlive the step.
template <parallel::Communicator C, parallel::Communicator Data = C> struct RankPeers {
  Data* replicas = nullptr; ///< the ranks with the same stages and other rows, the pipeline's group "data"
  C* world = nullptr;       ///< all ranks, which receive the exception that ends this one
  ReplicaOptions options{}; ///< how gradients of replicas are summed
};

template <class P, class L, optim::Rule R> class PipelineStep;

}}}}} // namespace twill::v0::parallel::pipeline::TWILL_ISA

namespace twill { inline namespace v0 { namespace parallel { namespace pipeline { namespace detail {
inline namespace TWILL_ISA {

template <class P, template <class> class Work> class LocalRanks;

}}}}}} // namespace twill::v0::parallel::pipeline::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace parallel { namespace pipeline { inline namespace TWILL_ISA {

/// One rank's part of the steps of a pipeline P by a loss of means and a rule. `Data` is the communicator of replicas,
/// Z the states that these divide.
template <class P, class L, optim::Rule R, parallel::Communicator C, parallel::Communicator Data = C,
          class Z = parallel::Zero<0>>
class RankStep : public detail::StagedStep<P, R, Data, Z> {
  using Base = detail::StagedStep<P, R, Data, Z>;
  using S = typename P::ScheduleType;
  using D = typename P::template device_of<C>;
  using T = typename P::Element;
  template <class, class, optim::Rule> friend class PipelineStep;
  template <class, template <class> class> friend class detail::LocalRanks;

public:
  using Base::rule;

  /// throws: ValueError if the schedule cannot be carried out, the group has another number of ranks, the local stages
  /// are not those of the communicator's rank, or the pipeline has no group for the replicas
  RankStep(P& pipeline, C& communicator, L loss, R given, StepOptions options, RankPeers<C, Data> peers = {})
      : Base{pipeline, given, options, {pipeline, given, peers.replicas, peers.options.buckets}},
        communicator_{&communicator},
        world_{peers.world},
        loss_{std::move(loss)} {
    require_own_stages();
    if (peers.replicas != nullptr) require_known(*peers.replicas);
    if (peers.replicas != nullptr) replicas_.emplace(*peers.replicas, pipeline.template states<D>(), peers.options);
    if constexpr (P::Plan::has_ties) tied_ = tied_weights(P::infos());
  }

  /// One step on a batch: the model's inputs, then the targets. The loss is that of the whole batch, added up in
  /// float64, known on every rank.
  /// throws: ValueError if the rows do not fill the micro-batches; this rank's error; CommunicatorError naming another
  template <AnyTensor... Batch> training::StepLoss<double, D> operator()(const Batch&... batch) {
    Base::template check<Batch...>(); // here, so that an error has few lines
    const double loss = gradients(batch...);
    telling_others([&] { this->update(total_of(*communicator_, sums())); });
    return training::StepLoss<double, D>{loss};
  }

  /// The loss, and the gradients of this rank's stages without an update: times the loss scale, if the rule has one.
  template <AnyTensor... Batch> double gradients(const Batch&... batch) {
    double loss = 0;
    telling_others([&] {
      loss = Base::with_parts(
          [&](const auto& x, const auto& targets, const std::vector<parallel::Rows>& pieces) {
            begin(pieces.back().begin + pieces.back().count);
            if (!replicas_ || rows_.all == 0) Base::require_rows(x, targets);
            begin_ = steady_seconds();
            return total(*communicator_, run(x, targets, pieces));
          },
          batch...);
    });
    return loss;
  }

  /// The times of the last step's actions on this rank, in seconds from its beginning.
  [[nodiscard]] const List<TimedAction>& events() const { return events_.computed; }
  /// The events of all ranks and of the messages between them, in seconds from the earliest beginning. A collective
  /// call, which compares the clocks of the ranks; a step does not.
  [[nodiscard]] Timeline timeline() {
    return gather_timeline(*communicator_, events_, begin_, parallel::clock_offset(*communicator_));
  }

  /// The rule's states, the count of steps and the rule's options, equal to one network's, on every rank. A collective
  /// call of all ranks.    throws: this rank's exception; CommunicatorError naming another
  [[nodiscard]] nn::StateDict state_dict() {
    nn::StateDict whole{};
    telling_others([&] {
      whole = optimisers_.state_dict([&](auto stage, const graph::ParameterInfo& info, const void* own) {
        return parallel::whole_tensor(*communicator_, pipeline_->groups(), info, schedule_.rank(stage), own);
      });
    });
    return training::with_options(std::move(whole), rule);
  }

protected:
  using Base::optimisers_;
  using Base::options_;
  using Base::pipeline_;
  using Base::schedule_;

  /// Calls f; an exception of f ends the other ranks' calls, too.
  template <class F> void telling_others(F f) {
    try {
      f();
    } catch (...) {
      if (world_ != nullptr) world_->fail(std::current_exception());
      communicator_->fail(std::current_exception());
      pipeline_->groups().fail(std::current_exception());
      if (replicas_) replicas_->communicator().fail(std::current_exception());
      if (replicas_) replicas_->clear(); // started reductions read the gradients
      detail::give_up_step(*pipeline_);
      throw;
    }
  }

  /// Releases the last step, and agrees with the peers on the draws, counts and initial values of this one.
  void begin(std::int64_t rows) {
    detail::begin_step(*pipeline_, options_);
    if constexpr (P::Plan::has_ties)
      if (pipeline_->groups().all().empty()) share_draw();
    if (!replicas_) return;
    rows_ = rows_among(replicas_->communicator(), rows);
    replicas_->agree_on_buffers(pipeline_->template states<D>());
    pipeline_->for_each_stage_here([&](auto& stage) { stage.context.first_row = rows_.first; });
  }

  /// This rank in the group.
  [[nodiscard]] int rank() const { return communicator_->rank(); }

  /// The sum of a number over a group.
  template <class Group> [[nodiscard]] double total(Group& group, double number) const {
    Tensor<double, D, Shape<>> sum(D(communicator_->device()), Dims{});
    sum.fill(number);
    const parallel::Elements elements = parallel::elements(sum);
    if constexpr (parallel::Communicator<Group>)
      group.run(parallel::Call::all_reduce(elements));
    else
      group.run({kernel::Collective::all_reduce, kernel::Reduction::sum, elements.dtype, elements.data, elements.count,
                 elements.data, elements.count});
    if constexpr (D::has_memory) return sum.item();
    return number;
  }

  C* communicator_; ///< of all ranks of the pipeline

private:
  /// The gradients of a step that has begun. Returns the loss; zero on ranks without the last stage.
  template <class X, class Y>
  [[nodiscard]] double run(const X& x, const Y& targets, const std::vector<parallel::Rows>& pieces) {
    const StageStates<D> states = pipeline_->template states<D>();
    detail::ModelRunner<P, L, X, Y> runner{*pipeline_, schedule_, loss_,  pieces,
                                           x,          targets,   rank(), options_.checkpointing};
    runner.scale_gradients(optimisers_.loss_scale());
    if (replicas_) runner.count_among(rows_.all);
    if (replicas_) runner.when_complete([&](std::size_t stage) { replicas_->start(states, stage); });
    if (world_ != nullptr) runner.when_failed([this](const std::exception_ptr& cause) { world_->fail(cause); });
    events_ = pipeline::run(schedule_, *communicator_, runner, begin_);
    detail::drop_orders(*pipeline_);
    if (replicas_) replicas_->finish(states);
    RankTies<C, D>{*communicator_, schedule_, states}.add(tied_);
    if (rank() != schedule_.rank(P::stages - 1)) return 0;
    return replicas_ ? total(replicas_->communicator(), runner.loss()) : runner.loss();
  }

  void require_own_stages() const {
    if (communicator_->size() != P::ranks)
      throw ValueError("train_step: " + std::string{S::name} + " with " + std::to_string(P::stages) +
                       " stages runs on " + std::to_string(P::ranks) + " ranks, the communicator has " +
                       std::to_string(communicator_->size()));
    P::for_each_number([&]<std::size_t I>(std::integral_constant<std::size_t, I>) {
      if (pipeline_->template has<I>() != (schedule_.rank(static_cast<int>(I)) == rank()))
        throw ValueError("train_step: the pipeline holds other stages than those of rank " + std::to_string(rank()) +
                         "; make it with (device, communicator.rank(), draw)");
    });
  }

  /// Replicas draw alike, and the model's sums over ranks are along a group of the pipeline.
  void require_known(const Data& replicas) const {
    const kernel::RankGroup* const known = pipeline_->groups().find(detail::replicas_axis);
    if (known != nullptr && known->axis().size == replicas.size() && known->rank() == replicas.rank()) return;
    throw ValueError(
        "train_step: the pipeline is not a member of the group of its " + std::to_string(replicas.size()) +
        " replicas along the axis \"data\", so each would draw and normalise its rows by itself; make it a "
        "ParallelModel, or give it that group (rank_group) when it is made");
  }

  /// Gives all stages the draws of the first one.
  void share_draw() {
    compile::RunScalars run_scalars{};
    pipeline_->for_each_stage_here([&](auto& stage) { run_scalars = stage.context.run_scalars; });
    if (!run_scalars.draws()) return;
    Tensor<std::int64_t, D, Shape<2>> draw(D(communicator_->device()));
    const auto seed = static_cast<std::size_t>(run_scalars.find(graph::seed_scalar));
    const auto step = static_cast<std::size_t>(run_scalars.find(graph::step_scalar));
    std::int64_t numbers[2] = {static_cast<std::int64_t>(run_scalars.bits()[seed]),
                               static_cast<std::int64_t>(run_scalars.bits()[step])};
    copy_bytes(draw.device(), draw.data(), Cpu{}, numbers, sizeof(numbers), CopyOptions{});
    communicator_->run(parallel::Call::broadcast(parallel::elements(draw), schedule_.rank(0)));
    copy_bytes(Cpu{}, numbers, draw.device(), draw.data(), sizeof(numbers), CopyOptions{});
    pipeline_->for_each_stage_here([&](auto& stage) {
      stage.context.run_scalars.set_draw(static_cast<std::uint64_t>(numbers[0]),
                                         static_cast<std::uint64_t>(numbers[1]));
    });
  }

  /// The sums over the gradients of this rank's stages for the rule: weights in parts count with all their parts.
  [[nodiscard]] detail::GradientSums sums() {
    detail::GradientSums sums{};
    if constexpr (detail::asks_for_sums<R>) {
      const StageStates<D> states = pipeline_->template states<D>();
      const double scale = optimisers_.loss_scale();
      sums = detail::sums_of_gradients<T>(states, tied_, rule, scale,
                                          [](const auto& info) { return !info.shard.is_part(); });
      for (const auto& group : pipeline_->groups().all()) {
        const auto is_along = [&](const auto& info) {
          return info.shard.is_part() && info.shard.axis.is_named_as(group->axis());
        };
        if (has_parts(states, is_along))
          sums += total_of(*group, detail::sums_of_gradients<T>(states, tied_, rule, scale, is_along));
      }
    }
    return sums;
  }
  template <class Group> [[nodiscard]] detail::GradientSums total_of(Group& group, detail::GradientSums sums) const {
    if constexpr (detail::is_by_norm<R>) sums.squares = total(group, sums.squares);
    if constexpr (optim::ScaledRule<R>) sums.not_finite = total(group, sums.not_finite);
    return sums;
  }
  template <class Chosen> [[nodiscard]] static bool has_parts(const StageStates<D>& states, Chosen is_chosen) {
    for (const auto& state : states)
      if (state)
        for (const graph::ParameterInfo& info : state->infos)
          if (is_chosen(info)) return true;
    return false;
  }

  C* world_;
  L loss_;
  std::optional<ReplicaRanks<Data, D>> replicas_{};
  ReplicaRows rows_{}; ///< of the current step
  std::vector<TiedWeight> tied_;
  double begin_ = 0; ///< of the last step, by the steady clock
  RankTimeline events_{};
};

}}}}} // namespace twill::v0::parallel::pipeline::TWILL_ISA

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

/// This rank's part of a training step of a pipeline: `step(inputs, targets)` gives the loss on every rank.
template <pipeline::ScheduleKind S, FloatingScalar T, ComputeDevice D, class... Parts, parallel::Communicator C,
          class L, optim::Rule R>
[[nodiscard]] auto train_step(pipeline::BasicPipeline<S, T, D, Parts...>& model, C& communicator, L loss, R rule,
                              pipeline::StepOptions options) {
  return pipeline::RankStep<pipeline::BasicPipeline<S, T, D, Parts...>, L, R, C>{model, communicator, std::move(loss),
                                                                                 std::move(rule), options};
}

/// A step for one of several replicas; `replicas` joins the ranks with the same stages, and is the group along the axis
/// "data" of the pipeline. A `ParallelModel` sets up both.    throws: ValueError if the pipeline has no such group
template <pipeline::ScheduleKind S, FloatingScalar T, ComputeDevice D, class... Parts, parallel::Communicator C,
          parallel::Communicator Data, class L, optim::Rule R>
[[nodiscard]] auto train_step(pipeline::BasicPipeline<S, T, D, Parts...>& model, C& communicator, Data& replicas,
                              L loss, R rule, pipeline::StepOptions options) {
  return pipeline::RankStep<pipeline::BasicPipeline<S, T, D, Parts...>, L, R, C, Data>{
      model, communicator, std::move(loss), std::move(rule), options, {.replicas = &replicas}};
}

}}} // namespace twill::v0::TWILL_ISA
