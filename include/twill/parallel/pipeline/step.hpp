#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// A training step of a pipeline: the batch is cut into micro-batches, every rank carries out its part of the schedule in a
// thread of its own, and each stage updates its weights. Losses and gradients are weighted by rows, so that they equal those
// of the whole batch on one device, for an uneven last micro-batch too; dropout draws what the whole batch would. What was
// done when can be asked for and drawn. Read next: parallel/pipeline/run.hpp.

#include <twill/core/config.hpp>
#include <twill/parallel/chunk.hpp>
#include <twill/parallel/pipeline/pipeline.hpp>
#include <twill/parallel/pipeline/run.hpp>
#include <twill/parallel/pipeline/verify.hpp>
#include <twill/parallel/ranks.hpp>
#include <twill/parallel/threads.hpp>
#include <twill/train/optimiser.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace twill::inline v0::pipeline {

struct StepOptions {
  int micro_batches = 1;
  std::int64_t timeout_ms = 300'000; ///< how long a rank waits for its peers in one call
};

} // namespace twill::inline v0::pipeline

namespace twill::inline v0::pipeline::detail::inline TWILL_ISA {

/// The `StageRunner` of one rank of a step.
template <class P, class L, class X, class Y> class ModelRunner {
  using Stages = typename P::Stages;
  using D = typename P::device_type;
  using T = typename P::Element;
  static constexpr int last = P::stages - 1;

public:
  ModelRunner(P& pipeline, const Schedule& schedule, const L& loss, const std::vector<parallel::Rows>& pieces,
              const X& x, const Y& targets, int rank)
      : pipeline_{pipeline}, schedule_{schedule}, loss_{loss}, pieces_{pieces}, x_{x}, targets_{targets}, rank_{rank} {}

  void run_forward(int stage, int m) {
    visit(stage, [&]<std::size_t I>(std::integral_constant<std::size_t, I>, auto& own) {
      using Own = std::remove_cvref_t<decltype(own)>;
      if constexpr (I == 0)
        own.inputs.insert_or_assign(
            m, typename Own::Input(parallel::rows_of<0>(x_, piece(m)).to(own.network.device()).contiguous()));
      else if (is_here(stage - 1))
        own.inputs.insert_or_assign(m, typename Own::Input(take(std::get<I - 1>(pipeline_.all()).outputs, m)));
      own.forward(m, piece(m).begin);
      if constexpr (I == static_cast<std::size_t>(last)) own.outputs.erase(m);
    });
  }

  void run_backward(int stage, int m) {
    visit(stage, [&]<std::size_t I>(std::integral_constant<std::size_t, I>, auto& own) {
      own.backward(m, [&](const auto& result) {
        if constexpr (I == static_cast<std::size_t>(last)) {
          const auto value =
              loss_(result, parallel::rows_of<0>(targets_, piece(m)).to(own.network.device()).contiguous());
          using Value = typename std::remove_cvref_t<decltype(value)>::Value;
          Value weight(value.device(), value.shape());
          weight.fill(static_cast<typename Value::value_type>(share(m)));
          loss_sum_ += share(m) * static_cast<double>(value.item());
          value.backward_from(weight);
        } else {
          if (is_here(stage + 1))
            own.cotangents.insert_or_assign(m, take(std::get<I + 1>(pipeline_.all()).input_gradients, m));
          result.backward_from(take(own.cotangents, m));
        }
      });
    });
  }

  parallel::Elements input(int stage, int m) {
    return in(stage, [&](auto& own) {
      using Input = typename std::remove_cvref_t<decltype(own)>::Input;
      return elements_of(own.inputs.insert_or_assign(m, make<Input>(own.network.device(), m)).first->second);
    });
  }
  parallel::Elements output(int stage, int m) {
    return in(stage, [&](auto& own) { return elements_of(own.outputs.at(m)); });
  }
  parallel::Elements output_gradient(int stage, int m) {
    return in(stage, [&](auto& own) {
      using Output = typename std::remove_cvref_t<decltype(own)>::Output;
      return elements_of(
          own.cotangents.insert_or_assign(m, Output(own.network.device(), own.kept.at(m).result.value().shape()))
              .first->second);
    });
  }
  parallel::Elements input_gradient(int stage, int m) {
    return in(stage, [&](auto& own) { return elements_of(own.input_gradients.at(m)); });
  }
  void output_is_sent(int stage, int m) {
    in(stage, [&](auto& own) { return own.outputs.erase(m); });
  }
  void input_gradient_is_sent(int stage, int m) {
    in(stage, [&](auto& own) { return own.input_gradients.erase(m); });
  }

  /// The loss of the whole batch, on the rank of the last stage.
  [[nodiscard]] double loss() const { return loss_sum_; }

private:
  template <class F> void visit(int stage, F f) {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      ((stage == static_cast<int>(I) ? f(std::integral_constant<std::size_t, I>{}, std::get<I>(pipeline_.all()))
                                     : void()),
       ...);
    }
    (std::make_index_sequence<std::tuple_size_v<Stages>>{});
  }
  template <class F> auto in(int stage, F f) {
    decltype(f(std::get<0>(pipeline_.all()))) result{};
    visit(stage, [&](auto, auto& own) { result = f(own); });
    return result;
  }

  /// A tensor of a micro-batch's rows, as a stage declares it.
  template <class Input> [[nodiscard]] Input make(const D& device, int m) const {
    return [&]<std::size_t... Axis>(std::index_sequence<Axis...>) {
      static_assert(((Axis == 0 || Input::shape_type::extent(static_cast<int>(Axis)) != dyn) && ...),
                    "twill: an input of a stage that comes from another rank has known extents but for its rows");
      return Input(device, Dims((Axis == 0 ? piece(m).count : Input::shape_type::extent(static_cast<int>(Axis)))...));
    }
    (std::make_index_sequence<static_cast<std::size_t>(Input::rank)>{});
  }

