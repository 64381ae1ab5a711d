#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Pipeline training steps to the bits of one device under `parallel::Reproducible`: each shard of the batch is a
// micro-batch, and losses and gradients are added along the tree of shards, whatever the schedule and the number of
// stages. Stages are those of one model, in one process on hosts; for ranks of their own, such as processes, see
// parallel/pipeline/run/reproducible_rank_step.hpp. A model or rule whose numbers would depend on the stages is refused
// by name. Not in twill.hpp. Read next: parallel/pipeline/run/shard_runner.hpp.

#include <twill/compile/table_for.hpp>
#include <twill/core/config.hpp>
#include <twill/parallel/data/reproducible_step.hpp>
#include <twill/parallel/pipeline/model/pipeline.hpp>
#include <twill/parallel/pipeline/run/local_ranks.hpp>
#include <twill/parallel/pipeline/run/shard_runner.hpp>
#include <twill/parallel/pipeline/run/shard_schedule.hpp>
#include <twill/parallel/pipeline/run/staged_step.hpp>
#include <twill/training/step_loss.hpp>

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace parallel { namespace pipeline { namespace detail {
inline namespace TWILL_ISA {

/// Refuses options that contradict the policy.    throws: ValueError naming both
void require_shards_as_micro_batches(const Reproducible& policy, const StepOptions& options);

/// Refuses weights whose gradients would be added in another order than by one device, from the last use to the first:
/// with several uses in a stage before their last one.    throws: ValueError naming one
void require_ties_in_order(const std::vector<StageJoint>& stages,
                           const std::vector<ListView<graph::ParameterInfo>>& infos);

/// The shards of a batch.    throws: ValueError if the rows do not fill them
[[nodiscard]] std::vector<parallel::Rows> shards_of_batch(const Reproducible& policy, std::int64_t rows);

/// Refuses a pipeline and a rule that cannot have the bits of one device.    throws: ValueError naming what differs
template <class P, optim::Rule R> void require_bits_of_one_device() {
  static_assert(P::Plan::has_ties, "twill: Reproducible: stages that are separate models draw and name their weights "
                                   "otherwise than one network; cut one model, pipeline::Cut or pipeline::CutBefore");
  static_assert(sizeof(typename P::Element) >= sizeof(float),
                "twill: Reproducible: gradients of weights in half precision are rounded for each shard; keep the "
                "weights in float and compute in half");
  static_assert(!asks_for_sums<R>,
                "twill: Reproducible: clipping by norm and loss scales sum over all gradients, which a pipeline does "
                "stage by stage; train without, or on one device or replicas");
  std::vector<StageJoint> stages{};
  P::for_each_number([&]<std::size_t I>(std::integral_constant<std::size_t, I>) {
    stages.push_back(joint<typename std::tuple_element_t<I, typename P::Stages>::Source>());
  });
  require_ties_in_order(stages, P::infos());
}

/// The schedule of a step whose micro-batches are shards.    throws: ValueError if it cannot be carried out
template <class P> [[nodiscard]] Schedule schedule_of_shards(const Schedule& whole, const StepOptions& options) {
  std::vector<bool> meets{};
  bool any_meets = false;
  P::for_each_number([&]<std::size_t I>(std::integral_constant<std::size_t, I>) {
    using Forward = AsOneNetwork<StageForward<typename std::tuple_element_t<I, typename P::Stages>::Source>>;
    meets.push_back(compile::adds_over_ranks(compile::TableFor<Forward, typename P::device_type>::view()));
    any_meets = any_meets || meets.back();
  });
  if (!any_meets) return whole;
  require_equal_passes(options.checkpointing, meets);
  return schedule_of_meetings(whole, meets);
}

/// Options whose micro-batches are the shards of the policy.    throws: ValueError for others
[[nodiscard]] inline StepOptions options_of_shards(const Reproducible& policy, const StepOptions& options) {
  require_shards_as_micro_batches(policy, options);
  return options;
}

/// One rank's part of reproducible steps.
template <class P, class L, parallel::Communicator C> class ShardRank {
  using T = typename P::Element;
  template <class, template <class> class> friend class LocalRanks;

public:
  ShardRank(P& pipeline, C& communicator) : pipeline_{&pipeline}, communicator_{&communicator} {}

  /// The gradients of this rank's stages. Returns the loss; zero on ranks without the last stage.
  template <class X, class Y>
  [[nodiscard]] T run(const Schedule& schedule, const StageCheckpointing& checkpointing, const X& x, const Y& targets,
                      const std::vector<parallel::Rows>& shards) {
    using Losses = ShardLosses<L, T, typename P::device_type>;
    Losses losses{shards, loss_program_};
    ShardRunner<P, Losses, X, Y> runner{*pipeline_, schedule, losses, tied_, shards, x, targets, rank(), checkpointing};
    static_cast<void>(pipeline::run(schedule, *communicator_, runner));
    runner.leave_gradients(*communicator_, schedule);
    return rank() == schedule.rank(P::stages - 1) ? losses.take() : T{};
  }
  [[nodiscard]] int rank() const { return communicator_->rank(); }

private:
  P* pipeline_;
  C* communicator_;
  Program<typename P::device_type> loss_program_{};
  std::vector<TiedWeight> tied_ = tied_weights(P::infos());
};

}}}}}} // namespace twill::v0::parallel::pipeline::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace parallel { namespace pipeline { inline namespace TWILL_ISA {

