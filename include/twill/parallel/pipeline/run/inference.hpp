#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Inference with a pipeline: `auto infer = pipeline::inference(pipe, {.micro_batches = 4}); auto y = infer(x);` runs
// every stage in evaluation on successive micro-batches, and keeps nothing of any. The result is on the device of the
// last stage. A rank alone in its process passes its communicator, too. Read next: parallel/pipeline/run/run.hpp.

#include <twill/core/config.hpp>
#include <twill/parallel/group/collectives.hpp>
#include <twill/parallel/pipeline/model/pipeline.hpp>
#include <twill/parallel/pipeline/run/local_ranks.hpp>
#include <twill/parallel/pipeline/run/run.hpp>
#include <twill/parallel/pipeline/run/runner.hpp>
#include <twill/parallel/pipeline/schedule/simulate.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <map>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace parallel { namespace pipeline { inline namespace TWILL_ISA {

/// Options of inference: the division of a batch and the place of the result.
struct InferenceOptions {
  int micro_batches = 1;             ///< at most; fewer if there are fewer rows
  bool is_result_everywhere = false; ///< for lone ranks: on every rank's device; else on that of the last stage
  std::int64_t timeout_ms = 300'000; ///< how long a rank waits for its peers in one call, where this makes the group
};

/// Forward passes of a pipeline whose stages are placed as a kind of schedule places them. A rank computes along the
/// wave of each micro-batch, one order for all ranks, so that none waits for another in a circle.
template <ScheduleKind S> [[nodiscard]] constexpr Schedule forward_schedule(int ranks, int micro_batches) {
  Schedule schedule;
  schedule.ranks = ranks;
  schedule.stages = ranks * S::stages_per_rank;
  schedule.micro_batches = micro_batches;
  for (int stage = 0; stage < schedule.stages; ++stage) schedule.rank_of.push_back(S::rank_of(stage, ranks));
  schedule.orders.resize(static_cast<std::size_t>(ranks));
  for (int wave = 0; wave < schedule.stages + micro_batches - 1; ++wave)
    for (int stage = 0; stage < schedule.stages; ++stage)
      if (wave >= stage && wave - stage < micro_batches)
        schedule.order(schedule.rank(stage)).push_back(forward(stage, wave - stage));
  return with_transfers(schedule);
}

}}}}} // namespace twill::v0::parallel::pipeline::TWILL_ISA

