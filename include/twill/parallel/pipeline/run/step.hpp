#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Pipeline training steps in one process: one step for each rank, which runs in the rank's thread on its micro-batches,
// and one update of all stages. Losses and gradients are weighted by rows, so that they equal those of the whole batch
// on one device, for an uneven last micro-batch too; dropout draws equal the whole batch's. The times of actions can be
// read and drawn. Read next: parallel/pipeline/run/rank_step.hpp.

#include <twill/core/clock.hpp>
#include <twill/core/config.hpp>
#include <twill/parallel/pipeline/model/pipeline.hpp>
#include <twill/parallel/pipeline/run/local_ranks.hpp>
#include <twill/parallel/pipeline/run/rank_step.hpp>
#include <twill/parallel/pipeline/run/runner.hpp>
#include <twill/parallel/pipeline/run/staged_step.hpp>
#include <twill/parallel/pipeline/run/step_options.hpp>
#include <twill/training/step_loss.hpp>

#include <cstddef>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace parallel { namespace pipeline { inline namespace TWILL_ISA {

/// Steps of a pipeline by a loss of means and a rule: those of all ranks, each in its thread.
template <class P, class L, optim::Rule R>
class PipelineStep : public detail::StagedStep<P, R, typename P::template ThreadOf<0>, parallel::Zero<0>> {
  using Base = detail::StagedStep<P, R, typename P::template ThreadOf<0>, parallel::Zero<0>>;
  template <class C> using Rank = RankStep<P, L, R, C, typename P::template ThreadOf<0>>;

public:
  using Base::rule;

  /// throws: ValueError if the schedule cannot be carried out with this number of micro-batches
  PipelineStep(P& pipeline, L loss, R given, StepOptions options)
      : Base{pipeline, std::move(given), options, {}},
        ranks_{pipeline, {.timeout_ms = options.timeout_ms}, loss, rule, options} {
    ranks_.for_each([&](auto& own) { this->optimisers_.join(own.optimisers_); });
  }

  /// One step on a batch: the model's inputs, then the targets. Micro-batches have equal numbers of rows but the last.
  /// The loss is the mean over the whole batch, added up in float64.
  /// throws: ValueError if the rows do not fill the micro-batches; a rank's exception, or a TimeoutError naming one
  /// missing. Gradients are dropped then; weights stay, except those of stages that an update already reached.
  template <AnyTensor... Batch> training::StepLoss<double, typename P::device_type> operator()(const Batch&... batch) {
    Base::template check<Batch...>(); // here, so that an error has few lines
    const double loss = gradients(batch...);
    detail::GradientSums sums{};
    ranks_.for_each([&](auto& own) { sums += own.sums(); });
    this->update(sums);
    return training::StepLoss<double, typename P::device_type>{loss};
  }

  /// The loss, and the gradients of all stages without an update: times the loss scale, if the rule has one.
  template <AnyTensor... Batch> double gradients(const Batch&... batch) {
    const auto run = [&](const auto& x, const auto& targets, const std::vector<parallel::Rows>& pieces) {
      this->require_rows(x, targets);
      detail::begin_step(*this->pipeline_, this->options_);
      timeline_ = Timeline{};
      double loss = 0;
      const double origin = steady_seconds();
      try {
        ranks_.run([&](auto& own) {
          own.rule = rule;
          own.begin_ = origin;
          const double of_rank = own.run(x, targets, pieces);
          if (own.rank() == this->schedule_.rank(P::stages - 1)) loss = of_rank;
        });
      } catch (...) {
        detail::give_up_step(*this->pipeline_);
        throw;
      }
      ranks_.for_each([&](auto& own) {
        timeline_.ranks.push_back(std::move(own.events_.computed));
        timeline_.messages.push_back(std::move(own.events_.messages));
      });
      timeline_.is_complete = true;
      return loss;
    };
    return this->with_parts(run, batch...);
  }

  /// The times of each action and message of the last step, in seconds from its beginning.
  [[nodiscard]] const Timeline& timeline() const { return timeline_; }

  /// The rule's states, the count of steps and the rule's options, equal to one network's. Waits for the devices.
  [[nodiscard]] nn::StateDict state_dict() const { return this->state_of_all_stages(); }

private:
  detail::LocalRanks<P, Rank> ranks_;
  Timeline timeline_{};
};

}}}}} // namespace twill::v0::parallel::pipeline::TWILL_ISA

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

/// A training step of a pipeline: `step(inputs, targets)` gives the loss.
template <pipeline::ScheduleKind S, FloatingScalar T, pipeline::RankPlaces D, class... Parts, class L, optim::Rule R>
[[nodiscard]] auto train_step(pipeline::BasicPipeline<S, T, D, Parts...>& model, L loss, R rule,
                              pipeline::StepOptions options) {
  return pipeline::PipelineStep<pipeline::BasicPipeline<S, T, D, Parts...>, L, R>{model, std::move(loss),
                                                                                  std::move(rule), options};
}

}}} // namespace twill::v0::TWILL_ISA
