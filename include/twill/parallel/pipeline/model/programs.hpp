#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Programs of a pipeline stage, all cut from one trace of its forward and backward pass: forward, which keeps values
// for the gradients; the whole backward pass; and its two parts, the gradient of the input, for which the stage before
// waits, and that of the weights, which can wait. Values that both parts need and are not cheap to compute again are
// passed from the first to the second (Qi et al., "Zero Bubble Pipeline Parallelism", 2023). A stage takes and makes
// any number of values. Read next: parallel/pipeline/model/stage.hpp.

#include <twill/compile/passes/lower.hpp>
#include <twill/compile/table_for.hpp>
#include <twill/core/config.hpp>
#include <twill/nn/network.hpp>

#include <array>
#include <cstddef>

namespace twill { inline namespace v0 { namespace parallel { namespace pipeline { inline namespace TWILL_ISA {

/// A traced stage: its inputs are declared in the graph, those of the batch first.
struct StageTrace {
  List<int> results{};       ///< the inputs of the next stage, or the model's result
  List<int> given{};         ///< the batch's inputs that are its first ones; the later ones come from the stage before
  List<char> results_last{}; ///< results that are handed on channels-last; none after its end
  List<char> cotangents_last{}; ///< results whose gradients are received channels-last; none after its end
  List<char> gradients_last{};  ///< received inputs whose gradients are handed back channels-last; none after its end

  constexpr StageTrace() = default;
};

/// A tag type that traces a stage.
template <class F>
concept StageSource = requires(graph::Graph& graph) {
  { F::make_graph() } -> std::same_as<graph::Graph>;
  { F::build(graph) } -> std::same_as<StageTrace>;
};

/// A model of one input as a stage; the first one's input is the batch.
template <nn::Model M, FloatingScalar T, bool IsFirst, bool Training = true> struct ModelAsStage {
  using Evaluation = ModelAsStage<M, T, IsFirst, false>;
  static constexpr graph::Graph make_graph() { return nn::ModelStage<M, T, Training>::make_graph(); }
  static constexpr StageTrace build(graph::Graph& graph) {
    StageTrace trace{};
    trace.results.push_back(nn::ModelStage<M, T, Training>::build(graph).id());
    for (std::size_t i = 0; IsFirst && i < graph.inputs.size(); ++i) trace.given.push_back(static_cast<int>(i));
    return trace;
  }
  static constexpr compile::CallName called() { return {written_name<M>(), "pipeline", true}; }
  static constexpr compile::TableSizes room() { return nn::ModelStage<M, T, true>::room(); }
};

/// Has a stage hand on its results, and take their gradients, channels-last.
constexpr void hand_on_channels_last(StageTrace& trace) {
  trace.results_last = List<char>(trace.results.size(), 1);
  trace.cotangents_last = trace.results_last;
}

/// A stage that ends in the model's result, an image which one network computes channels-last: a loss takes it so.
template <class F>
concept StageOfImage = StageSource<F> && F::makes_image;

/// Such a stage with its result and the gradient of that in this order, not row-major.
template <StageOfImage F> struct ImageAsComputed : F {
  static constexpr StageTrace build(graph::Graph& graph) {
    StageTrace trace = F::build(graph);
    hand_on_channels_last(trace);
    return trace;
  }
};

}}}}} // namespace twill::v0::parallel::pipeline::TWILL_ISA

