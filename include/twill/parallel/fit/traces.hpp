#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Traces of a training step for estimates: the sources of the steps that run, called at run time. The stages of a
// pipeline are cut at places that are values, so all numbers of stages share one function of each kind.
// Not in twill.hpp. Read next: parallel/fit/estimate.hpp.

#include <twill/compile/traced.hpp>
#include <twill/core/config.hpp>
#include <twill/device/cpu/cpu.hpp>
#include <twill/device/meta/meta.hpp>
#include <twill/nn/device_trace.hpp>
#include <twill/parallel/data/zero.hpp>
#include <twill/parallel/fit/loss_bytes.hpp>
#include <twill/parallel/fit/stage_graphs.hpp>
#include <twill/parallel/pipeline/model/balance.hpp>
#include <twill/parallel/pipeline/model/cut.hpp>
#include <twill/parallel/pipeline/model/programs.hpp>
#include <twill/parallel/pipeline/model/stage_rules.hpp>
#include <twill/training/inspect.hpp>
#include <twill/training/sources.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

namespace twill { inline namespace v0 { namespace parallel { namespace fit {

/// The traces of one step for one element type.
struct Traces {
  compile::ForwardTrace (*forward)() = nullptr;            ///< model and loss
  compile::ForwardTrace (*model)() = nullptr;              ///< the model alone
  graph::Graph (*step)(const graph::Parts&) = nullptr;     ///< forward, loss, backward, update
  graph::Graph (*gradient)(const graph::Parts&) = nullptr; ///< forward, loss, backward
  graph::Graph (*update)() = nullptr;                      ///< of all weights
  graph::Graph (*update_of_parts)() = nullptr;             ///< of a rank's part of each
  /// The stage of the nodes between two places of the model's trace.
  StageGraphs (*stage)(int begin, int end, const StageForm& form) = nullptr;
  /// The bytes that the loss and its gradient take of a device at most, beside prediction and targets of these shapes.
  std::int64_t (*loss_bytes)(const Dims& prediction, const Dims& targets, Targets where) = nullptr;
  std::int64_t element_bytes = 0; ///< of one element of the model
  bool is_for_gpus = false;       ///< steps are traced for the libraries of GPUs
};

}}}} // namespace twill::v0::parallel::fit

namespace twill { inline namespace v0 { namespace parallel { namespace fit { inline namespace TWILL_ISA {

/// The places between which `StageNow` cuts on this thread.
struct PlacesNow {
  int begin = 0;
  int end = 0;
  bool hands_on_images = false; ///< channels-last, if the model's result is one

  /// Those of the calling thread.
  [[nodiscard]] static PlacesNow& here() {
    thread_local PlacesNow places{};
    return places;
  }
};

/// A model as the compiler traces it. A second trace, at run time, could differ, since C++ leaves open in which order
/// operands are evaluated; all traces for estimates begin with that of the compiler, like the programs that run.
template <nn::Model M> struct AsCompiled : M {
  using written_type = M; ///< the model
};

/// A model's stage between places that are values, as the source of its programs.
template <nn::Model M, FloatingScalar T> struct StageNow {
  using Whole = nn::ModelStage<M, T, true>;
  static constexpr graph::Graph make_graph() { return Whole::make_graph(); }
  static pipeline::StageTrace build(graph::Graph& graph) {
    const int root = Whole::build(graph).id();
    if (graph.fault.any()) return {};
    const auto [begin, end, hands_on_images] = PlacesNow::here();
    const int all = graph.size();
    const List<char>& orders = orders_of_images(graph, root, begin, end);
    pipeline::StageTrace trace =
        pipeline::detail::cut_out(graph, root, begin, end < all ? end : all, {orders.data(), orders.size()});
    const auto result = static_cast<std::size_t>(root);
    if (hands_on_images && end >= all && result < orders.size() &&
        (orders[result] & pipeline::detail::value_passes_last) != 0)
      pipeline::hand_on_channels_last(trace);
    return trace;
  }

private:
  /// Those of the latest places are kept: each program of a stage asks for them.
  static const List<char>& orders_of_images(const graph::Graph& graph, int root, int begin, int end) {
    thread_local PlacesNow latest{-1, -1};
    thread_local List<char> orders{};
    if (latest.begin == begin && latest.end == end) return orders;
    List<int> places{};
    if (begin > 0) places.push_back(begin);
    if (end < graph.size()) places.push_back(end);
    orders = pipeline::detail::find_orders_of_images(graph, root, {places.data(), places.size()});
    latest = {begin, end};
    return orders;
  }
};

/// The weights of such a stage, for updates.
template <nn::Model M> struct StageWeightsNow {
  static constexpr graph::Value forward(); ///< never defined: the stage is traced from the whole
};

}}}}} // namespace twill::v0::parallel::fit::TWILL_ISA

