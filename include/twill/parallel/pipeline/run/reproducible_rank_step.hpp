#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Pipeline training steps to the bits of one device in which each rank, a thread or a process, runs its own stages over
// a communicator: a `RankStep` whose micro-batches are the shards of `parallel::Reproducible`. Losses and gradients are
// added along the tree of shards by the rank of the stage, so that messages carry values of single shards and no rank
// adds what others have added. Not in twill.hpp. Read next: parallel/pipeline/run/reproducible_step.hpp.

#include <twill/core/config.hpp>
#include <twill/parallel/data/reproducible.hpp>
#include <twill/parallel/pipeline/model/pipeline.hpp>
#include <twill/parallel/pipeline/run/rank_step.hpp>
#include <twill/parallel/pipeline/run/reproducible_step.hpp>
#include <twill/training/step_loss.hpp>

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>

namespace twill { inline namespace v0 { namespace parallel { namespace pipeline { inline namespace TWILL_ISA {

/// One rank's part of the steps of a pipeline by a loss of means and a rule, to the bits of the network's own step
/// under the same policy. States load from a step on one device, and `state_dict()` is equal to its.
template <class P, class L, optim::Rule R, parallel::Communicator C>
class ReproducibleRankStep : public RankStep<P, L, R, C> {
  using Base = RankStep<P, L, R, C>;
  using T = typename P::Element;
  using D = typename P::device_type;
  static_assert(HostDevice<D>, "twill: Reproducible: a pipeline has the bits of one device on hosts only");

public:
  /// throws: ValueError like `RankStep`; if the options have another number of micro-batches than shards or keep the
  /// orders of weights; if a stage before the last user of a shared weight uses it several times
  ReproducibleRankStep(P& pipeline, C& communicator, L loss, R given, const Reproducible& policy, StepOptions options)
      : Base{pipeline, communicator, loss, std::move(given), detail::options_of_shards(policy, options)},
        policy_{policy},
        shards_{pipeline, communicator} {
    detail::require_bits_of_one_device<P, R>();
    this->schedule_ = detail::schedule_of_shards<P>(this->schedule_, options);
  }

  /// One step on a batch: the model's inputs, then the targets, on all ranks the same. Shard i is micro-batch i, see
  /// `Reproducible::rows_of_shard`. Returns the loss of the whole batch, on every rank.
  /// throws: ValueError if the rows do not fill the shards; this rank's error; CommunicatorError naming another
  template <AnyTensor... Batch> training::StepLoss<T, D> operator()(const Batch&... batch) {
    const T loss = gradients(batch...);
    Base::telling_others([&] { this->update({}); });
    return training::StepLoss<T, D>{loss};
  }

  /// The loss, and the gradients of this rank's stages without an update.
  template <AnyTensor... Batch> T gradients(const Batch&... batch) {
    Base::template check<Batch...>();
    return detail::with_inputs_and_targets([this](const auto& x, const auto& targets) { return this->run(x, targets); },
                                           std::tuple{detail::with_rows_apart(batch)...});
  }

private:
  template <class X, class Y> T run(const X& x, const Y& targets) {
    T loss{};
    Base::telling_others([&] {
      Base::require_rows(x, targets);
      const std::int64_t rows = detail::rows_of_batch(x, targets);
      const auto shards = detail::shards_of_batch(policy_, rows);
      Base::begin(rows);
      const T own = shards_.run(this->schedule_, this->options_.checkpointing, x, targets, shards);
      loss = static_cast<T>(Base::total(*this->communicator_, own)); // zeros, and the loss of the last stage's rank
    });
    return loss;
  }

  Reproducible policy_;
  detail::ShardRank<P, L, C> shards_;
};

}}}}} // namespace twill::v0::parallel::pipeline::TWILL_ISA

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

/// This rank's part of a step of a pipeline with options to the bits of one device; its micro-batches are the shards.
template <pipeline::ScheduleKind S, FloatingScalar T, HostDevice D, class... Parts, parallel::Communicator C, class L,
          optim::Rule R>
[[nodiscard]] auto train_step(pipeline::BasicPipeline<S, T, D, Parts...>& model, C& communicator, L loss, R rule,
                              pipeline::StepOptions options, parallel::Reproducible policy) {
  return pipeline::ReproducibleRankStep<pipeline::BasicPipeline<S, T, D, Parts...>, L, R, C>{
      model, communicator, std::move(loss), std::move(rule), policy, options};
}

/// This rank's part of a step of a pipeline to the bits of one device.
template <pipeline::ScheduleKind S, FloatingScalar T, HostDevice D, class... Parts, parallel::Communicator C, class L,
          optim::Rule R>
[[nodiscard]] auto train_step(pipeline::BasicPipeline<S, T, D, Parts...>& model, C& communicator, L loss, R rule,
                              parallel::Reproducible policy) {
  return train_step(model, communicator, std::move(loss), std::move(rule),
                    pipeline::StepOptions{.micro_batches = policy.shards}, policy);
}

}}} // namespace twill::v0::TWILL_ISA