namespace twill { inline namespace v0 { namespace parallel { namespace pipeline { namespace detail {
inline namespace TWILL_ISA {

/// Forward and backward pass of a stage. Outputs: the results, the gradients of the weights, those of received inputs.
struct StageJoint : nn::Joint {
  std::size_t weights = 0;    ///< that have gradients
  std::size_t cotangents = 0; ///< inputs with gradients of results, after those of the stage
  List<char> outputs_last{};  ///< outputs that other stages take channels-last

  constexpr StageJoint() = default;
};

/// Whether a list of flags has one at a place; it may end before.
[[nodiscard]] constexpr bool is_set(const List<char>& flags, std::size_t place) {
  return place < flags.size() && flags[place] != 0;
}

template <StageSource F> [[nodiscard]] constexpr StageJoint joint() {
  StageJoint result{};
  graph::Graph& graph = result.graph;
  graph = F::make_graph();
  const StageTrace trace = F::build(graph);
  result.results = trace.results.size();
  if (graph.fault.any()) return result;
  graph.taps.clear();
  List<int> variables = nn::trainable_weights(graph);
  result.weights = variables.size();
  const std::size_t inputs = graph.inputs.size();
  List<char> gradients_last(result.weights, 0);
  for (std::size_t i = trace.given.size(); i < inputs; ++i) {
    if (!is_floating(graph.inputs[i].dtype)) continue;
    variables.push_back(graph.inputs[i].node);
    gradients_last.push_back(is_set(trace.gradients_last, i - trace.given.size()) ? 1 : 0);
  }
  List<graph::Seed> seeds{};
  for (std::size_t i = 0; i < trace.results.size(); ++i) {
    const graph::Node node = graph.node(trace.results[i]);
    if (!is_floating(node.dtype)) continue;
    seeds.push_back({trace.results[i], graph.add_input(node.dtype, node.shape)});
    graph.inputs.items[graph.inputs.size() - 1].is_channels_last = is_set(trace.cotangents_last, i);
  }
  result.outputs_last = trace.results_last;
  result.outputs_last.resize(result.results, 0);
  result.outputs_last.append(gradients_last);
  result.cotangents = seeds.size();
  const List<int> found = gradients(graph, seeds, variables);
  graph.outputs = trace.results;
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (i < result.weights) nn::require_reached(graph, variables[i], found[i]);
    graph.outputs.push_back(found[i] >= 0 ? found[i] : nn::zero_like(graph, variables[i]));
  }
  if (graph.fault.any()) return result;
  compile::simplify(graph);
  result.cotangent = seeds.empty() ? graph.size() : graph.inputs[inputs].node;
  return result;
}

/// Turns the node into an input with the computed value.
constexpr void make_input(graph::Graph& graph, int id, bool is_channels_last) {
  graph::Node& node = graph.nodes.items[id];
  graph::Node input{};
  input.kind = graph::Kind::input;
  input.dtype = node.dtype;
  input.shape = node.shape;
  input.index = static_cast<int>(graph.inputs.size());
  graph.inputs.push_back({node.dtype, node.shape, id, is_channels_last});
  node = input;
}

/// Turns a value for another program into an output, as computed.
constexpr void hand_out(graph::Graph& graph, int id, bool is_channels_last) {
  graph.channels_last_outputs.resize(graph.outputs.size(), 0);
  graph.outputs.push_back(id);
  graph.channels_last_outputs.push_back(is_channels_last ? 1 : 0);
}

/// The first of the stage's results that is this node, -1 for none.
[[nodiscard]] constexpr int result_number(const StageJoint& joint, const List<int>& outputs, int id) {
  for (std::size_t i = 0; i < joint.results; ++i)
    if (outputs[i] == id) return static_cast<int>(i);
  return -1;
}

constexpr void drop_assignments(graph::Graph& graph) {
  for (graph::Node& node : graph.nodes)
    if (node.kind == graph::Kind::assign) node = graph::Node{};
}

/// Reduces to the backward pass: inputs are those of the stage, the cotangents, and values kept by the forward pass.
constexpr void keep_backward(StageJoint& joint) {
  const List<char> is_last = compile::carried_channels_last(joint.graph);
  for (const int id : nn::kept_nodes(joint)) {
    const int result = result_number(joint, joint.graph.outputs, id);
    make_input(joint.graph, id,
               result < 0 ? is_last[static_cast<std::size_t>(id)] != 0
                          : is_set(joint.outputs_last, static_cast<std::size_t>(result)));
  }
  List<int> gradients{};
  joint.graph.channels_last_outputs.clear();
  for (std::size_t i = joint.results; i < joint.graph.outputs.size(); ++i) {
    gradients.push_back(joint.graph.outputs[i]);
    joint.graph.channels_last_outputs.push_back(joint.outputs_last[i]);
  }
  joint.graph.outputs.swap(gradients);
  joint.graph.bounds.clear(); // the forward pass has checked them
  drop_assignments(joint.graph);
}

/// The nodes needed by the outputs from `first` to before `last`.
[[nodiscard]] constexpr List<char> needed_by(const graph::Graph& graph, std::size_t first, std::size_t last) {
  List<char> needed(graph.nodes.size(), 0);
  for (std::size_t i = first; i < last; ++i) needed.items[graph.outputs[i]] = 1;
  for (std::size_t i = graph.nodes.size(); i-- > 0;)
    for (int k = 0; k < graph.nodes[i].arity && needed[i] != 0; ++k) needed.items[graph.nodes[i].input(k)] = 1;
  return needed;
}

/// The nodes of a backward pass that the gradient of the input computes and that of the weights reads: operands of
/// operations, and others that are not cheap to compute twice.
[[nodiscard]] constexpr List<int> nodes_between(const graph::Graph& graph, std::size_t weights) {
  const List<char> by_weights = needed_by(graph, 0, weights);
  const List<char> by_inputs = needed_by(graph, weights, graph.outputs.size());
  const std::size_t count = graph.nodes.size();
  List<char> read(count, 0);   // only by the weights
  List<char> stored(count, 0); // must be in memory
  const auto store = [&](int id) {
    const int root = compile::view_root(graph.nodes, id);
    if (by_inputs.items[root] != 0 && graph.node(root).arity > 0) stored.items[root] = 1;
  };
  for (std::size_t i = 0; i < count; ++i) {
    if (by_weights[i] == 0 || by_inputs[i] != 0) continue;
    const graph::Node& node = graph.nodes[i];
    for (int k = 0; k < node.arity; ++k) {
      read.items[node.input(k)] = 1;
      if (node.kind == graph::Kind::operation) store(node.input(k));
    }
  }
  for (std::size_t i = 0; i < weights; ++i) read.items[graph.outputs[i]] = 1;
  nn::RecomputationCosts costs{graph, stored};
  List<int> between{};
  for (int id = 0; id < graph.size(); ++id) {
    const int cost = costs.of_next();
    if (read.items[id] != 0 && by_inputs.items[id] != 0 && cost > compile::recomputation_limit) store(id);
  }
  for (int id = 0; id < graph.size(); ++id)
    if (stored.items[id] != 0) between.push_back(id);
  return between;
}

}}}}}} // namespace twill::v0::parallel::pipeline::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace parallel { namespace pipeline { inline namespace TWILL_ISA {