namespace twill { inline namespace v0 { namespace parallel { namespace pipeline { namespace detail {
inline namespace TWILL_ISA {

/// The stage outside of training.
template <class Stage> using EvaluationOf = typename Stage::Source::Evaluation;

/// Whether it has the weights of the stage in training, in the same order: it is given those.
template <class Stage> [[nodiscard]] consteval bool has_own_weights() {
  using Own = compile::Signature<StageInference<typename Stage::Source>>;
  using Found = compile::Signature<StageInference<EvaluationOf<Stage>>>;
  bool is_same = Own::sizes.parameters == Found::sizes.parameters;
  for (std::size_t i = 0; is_same && i < Own::sizes.parameters; ++i)
    is_same = Own::frozen.parameters[i].name == Found::frozen.parameters[i].name;
  return is_same;
}

/// One stage's program and what passes it.
template <class Stage> struct EvaluatedStage {
  using Source = EvaluationOf<Stage>;
  using D = typename Stage::D;
  static_assert(
      has_own_weights<Stage>(),
      "twill: inference: a stage of a model that is cut by balance has other weights in evaluation; cut it at "
      "marks of its own (nn::stage_boundary)");

  Program<D> program{};
  std::map<int, Blocks<D>> inputs{};
  std::map<int, Blocks<D>> outputs{};
};

/// The `StageRunner` of one rank, which has no backward passes. X is the tuple of the model's inputs.
template <class P, class X, class Stages, class Result> class InferenceRunner {
  using D = typename P::device_type;
  static constexpr std::size_t last = static_cast<std::size_t>(P::stages) - 1;

public:
  InferenceRunner(P& pipeline, Stages& stages, const Schedule& schedule, const std::vector<parallel::Rows>& pieces,
                  const X& x, Result& result, int rank)
      : pipeline_{pipeline},
        stages_{stages},
        schedule_{schedule},
        pieces_{pieces},
        x_{x},
        result_{result},
        rank_{rank} {}

  void run_forward(int stage, int m) {
    visit(stage, [&]<std::size_t I>(std::integral_constant<std::size_t, I> number, auto& own) {
      const auto& network = pipeline_.template stage<I>();
      using Source = typename std::remove_cvref_t<decltype(own)>::Source;
      Blocks<D> given = given_part<Source>(x_, piece(m), network.device());
      if constexpr (I > 0)
        for (Block<D>& block :
             schedule_.rank(stage - 1) == rank_ ? take(std::get<I - 1>(stages_).outputs, m) : take(own.inputs, m))
          given.push_back(std::move(block));
      std::vector<void*> addresses;
      for (const Block<D>& block : given) addresses.push_back(block.data);
      nn::RunContext context{network.run_scalars(), piece(m).begin, {}, network.state()->groups};
      Blocks<D> made = own.program.template run<StageInference<Source>>(network.device(), symbols(number, m), addresses,
                                                                        network.state()->addresses(), context);
      if constexpr (I == last) {
        store(made[0], m);
      } else {
        require_fit<P, I, ImagesInMessages::row_major>(x_, piece(m).count, made);
        own.outputs.insert_or_assign(m, std::move(made));
      }
      synchronize(network.device());
    });
  }
  void run_backward(int, int) {}

  Message input(int stage, int m) {
    Message message;
    visit(stage, [&](auto number, auto& own) {
      using Source = typename std::remove_cvref_t<decltype(own)>::Source;
      Blocks<D> blocks;
      const auto infos = compile::Signature<StageInference<Source>>::view().inputs;
      for (const graph::InputInfo& info : infos.subspan(static_cast<std::size_t>(stage_counts<Source>.given)))
        blocks.push_back(Block<D>::make(pipeline_.template stage<number.value>().device(), info.dtype,
                                        info.shape.evaluate(symbols(number, m))));
      message = detail::message_of(own.inputs.insert_or_assign(m, std::move(blocks)).first->second);
    });
    return message;
  }
  Message output(int stage, int m) {
    Message message;
    visit(stage, [&](auto, auto& own) { message = detail::message_of(own.outputs.at(m)); });
    return message;
  }
  void output_is_sent(int stage, int m) {
    visit(stage, [&](auto, auto& own) { own.outputs.erase(m); });
  }
  Message output_gradient(int, int) { return {}; }
  Message input_gradient(int, int) { return {}; }
  void input_gradient_is_sent(int, int) {}

private:
  template <class F> void visit(int stage, F f) {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      ((stage == static_cast<int>(I) ? f(std::integral_constant<std::size_t, I>{}, std::get<I>(stages_)) : void()),
       ...);
    }
    (std::make_index_sequence<std::tuple_size_v<Stages>>{});
  }
  template <std::size_t I>
  [[nodiscard]] graph::SymbolValues symbols(std::integral_constant<std::size_t, I>, int m) const {
    return symbols_of_rows<P, std::tuple_element_t<I, typename P::Stages>>(x_, piece(m).count);
  }

  /// Stores the rows of a micro-batch at their place in the whole.
  void store(const Block<D>& made, int m) {
    Dims expected = result_.shape();
    if (pieces_.size() > 1 && expected.rank > 0) expected[0] = piece(m).count;
    if (!(expected == made.shape))
      throw ShapeError("inference: the model makes " + to_string(made.shape) + " of " + std::to_string(piece(m).count) +
                       " rows and " + to_string(result_.shape()) +
                       " of all; take one micro-batch where results are not those of rows");
    const auto row = static_cast<std::size_t>(piece(m).count > 0 ? made.shape.elements() / piece(m).count : 0);
    const std::size_t size = size_of(made.dtype);
    auto* const first = reinterpret_cast<std::byte*>(result_.data());
    if (made.shape.elements() > 0)
      copy_bytes(result_.device(), first + row * size * static_cast<std::size_t>(piece(m).begin), result_.device(),
                 made.data, static_cast<std::size_t>(made.shape.elements()) * size, CopyOptions{});
  }

  [[nodiscard]] const parallel::Rows& piece(int m) const { return pieces_[static_cast<std::size_t>(m)]; }

  P& pipeline_;
  Stages& stages_;
  const Schedule& schedule_;
  const std::vector<parallel::Rows>& pieces_;
  const X& x_;
  Result& result_;
  int rank_;
};

}}}}}} // namespace twill::v0::parallel::pipeline::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace parallel { namespace pipeline { inline namespace TWILL_ISA {

template <class P> class PipelineInference;

