#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Stages: functions that run forward now and backward later. Both programs come from one trace: the forward and the
// backward pass are built together, then separated; values of the forward part that the backward part reads are kept
// between the two calls, unless they are cheap to compute again. `ModelStage` is the stage of a model, from which every
// execution of it is compiled. Read next: nn/tracked.hpp.

#include <twill/compile/passes/lower.hpp>
#include <twill/compile/signature.hpp>
#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/graph/gradient.hpp>
#include <twill/nn/declared_inputs.hpp>
#include <twill/nn/fit.hpp>
#include <twill/ops/move.hpp>

#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

namespace twill { inline namespace v0 { namespace nn { inline namespace TWILL_ISA {

/// A tag type that declares its inputs in a graph and returns the result.
template <class F>
concept StageFunction = requires(graph::Graph& graph) {
  { F::make_graph() } -> std::same_as<graph::Graph>;
  { F::build(graph) } -> std::same_as<graph::Value>;
};

/// The call that runs a stage, as messages name it: of a model by its name, of a function of tracked values by the
/// function's.
template <StageFunction F> [[nodiscard]] constexpr compile::CallName call_of_stage(const char* call) {
  if constexpr (requires { typename F::model_type; })
    return {.type = written_name<typename F::model_type>(), .call = call, .is_model = true};
  else if constexpr (requires { typename F::function_type; })
    return {.type = written_name<typename F::function_type>()};
  else
    return {.call = call};
}

/// Forward and backward in one graph. Outputs: the results, then the gradients of the weights, then the inputs'.
struct Joint {
  graph::Graph graph{};
  int cotangent = -1; ///< the first input node with a result's gradient; all nodes before it are the forward pass
  std::size_t results = 1;

  constexpr Joint() = default;
};

[[nodiscard]] TWILL_CONSTEXPR int zero_like(graph::Graph& graph, int node) {
  const graph::Value value{graph, node};
  return broadcast_to(constant(graph, value.dtype(), 0), value.shape()).id();
}

/// The gradient of a weight or an input in its slot; zero if there is none.
[[nodiscard]] TWILL_CONSTEXPR int gradient_of(graph::Graph& graph, int variable, int found) {
  if (found < 0) found = zero_like(graph, variable);
  return graph::beside({graph, found}, graph.node(variable)).id();
}

/// The slot of a result.
[[nodiscard]] constexpr int slot_of(graph::Value result) { return result.node().slot < 0 ? 0 : result.node().slot; }

/// Refuses a weight that the result does not depend on, unless it is frozen.
TWILL_CONSTEXPR void require_reached(graph::Graph& graph, int weight, int gradient) {
  if (gradient < 0)
    graph.refuse_parameter(graph::Problem::parameter_is_not_reached_by_the_loss, graph.node(weight).index);
}

[[nodiscard]] TWILL_CONSTEXPR List<int> trainable_weights(const graph::Graph& graph) {
  List<int> weights{};
  for (const graph::ParameterInfo& info : graph.parameters)
    if (info.role == graph::Role::weight) weights.push_back(info.node);
  return weights;
}

}}}} // namespace twill::v0::nn::TWILL_ISA

namespace twill { inline namespace v0 { namespace nn { namespace detail { inline namespace TWILL_ISA {

/// The joint graph of F with gradients for its weights and for the inputs in the set. Computes `parts` of F again.
template <StageFunction F> [[nodiscard]] constexpr Joint joint(unsigned input_set, const graph::Parts& parts) {
  Joint result{};
  graph::Graph& graph = result.graph;
  graph = F::make_graph();
  const graph::Value output = F::build(graph);
  if (graph.fault.any()) return result;
  compute_again(graph, parts);
  List<int> variables = trainable_weights(graph);
  const std::size_t weights = variables.size();
  for (std::size_t i = 0; i < graph.inputs.size(); ++i)
    if ((input_set >> i & 1u) != 0) variables.push_back(graph.inputs[i].node);
  const int cotangent = graph.add_input(output.dtype(), output.shape(), slot_of(output));
  const List<int> found = gradients(graph, {{output.id(), cotangent}}, variables);
  graph.outputs.push_back(output.id());
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (i < weights) require_reached(graph, variables[i], found[i]);
    graph.outputs.push_back(gradient_of(graph, variables[i], found[i]));
  }
  if (graph.fault.any()) return result;
  compile::simplify(graph);
  result.cotangent = graph.inputs.back().node;
  return result;
}

/// Marks the nodes needed by the gradients, which are the outputs after the results, down to the nodes in `stop`.
[[nodiscard]] TWILL_CONSTEXPR List<char> needed_by_gradients(const graph::Graph& graph, const List<char>& stop,
                                                             std::size_t results = 1) {
  List<char> needed(graph.nodes.size(), 0);
  for (std::size_t i = results; i < graph.outputs.size(); ++i) needed.items[graph.outputs[i]] = 1;
  for (const graph::TapInfo& tap : graph.taps)
    if (tap.is_gradient) needed.items[tap.node] = 1;
  for (std::size_t i = graph.nodes.size(); i-- > 0;) {
    if (needed[i] == 0 || stop[i] != 0) continue;
    const graph::Node& node = graph.nodes[i];
    for (int k = 0; k < node.arity; ++k) needed.items[node.input(k)] = 1;
  }
  return needed;
}

}}}}} // namespace twill::v0::nn::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace nn { inline namespace TWILL_ISA {