  [[nodiscard]] bool is_here(int stage) const { return schedule_.rank(stage) == rank_; }
  [[nodiscard]] const parallel::Rows& piece(int m) const { return pieces_[static_cast<std::size_t>(m)]; }
  [[nodiscard]] double share(int m) const {
    const std::int64_t rows = pieces_.back().begin + pieces_.back().count;
    return rows > 0 ? static_cast<double>(piece(m).count) / static_cast<double>(rows) : 0;
  }

  P& pipeline_;
  const Schedule& schedule_;
  const L& loss_;
  const std::vector<parallel::Rows>& pieces_;
  const X& x_;
  const Y& targets_;
  int rank_;
  double loss_sum_ = 0;
};

} // namespace twill::inline v0::pipeline::detail::inline TWILL_ISA

namespace twill::inline v0::pipeline::inline TWILL_ISA {

/// Steps of a pipeline by a loss of means and a rule.
template <class P, class L, optim::Rule R> class PipelineStep {
  using S = typename P::ScheduleType;
  using D = typename P::device_type;

public:
  /// throws: ValueError where the schedule cannot be carried out with so many micro-batches
  PipelineStep(P& pipeline, L loss, R rule, StepOptions options)
      : pipeline_{&pipeline},
        loss_{std::move(loss)},
        options_{options},
        communicators_{parallel::thread_communicators(pipeline.devices(), {.timeout_ms = options.timeout_ms})},
        schedule_{pipeline::schedule<S>(P::ranks, options.micro_batches)} {
    make_optimisers(rule, std::make_index_sequence<static_cast<std::size_t>(P::stages)>{});
  }

  /// One step on a batch; its rows are cut into equal micro-batches but for the last.
  /// throws: ValueError where the rows do not fill the micro-batches; what a rank threw
  template <AnyTensor X, AnyTensor Y> double operator()(const X& x, const Y& targets) {
    const double loss = gradients(x, targets);
    update(std::make_index_sequence<static_cast<std::size_t>(P::stages)>{});
    return loss;
  }

  /// The loss, and the gradients of all stages without an update.
  template <AnyTensor X, AnyTensor Y> double gradients(const X& x, const Y& targets) {
    const auto pieces = parallel::chunk_rows(x.size(0), options_.micro_batches);
    if (pieces.size() != static_cast<std::size_t>(options_.micro_batches))
      throw ValueError("train_step: " + std::to_string(x.size(0)) + " rows make " + std::to_string(pieces.size()) +
                       " micro-batches, not " + std::to_string(options_.micro_batches));
    std::apply(
        [&](auto&... stage) {
          ((stage.network.zero_grad(), stage.clear(), stage.context = stage.network.context_of_next_run()), ...);
        },
        pipeline_->all());
    timeline_ = Timeline{};
    timeline_.ranks.resize(static_cast<std::size_t>(P::ranks));
    double loss = 0;
    const double origin = steady_seconds();
    parallel::run_ranks(communicators_, [&](auto& communicator) {
      const int rank = communicator.rank();
      detail::ModelRunner<P, L, X, Y> runner{*pipeline_, schedule_, loss_, pieces, x, targets, rank};
      timeline_.ranks[static_cast<std::size_t>(rank)] = pipeline::run(schedule_, communicator, runner, origin);
      if (rank == schedule_.rank(P::stages - 1)) loss = runner.loss();
    });
    timeline_.is_complete = true;
    return loss;
  }

  /// When each action of the last step ran, in seconds from its beginning.
  [[nodiscard]] const Timeline& timeline() const { return timeline_; }
  [[nodiscard]] const Schedule& schedule() const { return schedule_; }

private:
  template <std::size_t I>
  using OptimiserOf = train::Optimiser<typename std::tuple_element_t<I, typename P::Stages>::Network, R>;

  template <std::size_t... I>
  static auto tuple_of(std::index_sequence<I...>) -> std::tuple<std::unique_ptr<OptimiserOf<I>>...>;
  using Optimisers = decltype(tuple_of(std::make_index_sequence<static_cast<std::size_t>(P::stages)>{}));

  template <std::size_t... I> void make_optimisers(const R& rule, std::index_sequence<I...>) {
    ((std::get<I>(optimisers_) = std::make_unique<OptimiserOf<I>>(pipeline_->template stage<I>(), rule)), ...);
  }
  template <std::size_t... I> void update(std::index_sequence<I...>) { (std::get<I>(optimisers_)->step(), ...); }

  P* pipeline_;
  L loss_;
  StepOptions options_;
  std::vector<parallel::ThreadCommunicator<D>> communicators_;
  Schedule schedule_;
  Timeline timeline_{};
  Optimisers optimisers_{};
};

} // namespace twill::inline v0::pipeline::inline TWILL_ISA

namespace twill::inline v0::inline TWILL_ISA {

/// A training step of a pipeline: `step(inputs, targets)` gives the loss.
template <pipeline::ScheduleKind S, FloatingScalar T, ComputeDevice D, nn::Model... Models, class L, optim::Rule R>
[[nodiscard]] auto train_step(pipeline::BasicPipeline<S, T, D, Models...>& model, L loss, R rule,
                              pipeline::StepOptions options) {
  return pipeline::PipelineStep<pipeline::BasicPipeline<S, T, D, Models...>, L, R>{model, std::move(loss),
                                                                                   std::move(rule), options};
}

} // namespace twill::inline v0::inline TWILL_ISA
