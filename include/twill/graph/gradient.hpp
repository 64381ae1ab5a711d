#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Reverse mode, graph to graph: one sweep from the last node to the first, which emits the backward pass as further nodes
// of the same graph. Only nodes between the variables and the differentiated value are visited. The rules stand in
// graph/derivatives.hpp. Source: Griewank and Walther, Evaluating Derivatives, 2008, chapter 3.

#include <twill/graph/derivatives.hpp>

#include <array>
#include <cstddef>

namespace twill::inline v0::graph {

/// A value and the gradient that flows into it from outside.
struct Seed {
  int value = -1;
  int cotangent = -1;
};

namespace detail {

/// For each node up to `last` whether it depends on a variable through differentiable nodes.
constexpr List<char> reaches(const Graph& graph, const List<int>& variables, int last) {
  List<char> active(static_cast<std::size_t>(last) + 1, 0);
  for (int variable : variables)
    if (variable <= last) active[static_cast<std::size_t>(variable)] = 1;
  for (int id = 0; id <= last; ++id) {
    const Node& node = graph.nodes[static_cast<std::size_t>(id)];
    if (!is_floating(node.dtype) || node.kind == Kind::stop_gradient) continue;
    for (int i = 0; i < node.arity; ++i)
      if (active[static_cast<std::size_t>(node.inputs[static_cast<std::size_t>(i)])] != 0)
        active[static_cast<std::size_t>(id)] = 1;
  }
  return active;
}

/// The gradient of a further result of an operation.
struct ResultCotangent {
  int operation = -1;
  int result = 0;
  int cotangent = -1;
};

/// The gradients of all results of an operation.
constexpr Cotangents cotangents_of(int operation, int first, const List<ResultCotangent>& others) {
  Cotangents found{first, -1, -1, -1};
  for (const ResultCotangent& other : others)
    if (other.operation == operation) found[static_cast<std::size_t>(other.result)] = other.cotangent;
  return found;
}

[[nodiscard]] constexpr bool is_empty(const Cotangents& cotangents) {
  for (int cotangent : cotangents)
    if (cotangent >= 0) return false;
  return true;
}

} // namespace detail

/// The gradients of the seeded values with respect to the variables, -1 where a variable is not reached.
constexpr List<int> gradients(Graph& graph, const List<Seed>& seeds, const List<int>& variables) {
  int last = -1;
  for (const Seed& seed : seeds) last = seed.value > last ? seed.value : last;
  const List<char> active = detail::reaches(graph, variables, last);
  List<int> cotangents(static_cast<std::size_t>(last) + 1, -1);
  List<detail::ResultCotangent> of_results{};
  const auto accumulate = [&](int id, int gradient) {
    int& slot = cotangents[static_cast<std::size_t>(id)];
    slot = slot < 0 ? gradient : (Value{graph, slot} + Value{graph, gradient}).id();
  };
  for (const Seed& seed : seeds)
    if (active[static_cast<std::size_t>(seed.value)] != 0) accumulate(seed.value, seed.cotangent);
  for (int id = last; id >= 0; --id) {
    const auto position = static_cast<std::size_t>(id);
    if (active[position] == 0 || graph.node(id).arity == 0) continue;
    const Node& node = graph.node(id);
    const bool is_operation = node.kind == Kind::operation;
    const Cotangents given = is_operation ? detail::cotangents_of(id, cotangents[position], of_results) : Cotangents{};
    if (is_operation ? detail::is_empty(given) : cotangents[position] < 0) continue;
    if (node.kind == Kind::result) {
      of_results.push_back({node.input(0), node.index, cotangents[position]});
      continue;
    }
    const Few<int, max_inputs> inputs = node.inputs;
    const int arity = node.arity;
    std::array<bool, max_inputs> wanted{};
    for (std::size_t i = 0; i < static_cast<std::size_t>(arity); ++i)
      wanted[i] = active[static_cast<std::size_t>(inputs[i])] != 0;
    const InputGradients result = is_operation
                                      ? detail::operation_gradient(graph, id, given, wanted)
                                      : detail::node_gradient(graph, id, {graph, cotangents[position]}, wanted);
    for (std::size_t i = 0; i < static_cast<std::size_t>(arity); ++i)
      if (wanted[i] && result.ids[i] >= 0) accumulate(inputs[i], result.ids[i]);
  }
  List<int> found{};
  for (int variable : variables)
    found.push_back(variable <= last ? cotangents[static_cast<std::size_t>(variable)] : -1);
  return found;
}

/// The gradient of a scalar value with respect to another value of the same graph; zero where it is not reached.
[[nodiscard]] constexpr Value gradient(Value result, Value variable, int line = __builtin_LINE()) {
  Graph& graph = result.graph();
  if (!result.shape().elements().is_one())
    graph.refuse(Problem::gradient_of_a_value_that_is_not_a_scalar, result.rank(), 0, line);
  if (!is_floating(result.dtype()))
    graph.refuse(Problem::gradient_of_a_value_that_is_not_floating, static_cast<int>(result.dtype()), 0, line);
  if (!is_floating(variable.dtype()))
    graph.refuse(Problem::gradient_with_respect_to_a_value_that_is_not_floating, static_cast<int>(variable.dtype()), 0,
                 line);
  const Extents shape = variable.shape();
  if (graph.fault.any()) return variable;
  const Value one = broadcast_to(constant(graph, result.dtype(), 1), result.shape());
  const int found = gradients(graph, {{result.id(), one.id()}}, {variable.id()})[0];
  return found >= 0 ? Value{graph, found} : broadcast_to(constant(graph, variable.dtype(), 0), shape);
}

} // namespace twill::inline v0::graph
