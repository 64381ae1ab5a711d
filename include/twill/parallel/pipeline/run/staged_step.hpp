#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Common base of pipeline steps: rule, schedule, options, and the optimisers of the stages that are here, of one rank
// or of all. Its states load from one device and from any number of ranks. Read next:
// parallel/pipeline/run/rank_step.hpp.

#include <twill/core/config.hpp>
#include <twill/nn/stored_tensor.hpp>
#include <twill/parallel/pipeline/run/runner.hpp>
#include <twill/parallel/pipeline/run/stage_optimisers.hpp>
#include <twill/parallel/pipeline/run/step_options.hpp>
#include <twill/parallel/pipeline/schedule/verify.hpp>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

namespace twill { inline namespace v0 { namespace parallel { namespace pipeline { namespace detail {
inline namespace TWILL_ISA {

/// The types of a batch but for its last, the targets.
template <class All, class I> struct FirstOf;
template <class All, std::size_t... I> struct FirstOf<All, std::index_sequence<I...>> {
  using type = std::tuple<const std::tuple_element_t<I, All>&...>;
};
template <class... Batch>
using AllButLast = typename FirstOf<std::tuple<Batch...>, std::make_index_sequence<sizeof...(Batch) - 1>>::type;

/// Calls `f(inputs, targets)` with the tensors of a batch.
template <class F, class Batch> auto with_inputs_and_targets(const F& f, const Batch& batch) {
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return f(std::tie(std::get<I>(batch)...), std::get<sizeof...(I)>(batch));
  }
  (std::make_index_sequence<std::tuple_size_v<Batch> - 1>{});
}

/// `Data` is the communicator of replicas, Z the states that these divide.
template <class P, optim::Rule R, parallel::Communicator Data, class Z> class StagedStep {
public:
  /// Refuses a batch that is not the inputs declared by the model, then the targets.
  template <AnyTensor... Batch> static consteval void check() {
    static_assert(sizeof...(Batch) >= 2, "twill: a step of a pipeline takes the model's inputs and the targets");
    check_batch<"train_step", P>(std::type_identity<AllButLast<Batch...>>{});
  }

  /// True for such a batch; others do not compile.
  template <AnyTensor... Batch> static constexpr bool takes = (check<Batch...>(), true);

  /// The actions of the ranks, in order.
  [[nodiscard]] const Schedule& schedule() const { return schedule_; }
  /// The norm of all gradients before the last clipping, for rules made by `optim::clip_norm`.
  [[nodiscard]] double gradient_norm() const { return gradient_norm_; }
  /// A single number of the rule, such as `optim::loss_scale_state`, after the last step. Waits for it.
  /// throws: ValueError if the stages that are here have none of this name, or no step was made
  [[nodiscard]] double state(std::string_view name) const { return optimisers_.state(name); }
  /// The optimiser of the weights of a stage that is here.
  template <std::size_t I> [[nodiscard]] auto& optimiser() { return optimisers_.template at<I>(); }
  /// Steps made, including those skipped by a loss scale.
  [[nodiscard]] std::int64_t steps() const { return optimisers_.steps(); }

  /// Throws the exceptions of `load_state_dict`, without loading.
  void require_loadable(const nn::StateDict& state) const {
    R copy = rule; // nothing is set
    const training::LoadedOptions options{copy, state};
    optimisers_.require_loadable(options.states());
  }
  /// Resumes from the state of a step on one device, or on any number of ranks; if it holds no options, the rule keeps
  /// its own. Every rank calls it with the same state, without waiting for another.
  /// throws: ShapeError, ValueError naming the mismatch, with nothing changed
  training::OptionsReport load_state_dict(const nn::StateDict& state) {
    training::LoadedOptions options{rule, state};
    optimisers_.load_state_dict(*pipeline_, options.states());
    return options.set();
  }

  R rule; ///< its options may change between steps, on all ranks alike

protected:
  StagedStep(P& pipeline, R given, StepOptions options, StageOptimisers<P, R, Data, Z> optimisers)
      : rule{std::move(given)},
        pipeline_{&pipeline},
        options_{options},
        schedule_{pipeline::schedule<typename P::ScheduleType>(P::ranks, options.micro_batches)},
        optimisers_{std::move(optimisers)} {
    options_.checkpointing.require_stages(P::stages);
    if constexpr (TWILL_IS_SLOW) training::warn_of_slow_build();
  }

  /// Refuses a batch of inputs and targets without rows. throws: ValueError
  template <class X, class Y> static void require_rows(const X& x, const Y& targets) {
    std::apply(
        [&](const auto&... input) {
          training::require_rows(training::call_of_step<typename P::Plan::BatchModel>("train_step"),
                                 std::array{input.shape()..., targets.shape()});
        },
        x);
  }

  /// Calls `f(inputs, targets, micro_batches)` with the parts of a batch.
  template <class F, AnyTensor... Batch> double with_parts(F f, const Batch&... batch) {
    check<Batch...>();
    const auto run = [&](const auto& x, const auto& targets) {
      return f(x, targets, micro_batches_of(rows_of_batch(x, targets), options_.micro_batches));
    };
    return with_inputs_and_targets(run, std::tie(batch...));
  }

  /// Updates the stages that are here by the sums over all gradients.
  void update(const GradientSums& sums) {
    gradient_norm_ = std::sqrt(sums.squares);
    optimisers_.update(rule, sums);
  }

  /// The states of all stages, which are here, and the rule's options. Waits for the devices.
  [[nodiscard]] nn::StateDict state_of_all_stages() const {
    const auto whole_of = [&](auto stage, const graph::ParameterInfo& info, const void* own) {
      auto [tensor, data] = nn::StoredTensor::make(info.dtype, info.shape.evaluate({}));
      copy_bytes(Cpu{}, data, this->pipeline_->template stage<stage>().device(), own, tensor.bytes.size(),
                 CopyOptions{});
      return std::move(tensor);
    };
    return training::with_options(this->optimisers_.state_dict(whole_of), rule);
  }

  P* pipeline_;
  StepOptions options_;
  Schedule schedule_;
  StageOptimisers<P, R, Data, Z> optimisers_;
  double gradient_norm_ = 0;
};

}}}}}} // namespace twill::v0::parallel::pipeline::detail::TWILL_ISA