/// The cost of computing each node from the kept values, or more than the limit if that is impossible or too expensive;
/// grows with the nodes.
class RecomputationCosts {
public:
  constexpr RecomputationCosts(const graph::Graph& graph, const List<char>& kept) : graph_{&graph}, kept_{&kept} {}

  /// The cost of the next node. requires: the kept marks of earlier nodes are final; this node's own need not be
  TWILL_CONSTEXPR int of_next() {
    costs_.push_back(cost_of(static_cast<int>(costs_.size())));
    return costs_.back();
  }

private:
  static constexpr int too_dear = compile::recomputation_limit + 1;

  [[nodiscard]] TWILL_CONSTEXPR int cost_of(int id) const {
    const graph::Node& node = graph_->node(id);
    // A buffer may be overwritten by the time of the backward pass.
    if (node.kind == graph::Kind::parameter && graph_->parameters.items[node.index].role == graph::Role::buffer)
      return too_dear;
    if (node.arity == 0) return 0;
    if (!is_elementwise(node.kind) && !is_view(node.kind)) return too_dear;
    int cost = is_view(node.kind) ? 0 : compile::cost_of(node);
    for (int k = 0; k < node.arity && cost < too_dear; ++k) {
      const int input = node.input(k);
      const int root = compile::view_root(graph_->nodes, input);
      if ((*kept_)[static_cast<std::size_t>(input)] == 0 && (*kept_)[static_cast<std::size_t>(root)] == 0)
        cost += costs_.items[input];
    }
    return cost < too_dear ? cost : too_dear;
  }

  const graph::Graph* graph_;
  const List<char>* kept_;
  List<int> costs_{};
};

/// The forward nodes whose values are kept for the backward pass.
[[nodiscard]] TWILL_CONSTEXPR List<int> kept_nodes(const Joint& joint) {
  const graph::Graph& graph = joint.graph;
  const std::size_t count = graph.nodes.size();
  const List<char> needed = detail::needed_by_gradients(graph, List<char>(count, 0), joint.results);
  List<char> kept(count, 0);
  const auto is_forward = [&](int id) { return id < joint.cotangent; };
  // Values read by an operation of the backward pass have to be in memory.
  for (std::size_t i = static_cast<std::size_t>(joint.cotangent); i < count; ++i) {
    if (needed[i] == 0 || graph.nodes[i].kind != graph::Kind::operation) continue;
    for (int k = 0; k < graph.nodes[i].arity; ++k) {
      const int root = compile::view_root(graph.nodes, graph.nodes[i].input(k));
      if (is_forward(root) && graph.node(root).arity > 0) kept.items[root] = 1;
    }
  }
  // Other values that it reads are kept unless they are cheap to compute again, in the order of the forward pass.
  List<char> read(count, 0);
  for (std::size_t i = static_cast<std::size_t>(joint.cotangent); i < count; ++i)
    for (int k = 0; k < graph.nodes[i].arity && needed[i] != 0; ++k) read.items[graph.nodes[i].input(k)] = 1;
  RecomputationCosts costs{graph, kept};
  for (int id = 0; id < joint.cotangent; ++id) {
    const auto position = static_cast<std::size_t>(id);
    const int cost = costs.of_next();
    if (read[position] == 0 || graph.node(id).arity == 0 || kept[position] != 0) continue;
    if (cost <= compile::recomputation_limit) continue;
    const int root = compile::view_root(graph.nodes, id);
    if (graph.node(root).arity > 0) kept.items[root] = 1;
  }
  // Results belong to the caller: they come last and are not stored twice.
  List<int> of_results{};
  for (std::size_t i = 0; i < joint.results; ++i) {
    char& is_kept = kept.items[graph.outputs[i]];
    if (is_kept != 0) of_results.push_back(graph.outputs[i]);
    is_kept = 0;
  }
  List<int> result{};
  for (int id = 0; id < joint.cotangent; ++id)
    if (kept.items[id] != 0) result.push_back(id);
  result.append(of_results);
  return result;
}