/// One rank's part of inference with a pipeline.
template <class P, parallel::Communicator C> class RankInference {
  using S = typename P::ScheduleType;
  using D = typename P::device_type;
  using Last = std::tuple_element_t<static_cast<std::size_t>(P::stages) - 1, typename P::Stages>;
  using LastProgram = compile::Signature<StageInference<detail::EvaluationOf<Last>>>;
  template <class, template <class> class> friend class detail::LocalRanks;
  template <class> friend class PipelineInference;
  template <class Tuple> struct StagesOf;
  template <class... Stage> struct StagesOf<std::tuple<Stage...>> {
    using type = std::tuple<detail::EvaluatedStage<Stage>...>;
  };
  using Stages = typename StagesOf<typename P::Stages>::type;

public:
  /// The model's result, on the device of the last stage.
  using Result = compile::shown_output_t<StageInference<detail::EvaluationOf<Last>>, 0, D>;

  /// This rank's part of forward passes through a pipeline of ranks.
  RankInference(P& pipeline, C& communicator, InferenceOptions options)
      : pipeline_{&pipeline}, communicator_{&communicator}, options_{options} {
    if (communicator.size() != P::ranks)
      throw ValueError("inference: " + std::string{S::name} + " with " + std::to_string(P::stages) +
                       " stages runs on " + std::to_string(P::ranks) + " ranks, the communicator has " +
                       std::to_string(communicator.size()));
  }

  /// The result for all rows on the rank of the last stage, or on all; elsewhere a tensor without elements. All ranks
  /// pass inputs of the same shapes; their elements are read where a stage takes them.
  /// throws: ShapeError if inputs do not match; ValueError if results are not those of rows; CommunicatorError naming
  /// another rank
  template <AnyTensor... Inputs> [[nodiscard]] auto operator()(const Inputs&... inputs) {
    try {
      using X = std::tuple<const Inputs&...>;
      detail::check_batch<"inference", P>(std::type_identity<X>{});
      const X x{inputs...};
      const std::int64_t rows = parallel::common_rows(inputs...).value_or(0);
      const auto pieces = parallel::chunk_rows(rows, options_.micro_batches);
      const Schedule schedule = forward_schedule<S>(P::ranks, static_cast<int>(pieces.size()));
      const int last = schedule.rank(P::stages - 1);
      Result result{};
      if (options_.is_result_everywhere || communicator_->rank() == last)
        result = Result(D(communicator_->device()),
                        LastProgram::frozen.outputs[0].shape.evaluate(detail::symbols_of_rows<P, Last>(x, rows)));
      std::apply([](auto&... stage) { ((stage.inputs.clear(), stage.outputs.clear()), ...); }, stages_);
      detail::InferenceRunner<P, X, Stages, Result> runner{*pipeline_,           stages_, schedule, pieces, x, result,
                                                           communicator_->rank()};
      pipeline::run(schedule, *communicator_, runner);
      if (options_.is_result_everywhere)
        communicator_->run(parallel::Call::broadcast(parallel::elements(result), last));
      return result;
    } catch (...) {
      communicator_->fail(std::current_exception());
      throw;
    }
  }

private:
  P* pipeline_;
  C* communicator_;
  InferenceOptions options_;
  Stages stages_{};
};

/// Inference with a pipeline whose stages are all here: that of all ranks, each in its thread.
template <class P> class PipelineInference {
  template <class C> using Rank = RankInference<P, C>;

public:
  /// Forward passes through a pipeline of threads.
  PipelineInference(P& pipeline, InferenceOptions options)
      : ranks_{pipeline, {.timeout_ms = options.timeout_ms}, InferenceOptions{.micro_batches = options.micro_batches}} {
  }

  /// The result for all rows of the model's inputs, on the device of the last stage.
  /// throws: ShapeError if inputs do not match; ValueError if results are not those of rows; the exception of a rank
  template <AnyTensor... Inputs> [[nodiscard]] auto operator()(const Inputs&... inputs) {
    constexpr int last = P::ScheduleType::rank_of(P::stages - 1, P::ranks);
    typename Rank<typename P::template ThreadOf<last>>::Result result{};
    ranks_.run([&](auto& own) {
      auto of_rank = own(inputs...);
      if (own.communicator_->rank() == last) result = std::move(of_rank);
    });
    return result;
  }

private:
  detail::LocalRanks<P, Rank> ranks_;
};

/// Inference with a pipeline: `infer(inputs...)` returns the model's result. The pipeline must outlive it.
template <ScheduleKind S, FloatingScalar T, ComputeDevice D, class... Parts>
[[nodiscard]] auto inference(BasicPipeline<S, T, D, Parts...>& pipeline, InferenceOptions options = {}) {
  return PipelineInference<BasicPipeline<S, T, D, Parts...>>{pipeline, options};
}

/// This rank's part of inference.    throws: ValueError if the communicator has another number of ranks
template <ScheduleKind S, FloatingScalar T, ComputeDevice D, class... Parts, parallel::Communicator C>
[[nodiscard]] auto inference(BasicPipeline<S, T, D, Parts...>& pipeline, C& communicator,
                             InferenceOptions options = {}) {
  return RankInference<BasicPipeline<S, T, D, Parts...>, C>{pipeline, communicator, options};
}

}}}}} // namespace twill::v0::parallel::pipeline::TWILL_ISA