/// Steps of a pipeline by a loss of means and a rule, to the bits of the network's own step under the same policy.
template <class P, class L, optim::Rule R>
class ReproduciblePipelineStep : public detail::StagedStep<P, R, typename P::template ThreadOf<0>, parallel::Zero<0>> {
  using Base = detail::StagedStep<P, R, typename P::template ThreadOf<0>, parallel::Zero<0>>;
  using T = typename P::Element;
  using D = typename P::device_type;
  template <class C> using Rank = detail::ShardRank<P, L, C>;

public:
  using Base::rule;

  /// throws: ValueError if the options have another number of micro-batches than shards or keep the orders of weights,
  /// if the schedule cannot be carried out, or if a stage before the last user of a shared weight uses it several times
  ReproduciblePipelineStep(P& pipeline, L, R given, const Reproducible& policy, StepOptions options)
      : Base{pipeline, given, detail::options_of_shards(policy, options), {pipeline, given, nullptr, {}}},
        policy_{policy},
        ranks_{pipeline, {.timeout_ms = options.timeout_ms}} {
    detail::require_bits_of_one_device<P, R>();
    this->schedule_ = detail::schedule_of_shards<P>(this->schedule_, options);
  }

  /// One step on a batch: the model's inputs, then the targets. Shard i is micro-batch i, see
  /// `Reproducible::rows_of_shard`. Returns the loss.
  /// throws: ValueError if the rows do not fill the shards; otherwise like `PipelineStep`
  template <AnyTensor... Batch> training::StepLoss<T, D> operator()(const Batch&... batch) {
    const T loss = gradients(batch...);
    this->update({});
    return training::StepLoss<T, D>{loss};
  }

  /// The loss, and the gradients of all stages without an update.
  template <AnyTensor... Batch> T gradients(const Batch&... batch) {
    Base::template check<Batch...>();
    return detail::with_inputs_and_targets([this](const auto& x, const auto& targets) { return this->run(x, targets); },
                                           std::tuple{detail::with_rows_apart(batch)...});
  }

  /// The rule's states, the count of steps and the rule's options, equal to one network's. Waits for the devices.
  [[nodiscard]] nn::StateDict state_dict() const { return this->state_of_all_stages(); }

private:
  template <class X, class Y> T run(const X& x, const Y& targets) {
    this->require_rows(x, targets);
    const auto shards = detail::shards_of_batch(policy_, detail::rows_of_batch(x, targets));
    detail::begin_step(*this->pipeline_, this->options_);
    T loss{};
    try {
      ranks_.run([&](auto& own) {
        const T of_rank = own.run(this->schedule_, this->options_.checkpointing, x, targets, shards);
        if (own.rank() == this->schedule_.rank(P::stages - 1)) loss = of_rank;
      });
    } catch (...) {
      detail::give_up_step(*this->pipeline_);
      throw;
    }
    return loss;
  }

  Reproducible policy_;
  detail::LocalRanks<P, Rank> ranks_;
};

}}}}} // namespace twill::v0::parallel::pipeline::TWILL_ISA

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

/// A step of a pipeline with options to the bits of one device; its micro-batches are the shards.
template <pipeline::ScheduleKind S, FloatingScalar T, HostDevice D, class... Parts, class L, optim::Rule R>
[[nodiscard]] auto train_step(pipeline::BasicPipeline<S, T, D, Parts...>& model, L loss, R rule,
                              pipeline::StepOptions options, parallel::Reproducible policy) {
  return pipeline::ReproduciblePipelineStep<pipeline::BasicPipeline<S, T, D, Parts...>, L, R>{
      model, std::move(loss), std::move(rule), policy, options};
}

/// A step of a pipeline to the bits of one device.
template <pipeline::ScheduleKind S, FloatingScalar T, HostDevice D, class... Parts, class L, optim::Rule R>
[[nodiscard]] auto train_step(pipeline::BasicPipeline<S, T, D, Parts...>& model, L loss, R rule,
                              parallel::Reproducible policy) {
  return train_step(model, std::move(loss), std::move(rule), pipeline::StepOptions{.micro_batches = policy.shards},
                    policy);
}

}}} // namespace twill::v0::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/parallel/pipeline/run/reproducible_step.ipp>
#endif