namespace twill { inline namespace v0 { namespace nn { inline namespace TWILL_ISA {

/// The trace of the compiler.
template <Model M, FloatingScalar T, bool Training> struct ModelStage<parallel::fit::AsCompiled<M>, T, Training> {
  using Source = PlainForward<ModelStage<M, T, Training>>; ///< traces the model
  /// An empty graph with the model's element type.
  static constexpr graph::Graph make_graph() { return ModelStage<M, T, Training>::make_graph(); }
  /// Replaces the graph by the model's.
  static graph::Value build(graph::Graph& graph) {
    graph = compile::trace_of<Source>();
    graph.parameter_sites.resize(graph.parameters.size()); // which a trace that was kept does not have
    const int root = graph.outputs[0];
    graph.outputs.clear();
    return {graph, root};
  }
};

/// Without training only the weights are used.
template <Model M, FloatingScalar T, bool Training> struct ModelStage<parallel::fit::StageWeightsNow<M>, T, Training> {
  using Source = parallel::fit::StageNow<M, T>; ///< traces the stage
  /// An empty graph with the model's element type.
  static graph::Graph make_graph() { return Source::make_graph(); }
  /// Traces the stage, which has one result.
  static graph::Value build(graph::Graph& graph) {
    const pipeline::StageTrace trace = Source::build(graph);
    if (!Training) {
      pipeline::detail::drop_assignments(graph);
      graph.requirements.clear();
    }
    return {graph, trace.results.empty() ? 0 : trace.results[0]};
  }
};

}}}} // namespace twill::v0::nn::TWILL_ISA