template <StageFunction F, unsigned InputSet> struct KeepingForward;
template <StageFunction F, unsigned InputSet> struct Backward;

/// Both programs of a stage and the values between them, as one source to be divided.
template <StageFunction F, unsigned InputSet> struct BothPasses {
  static constexpr compile::ForwardTrace trace_forward() {
    compile::ForwardTrace result{};
    result.graph = F::make_graph();
    result.root = F::build(result.graph).id();
    return result;
  }
  static constexpr compile::MemoryUse memory(const graph::Parts& parts, const graph::SymbolValues& symbols) {
    const compile::Lowered forward = compile::lower(KeepingForward<F, InputSet>::trace_with(parts));
    const compile::Lowered backward = compile::lower(Backward<F, InputSet>::trace_with(parts));
    compile::MemoryUse first = compile::memory_use(compile::view_of(forward), symbols);
    compile::MemoryUse second = compile::memory_use(compile::view_of(backward), symbols);
    // The backward pass reads the result's gradient and the kept values; the result is still there.
    second.kept += first.kept + (backward.inputs.empty() ? 0 : result_bytes(forward, symbols));
    return first.total() > second.total() ? first : second;
  }
  static constexpr compile::Work work(const graph::Parts& parts, const graph::SymbolValues& symbols) {
    const compile::Work first = compile::work_of(KeepingForward<F, InputSet>::trace_with(parts), symbols);
    const compile::Work second = compile::work_of(Backward<F, InputSet>::trace_with(parts), symbols);
    return {first.operations + second.operations, first.bytes + second.bytes};
  }

private:
  static constexpr std::int64_t result_bytes(const compile::Lowered& forward, const graph::SymbolValues& symbols) {
    for (const compile::ValueInfo& value : forward.values)
      if (value.storage == compile::Storage::output && value.index == 0)
        return compile::pool_bytes(compile::bytes_of(value.dtype, value.shape, symbols));
    return 0;
  }
};

}}}} // namespace twill::v0::nn::TWILL_ISA

namespace twill { inline namespace v0 { namespace nn { namespace detail { inline namespace TWILL_ISA {

/// The trace of one of the programs of a stage, divided according to its model's budget.
template <StageFunction F, unsigned InputSet, class S> [[nodiscard]] constexpr graph::Graph trace_within_budget() {
  if constexpr (requires { typename F::model_type; })
    return nn::trace_within_budget<typename F::model_type, S, BothPasses<typename F::unfitted_type, InputSet>>();
  else
    return S::trace_with({});
}

}}}}} // namespace twill::v0::nn::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace nn { inline namespace TWILL_ISA {

/// The forward pass that keeps the values needed by the backward pass. Outputs: the result, then the kept values. With
/// no weights and an empty input set nothing is kept.
template <StageFunction F, unsigned InputSet> struct KeepingForward {
  static constexpr graph::Graph trace() { return detail::trace_within_budget<F, InputSet, KeepingForward>(); }
  static constexpr graph::Graph trace_with(const graph::Parts& parts) {
    Joint joint = detail::joint<F>(InputSet, parts);
    if (joint.graph.fault.any()) return static_cast<graph::Graph&&>(joint.graph);
    const List<int> kept = kept_nodes(joint);
    const int result = joint.graph.outputs[0];
    joint.graph.outputs.clear();
    joint.graph.outputs.push_back(result);
    for (int id : kept)
      if (id != result) joint.graph.outputs.push_back(id);
    joint.graph.keep_taps(false);
    joint.graph.inputs.pop_back(); // the result's gradient belongs to the backward pass
    return static_cast<graph::Graph&&>(joint.graph);
  }
  static constexpr compile::CallName called() { return call_of_stage<F>("forward"); }
  static constexpr auto room() requires requires { F::room(); }
  { return F::room(); }
};