/// Base of the programs of a stage.
template <StageSource F> struct StageProgram {
  /// The call that runs it, in messages.
  static constexpr compile::CallName called() { return compile::call_name_of<F>(); }
  static constexpr auto room() requires requires { F::room(); }
  { return F::room(); }
};

/// Outputs: the results, then the other values needed by gradients.
template <StageSource F> struct StageForward : StageProgram<F> {
  static constexpr graph::Graph trace() {
    detail::StageJoint joint = detail::joint<F>();
    graph::Graph& graph = joint.graph;
    if (graph.fault.any()) return static_cast<graph::Graph&&>(graph);
    const List<int> kept = nn::kept_nodes(joint);
    const List<char> is_last = compile::carried_channels_last(graph);
    while (graph.outputs.size() > joint.results) graph.outputs.pop_back();
    const List<int> results = graph.outputs;
    graph.channels_last_outputs = joint.outputs_last;
    graph.channels_last_outputs.resize(joint.results, 0);
    for (const int id : kept)
      if (detail::result_number(joint, results, id) < 0)
        detail::hand_out(graph, id, is_last[static_cast<std::size_t>(id)] != 0);
    for (std::size_t i = 0; i < joint.cotangents; ++i) graph.inputs.pop_back();
    return static_cast<graph::Graph&&>(graph);
  }
};

/// The forward pass for a second time: no buffer is updated.
template <StageSource F> struct StageForwardAgain : StageProgram<F> {
  static constexpr graph::Graph trace() {
    graph::Graph graph = StageForward<F>::trace();
    detail::drop_assignments(graph);
    return graph;
  }
};

/// Only the results: keeps nothing. `StageInference<typename F::Evaluation>` runs outside of training.
template <StageSource F> struct StageInference : StageProgram<F> {
  static constexpr graph::Graph trace() {
    graph::Graph graph = F::make_graph();
    graph.outputs = F::build(graph).results;
    return graph;
  }
};

/// Inputs: those of the stage, the gradients of its floating results, then the values kept by the forward pass, results
/// last. Outputs: the gradients of the trainable weights, then those of the floating inputs that were received.
template <StageSource F> struct StageBackward : StageProgram<F> {
  static constexpr graph::Graph trace() {
    detail::StageJoint joint = detail::joint<F>();
    if (!joint.graph.fault.any()) detail::keep_backward(joint);
    return static_cast<graph::Graph&&>(joint.graph);
  }
};