namespace twill { inline namespace v0 { namespace parallel { namespace fit::detail { inline namespace TWILL_ISA {

/// An argument of a step for a model of T: floating ones follow the model.
template <class Argument, FloatingScalar T> struct FollowingArgument;
template <Scalar A, AnyShape S, FloatingScalar T> struct FollowingArgument<compile::Argument<A, S>, T> {
  using type = compile::Argument<std::conditional_t<FloatingScalar<A>, T, A>, S>;
};

/// The last target of a step as a tensor on `Meta`.
template <class Argument> struct MetaTensor;
template <Scalar A, AnyShape S> struct MetaTensor<compile::Argument<A, S>> { using type = Tensor<A, Meta, S>; };

/// The model of a step, and whether the step says that it is for GPUs.
template <class M> struct ModelOf {
  using type = M;
  template <class D> using on = nn::traced_on_t<M, D>;
};
template <class M> struct ModelOf<nn::ForGpu<M>> {
  using type = M;
  template <class> using on = nn::ForGpu<M>;
};

/// Whole steps of the model M, and the stages of the same model as it is cut: these are not traced for GPUs' libraries.
template <nn::Model M, nn::Model Plain, FloatingScalar T, class L, optim::Rule R, class... Targets> struct TracesOf {
  static compile::ForwardTrace forward() { return training::trace_forward<M, T, L, Targets...>(); }
  static compile::ForwardTrace model() {
    compile::ForwardTrace result{};
    result.graph = nn::ModelStage<Plain, T, true>::make_graph();
    result.root = nn::ModelStage<Plain, T, true>::build(result.graph).id();
    return result;
  }
  static graph::Graph step(const graph::Parts& parts) {
    return training::WholeStep<M, T, L, R, Targets...>::trace_with(parts);
  }
  static graph::Graph gradient(const graph::Parts& parts) {
    return training::LossGradient<M, T, L, R, Targets...>::trace_with(parts);
  }
  static graph::Graph update() { return training::UpdateWeights<M, T, R>::trace(); }
  static graph::Graph update_of_parts() { return UpdateParts<M, T, R>::trace(); }

  static StageGraphs stage(int begin, int end, const StageForm& form) {
    using Source = StageNow<Plain, T>;
    using Weights = StageWeightsNow<Plain>;
    PlacesNow::here() = {begin, end, form.is_reproducible};
    StageGraphs all = graphs_of_stage<Source>(form);
    add_updates<Weights, T, R>(all);
    return all;
  }

  static std::int64_t loss_bytes(const Dims& prediction, const Dims& targets, fit::Targets where) {
    using Prediction =
        compile::shown_output_t<nn::PlainForward<nn::ModelStage<typename Plain::written_type, T, true>>, 0, Meta>;
    using Target = typename MetaTensor<std::tuple_element_t<0, std::tuple<Targets...>>>::type;
    return fit::loss_bytes<Prediction, Target>(L{}, prediction, targets, where);
  }

  static constexpr Traces all() {
    Traces traces{};
    traces.forward = &forward;
    traces.model = &model;
    traces.step = &step;
    traces.gradient = &gradient;
    traces.update = &update;
    traces.update_of_parts = &update_of_parts;
    if constexpr (sizeof...(Targets) == 1) { // a pipeline's loss takes one target
      traces.stage = &stage;
      traces.loss_bytes = &loss_bytes;
    }
    traces.element_bytes = sizeof(T);
    traces.is_for_gpus = !std::same_as<M, Plain>;
    return traces;
  }
};

template <class Step> struct StepTraces {
  static_assert(sizeof(Step) == 0, "twill: fit: a step is training::StepOf<Model, loss, Rule, Targets...>");
};
template <nn::Model M, FloatingScalar T, class L, optim::Rule R, class... Targets>
struct StepTraces<training::WholeStep<M, T, L, R, Targets...>> {
  template <FloatingScalar E, ComputeDevice D>
  static constexpr Traces as = TracesOf<AsCompiled<typename ModelOf<nn::unfitted_t<M>>::template on<D>>,
                                        AsCompiled<typename ModelOf<nn::unfitted_t<M>>::type>, E, L, R,
                                        typename FollowingArgument<Targets, E>::type...>::all();
};

template <class Step> struct GpuStep;
template <nn::Model M, FloatingScalar T, class L, optim::Rule R, class... Targets>
struct GpuStep<training::WholeStep<M, T, L, R, Targets...>> {
  using type = training::WholeStep<nn::ForGpu<nn::unfitted_t<M>>, T, L, R, Targets...>;
};

}}}}} // namespace twill::v0::parallel::fit::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace parallel { namespace fit { inline namespace TWILL_ISA {

/// A step as GPUs run it, where there is no type of a GPU: `traces_of<OnGpu<Step>>`.
template <class Step> using OnGpu = typename detail::GpuStep<Step>::type;

/// The traces of a step, `training::StepOf<Model, loss, Rule, Targets...>`, for a model of elements of T on devices of
/// a kind; floating targets follow it.
template <class Step, FloatingScalar T = float, ComputeDevice D = Cpu>
inline constexpr Traces traces_of = detail::StepTraces<Step>::template as<T, D>;

}}}}} // namespace twill::v0::parallel::fit::TWILL_ISA