/// The backward pass. Inputs: those of F, the result's gradient, the kept values. Outputs: the gradients of the
/// trainable weights, then those of the inputs in the set.
template <StageFunction F, unsigned InputSet> struct Backward {
  static constexpr graph::Graph trace() { return detail::trace_within_budget<F, InputSet, Backward>(); }
  static constexpr graph::Graph trace_with(const graph::Parts& parts) {
    Joint joint = detail::joint<F>(InputSet, parts);
    if (joint.graph.fault.any()) return static_cast<graph::Graph&&>(joint.graph);
    for (int id : kept_nodes(joint)) {
      graph::Node& node = joint.graph.nodes.items[id];
      graph::Node input{};
      input.kind = graph::Kind::input;
      input.dtype = node.dtype;
      input.shape = node.shape;
      input.slot = node.slot;
      input.index = static_cast<int>(joint.graph.inputs.size());
      joint.graph.inputs.push_back({node.dtype, node.shape, id, false, node.slot});
      node = input;
    }
    joint.graph.outputs.pop_front();
    joint.graph.keep_taps(true);
    joint.graph.bounds.clear();                 // the forward pass has checked them
    for (graph::Node& node : joint.graph.nodes) // buffers were updated by the forward pass
      if (node.kind == graph::Kind::assign) node = graph::Node{};
    return static_cast<graph::Graph&&>(joint.graph);
  }
  static constexpr compile::CallName called() { return call_of_stage<F>("backward"); }
  static constexpr auto room() requires requires { F::room(); }
  { return F::room(); }
};

/// The forward pass alone: keeps nothing.
template <StageFunction F> struct PlainForward {
  static constexpr graph::Graph trace() {
    graph::Graph graph = F::make_graph();
    const graph::Value output = F::build(graph);
    graph.outputs.push_back(output.id());
    return graph;
  }
  static constexpr compile::CallName called() { return call_of_stage<F>("infer"); }
  static constexpr auto room() requires requires { F::room(); }
  { return F::room(); }
};

}}}} // namespace twill::v0::nn::TWILL_ISA

namespace twill { inline namespace v0 { namespace nn { namespace detail { inline namespace TWILL_ISA {

/// Calls `forward`. g++ names this function in the first line of its error where that is not constexpr.
template <Model M, class... Inputs> constexpr graph::Value forward_has_to_be_constexpr(const Inputs&... inputs) {
  return graph::Value{M::forward(inputs...)};
}

}}}}} // namespace twill::v0::nn::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace nn { inline namespace TWILL_ISA {

/// Declares the inputs of a model in a graph and traces it.
template <Model M> [[nodiscard]] constexpr graph::Value trace_model(graph::Graph& graph) {
  using Forward = decltype(&M::forward);
  if constexpr (detail::InputsOf<Forward>::are_declared) {
    return
        [&]<class... Inputs, std::size_t... I>(std::type_identity<std::tuple<Inputs...>>, std::index_sequence<I...>) {
          const std::tuple<Inputs...> inputs{Inputs::declare(graph)...}; // braces: in order
          return detail::forward_has_to_be_constexpr<M>(std::get<I>(inputs)...);
        }(std::type_identity<inputs_t<M>>{}, std::make_index_sequence<std::tuple_size_v<inputs_t<M>>>{});
  } else {
    return constant(graph, graph.element, 0); // refused by the stage
  }
}

/// The stage of a model of element type T, in training (with dropout) or not.
template <Model M, FloatingScalar T, bool Training> struct ModelStage {
  static_assert(sizeof(detail::ForwardMistake<decltype(&M::forward)>) >= 1);
  using model_type = M;
  using unfitted_type = ModelStage<unfitted_t<M>, T, Training>;
  static constexpr graph::Graph make_graph() {
    graph::Graph graph{dtype_of<T>};
    graph.training = Training;
    return graph;
  }
  static constexpr graph::Value build(graph::Graph& graph) { return trace_model<M>(graph); }
  /// The table sizes of the model's programs, by the size of its trace.
  static constexpr compile::TableSizes room() {
    return compile::room_around(compile::Signature<PlainForward<ModelStage<M, T, true>>>::sizes);
  }
};

}}}} // namespace twill::v0::nn::TWILL_ISA

namespace twill { inline namespace v0 { namespace nn { namespace detail {

/// Warns once, through the warning sink, that host devices emulate float16: stored in two bytes, computed in float32
/// with a rounding after each operation.
inline void say_that_half_is_emulated() {
  static std::atomic<bool> is_said{false};
  if (!is_said.exchange(true))
    warn("float16: host devices emulate it, in float32 with a rounding after each operation; bfloat16 is faster "
         "where the processor has its instructions, and float32 everywhere");
}

}}}} // namespace twill::v0::nn::detail

namespace twill { inline namespace v0 { namespace nn { namespace detail { inline namespace TWILL_ISA {

/// Whether a model of T computes in float16, directly or by mixed precision.
template <class M, class T> inline constexpr bool computes_in_half = std::same_as<T, half>;
template <class M, class T>
requires requires { typename M::autocast_type; }
inline constexpr bool computes_in_half<M, T> = std::same_as<typename M::autocast_type, half> || std::same_as<T, half>;

}}}}} // namespace twill::v0::nn::detail::TWILL_ISA
