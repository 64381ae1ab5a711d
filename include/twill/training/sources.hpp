#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Traces of training: the update of all weights from given gradients, the loss with its gradients, and the whole step.
// Each starts from one trace of the model, so weights have one order everywhere. Read next: training/train_step.hpp.

#include <twill/compile/arguments.hpp>
#include <twill/core/config.hpp>
#include <twill/nn/device_trace.hpp>
#include <twill/nn/fit.hpp>
#include <twill/nn/network.hpp>
#include <twill/optim/loss_scale.hpp>
#include <twill/optim/update.hpp>

#include <cstddef>
#include <string_view>
#include <tuple>

namespace twill { inline namespace v0 { namespace training { inline namespace TWILL_ISA {

/// The weight of a run's loss: its share of the rows when a batch is split, times a loss scale. Starts at one.
inline constexpr std::string_view loss_weight_scalar = "train.loss_weight";

/// A traced model, its loss and the gradients of the trainable weights, both times the loss weight; the gradients also
/// times the rule's loss scale.
struct LossTrace {
  graph::Graph graph{};
  int loss = -1;
  List<int> weights{};
  List<int> gradients{};

  constexpr LossTrace() = default;
};

/// The model and its loss, which is the root.
template <class M, class T, class L, class... Targets> [[nodiscard]] constexpr compile::ForwardTrace trace_forward() {
  using Stage = nn::ModelStage<M, T, true>;
  compile::ForwardTrace result{};
  graph::Graph& graph = result.graph;
  graph = Stage::make_graph();
  const graph::Value prediction = Stage::build(graph);
  graph.may_fix_symbols = true;               // targets may have static extents for named ones of the model
  graph.input_slot = nn::slot_of(prediction); // targets are compared with the prediction in its slot
  const graph::Value loss =
      compile::with_arguments<Targets...>(graph, [&](const auto&... targets) { return L{}(prediction, targets...); });
  if (!loss.shape().elements().is_one())
    graph.refuse(graph::Problem::gradient_of_a_value_that_is_not_a_scalar, loss.rank(), 0, {});
  result.root = loss.id();
  return result;
}

/// A loss times the weight of its run, and that weight, from which gradients begin.
struct WeightedLoss {
  graph::Value loss;
  graph::Value weight;
};
[[nodiscard]] constexpr WeightedLoss weighted(graph::Value loss) {
  graph::Graph& graph = loss.graph();
  const graph::Value weight =
      graph::broadcast_to(graph::run_scalar(graph, loss_weight_scalar, 1, loss.dtype()), loss.shape());
  return {graph::to_slot(graph::cast(loss * weight, graph.element), 0), weight};
}

/// Computes `parts` of the model and the loss again in the backward pass.
template <class M, class T, class L, class R, class... Targets>
[[nodiscard]] constexpr LossTrace trace_loss(const graph::Parts& parts) {
  compile::ForwardTrace forward = trace_forward<M, T, L, Targets...>();
  LossTrace result{};
  graph::Graph& graph = result.graph;
  graph = static_cast<graph::Graph&&>(forward.graph);
  if (graph.fault.any()) return result;
  compute_again(graph, parts);
  const graph::Value loss{graph, forward.root};
  result.weights = nn::trainable_weights(graph);
  optim::declare_states<R>(graph);
  const auto [whole, weight] = weighted(loss);
  result.loss = whole.id();
  graph::Value seed = weight;
  if constexpr (optim::ScaledRule<R>) {
    seed = weight * graph::cast(graph::beside(R::scale(graph), loss.node()), loss.dtype());
  }
  result.gradients = gradients(graph, {{loss.id(), seed.id()}}, result.weights);
  for (std::size_t i = 0; i < result.weights.size(); ++i) {
    nn::require_reached(graph, result.weights[i], result.gradients[i]);
    result.gradients[i] = nn::gradient_of(graph, result.weights[i], result.gradients[i]);
  }
  return result;
}

/// A graph with the weights of a model, and nothing else.
template <class M, class T> [[nodiscard]] constexpr graph::Graph trace_weights() {
  using Stage = nn::ModelStage<M, T, false>;
  graph::Graph graph = Stage::make_graph();
  static_cast<void>(Stage::build(graph));
  graph.inputs.clear();
  graph.taps.clear();
  graph.bounds.clear();
  return graph;
}

/// The call of a step of model M, as messages name it.
template <class M> [[nodiscard]] constexpr compile::CallName call_of_step(const char* call) {
  return {.type = written_name<M>(), .call = call, .is_model = true, .inputs = std::tuple_size_v<nn::inputs_t<M>>};
}

/// Base of sources with a model, a loss and a gradient. `S::trace_with(parts)` is the trace.
template <template <class...> class Source, class M, class T, class L, class R, class... Targets> struct DividedSource {
  using S = Source<M, T, L, R, Targets...>;
  static constexpr graph::Graph trace() {
    return nn::trace_within_budget<M, S, Source<nn::unfitted_t<M>, T, L, R, Targets...>>();
  }
  static constexpr compile::ForwardTrace trace_forward() { return training::trace_forward<M, T, L, Targets...>(); }
  static constexpr compile::MemoryUse memory(const graph::Parts& parts, const graph::SymbolValues& symbols) {
    const compile::Lowered lowered = compile::lower(S::trace_with(parts));
    return compile::memory_use(compile::view_of(lowered), symbols);
  }
  static constexpr compile::Work work(const graph::Parts& parts, const graph::SymbolValues& symbols) {
    return compile::work_of(S::trace_with(parts), symbols);
  }
  static constexpr compile::CallName called() { return call_of_step<M>("train_step"); }
};

/// The weighted loss, then the gradients of the trainable weights, for rule R. Inputs: the model's, then the targets.
template <class M, class T, class L, class R, class... Targets>
struct LossGradient : DividedSource<LossGradient, M, T, L, R, Targets...> {
  static constexpr graph::Graph trace_with(const graph::Parts& parts) {
    LossTrace trace = trace_loss<M, T, L, R, Targets...>(parts);
    trace.graph.outputs.push_back(trace.loss);
    for (int gradient : trace.gradients) trace.graph.outputs.push_back(gradient);
    return static_cast<graph::Graph&&>(trace.graph);
  }
  static constexpr compile::TableSizes room() { return nn::ModelStage<M, T, true>::room(); }
};

/// The whole step: the loss is the output, the weights and the optimiser's states change in place.
template <class M, class T, class L, class R, class... Targets>
struct WholeStep : DividedSource<WholeStep, M, T, L, R, Targets...> {
  static constexpr graph::Graph trace_with(const graph::Parts& parts) {
    LossTrace trace = trace_loss<M, T, L, R, Targets...>(parts);
    if (trace.graph.fault.any()) return static_cast<graph::Graph&&>(trace.graph);
    optim::update_all<R>(trace.graph, trace.weights, trace.gradients);
    trace.graph.outputs.push_back(trace.loss);
    return static_cast<graph::Graph&&>(trace.graph);
  }
  static constexpr compile::TableSizes room() { return nn::ModelStage<M, T, true>::room(); }
};

/// The traced update of all weights, or of a part of each, from their gradients, which are the inputs.
template <class M, class T, class R> [[nodiscard]] constexpr graph::Graph trace_update(optim::Updated updated) {
  graph::Graph graph = trace_weights<M, T>();
  const List<int> weights = nn::trainable_weights(graph);
  optim::declare_states<R>(graph);
  List<int> gradients{};
  for (int weight : weights) {
    const graph::Node node = graph.node(weight);
    const int slot = graph.parameters[static_cast<std::size_t>(node.index)].slot;
    gradients.push_back(graph.add_input(node.dtype, node.shape, slot));
  }
  optim::update_all<R>(graph, weights, gradients, updated);
  return graph;
}

/// The update without a model. Inputs: the gradients of the trainable weights.
template <class M, class T, class R> struct UpdateWeights {
  static constexpr graph::Graph trace() { return trace_update<M, T, R>(optim::Updated::whole_weights); }
  static constexpr compile::TableSizes room() { return nn::ModelStage<M, T, true>::room(); }
};

/// The update of a network in planned steps.
template <class Network, class R>
using update_of_t = UpdateWeights<nn::traced_model_t<Network>, typename Network::Element, R>;

}}}} // namespace twill::v0::training::TWILL_ISA