/// The part for which the stage before waits. Outputs: the gradients of inputs, then the values for the other part.
template <StageSource F> struct StageInputGradient : StageProgram<F> {
  static constexpr graph::Graph trace() {
    detail::StageJoint joint = detail::joint<F>();
    graph::Graph& graph = joint.graph;
    if (graph.fault.any()) return static_cast<graph::Graph&&>(graph);
    detail::keep_backward(joint);
    const List<int> between = detail::nodes_between(graph, joint.weights);
    const List<char> is_last = compile::carried_channels_last(graph);
    for (std::size_t i = 0; i < joint.weights; ++i) graph.outputs.pop_front(), graph.channels_last_outputs.pop_front();
    for (const int id : between) detail::hand_out(graph, id, is_last[static_cast<std::size_t>(id)] != 0);
    return static_cast<graph::Graph&&>(graph);
  }
};

/// The rest. Inputs: those of the backward pass, then values left by the other part. Outputs: gradients of the weights.
template <StageSource F> struct StageWeightGradient : StageProgram<F> {
  static constexpr graph::Graph trace() {
    detail::StageJoint joint = detail::joint<F>();
    graph::Graph& graph = joint.graph;
    if (graph.fault.any()) return static_cast<graph::Graph&&>(graph);
    detail::keep_backward(joint);
    const List<char> is_last = compile::carried_channels_last(graph);
    for (const int id : detail::nodes_between(graph, joint.weights))
      detail::make_input(graph, id, is_last[static_cast<std::size_t>(id)] != 0);
    while (graph.outputs.size() > joint.weights) graph.outputs.pop_back();
    graph.channels_last_outputs.resize(joint.weights, 0);
    return static_cast<graph::Graph&&>(graph);
  }
};

/// The number of a stage's values of each kind.
struct StageCounts {
  int given = 0;    ///< inputs of the batch
  int received = 0; ///< inputs of the stage before
  int results = 0;
  int cotangents = 0; ///< floating results
  int weights = 0;    ///< with gradients
};

}}}}} // namespace twill::v0::parallel::pipeline::TWILL_ISA

namespace twill { inline namespace v0 { namespace parallel { namespace pipeline { namespace detail {
inline namespace TWILL_ISA {

template <StageSource F> [[nodiscard]] constexpr StageCounts count() {
  graph::Graph graph = F::make_graph();
  const StageTrace trace = F::build(graph);
  StageCounts counts{};
  counts.given = static_cast<int>(trace.given.size());
  counts.received = static_cast<int>(graph.inputs.size()) - counts.given;
  counts.results = static_cast<int>(trace.results.size());
  for (const int id : trace.results) counts.cotangents += is_floating(graph.node(id).dtype) ? 1 : 0;
  counts.weights = static_cast<int>(nn::trainable_weights(graph).size());
  return counts;
}

/// Whether a program that runs on a device of kind D reads an input.
template <compile::Source S, class D> [[nodiscard]] bool reads_input(std::size_t input) {
  static const auto found = [] {
    using Table = compile::TableFor<S, D>;
    std::array<bool, Table::sizes.inputs + 1> inputs{};
    for (const compile::ValueInfo& value : Table::view().values)
      if (value.storage == compile::Storage::input && value.first_use >= 0)
        inputs[static_cast<std::size_t>(value.index)] = true;
    return inputs;
  }();
  return input + 1 < found.size() && found[input];
}

}}}}}} // namespace twill::v0::parallel::pipeline::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace parallel { namespace pipeline { inline namespace TWILL_ISA {

template <StageSource F> inline constexpr StageCounts stage_counts = detail::count<F>();

/// The inputs of the batch that a stage takes, in order.
template <StageSource F>
inline constexpr auto given_inputs = [] {
  graph::Graph graph = F::make_graph();
  const StageTrace trace = F::build(graph);
  std::array<int, static_cast<std::size_t>(stage_counts<F>.given)> numbers{};
  for (std::size_t i = 0; i != numbers.size(); ++i) numbers[i] = trace.given[i];
  return numbers;
}();

}}}}} // namespace twill::v0::parallel::pipeline::TWILL_ISA
