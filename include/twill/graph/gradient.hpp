#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Reverse-mode differentiation, graph to graph: one sweep from the last node to the first, which emits the backward
// pass as further nodes of the same graph. Only nodes between the variables and the differentiated value are visited.
// Source: Griewank and Walther, Evaluating Derivatives, 2008, chapter 3. Read next: graph/derivatives.hpp (the rules).

#include <twill/core/call_site.hpp>
#include <twill/core/config.hpp>
#include <twill/graph/loop_gradient.hpp>
#include <twill/graph/region_gradient.hpp>

#include <array>
#include <cstddef>

namespace twill { inline namespace v0 { namespace graph {

namespace detail {

/// For each node up to `last` whether it depends on a variable through differentiable nodes.
TWILL_CONSTEXPR List<char> reaches(const Graph& graph, const List<int>& variables, int first, int last) {
  List<char> active(static_cast<std::size_t>(last) + 1, 0);
  for (int variable : variables)
    if (variable <= last) active.items[variable] = 1;
  for (int id = first; id <= last; ++id) {
    const Node& node = graph.node(id);
    if (!is_floating(node.dtype) || node.kind == Kind::stop_gradient) continue;
    if (node.kind == Kind::close && active.items[node.input(1)] != 0 && active.items[node.input(0)] == 0) {
      // A value that becomes active in one step is active in the next.
      active.items[node.input(0)] = 1;
      id = node.input(0);
      continue;
    }
    for (int i = 0; i < node.arity; ++i)
      if (active.items[node.inputs[static_cast<std::size_t>(i)]] != 0) active.items[id] = 1;
  }
  return active;
}

/// The last node to visit for a seed at `last`: the loop or part that contains it is visited as a whole, and so are the
/// results of a loop whose body ends there.
[[nodiscard]] TWILL_CONSTEXPR int last_with_loops(const Graph& graph, int last) {
  for (int before = -1; before != last;) {
    before = last;
    for (const LoopInfo& loop : graph.loops)
      if (loop.end >= 0 && last >= loop.end - 1 && last < loop.results_end) last = loop.results_end - 1;
    for (const RegionInfo& region : graph.regions)
      if (last >= region.begin && last < region.end) last = region.end - 1;
  }
  return last;
}

/// The loop whose body ends with this node, if one of its results has a gradient; -1 otherwise.
[[nodiscard]] TWILL_CONSTEXPR int loop_to_visit(const Graph& graph, int id, const List<int>& cotangents) {
  for (std::size_t i = 0; i < graph.loops.size(); ++i) {
    if (graph.loops[i].end != id + 1) continue;
    for (int result = id + 1; result < graph.loops[i].results_end; ++result)
      if (cotangents.items[result] >= 0) return static_cast<int>(i);
  }
  return -1;
}

/// The scope of a loop: that of its first node.
[[nodiscard]] TWILL_CONSTEXPR int scope_of_loop(const Graph& graph, int loop) {
  return graph.node(graph.loops.items[loop].begin).scope;
}

/// The part to be computed again that ends with this node and has a gradient, or null; the outermost of several.
[[nodiscard]] TWILL_CONSTEXPR const RegionInfo* region_to_visit(const Graph& graph, int id,
                                                                const List<int>& cotangents) {
  const RegionInfo* found = nullptr;
  for (const RegionInfo& region : graph.regions) {
    if (region.end != id + 1 || !region.is_recomputed) continue;
    if (found != nullptr && found->begin <= region.begin) continue;
    for (int node = region.begin; node < region.end; ++node)
      if (cotangents.items[node] >= 0) {
        found = &region;
        break;
      }
  }
  return found;
}

/// The gradient of a further result of an operation.
struct ResultCotangent {
  int operation = -1;
  int result = 0;
  int cotangent = -1;
};

/// The gradients of all results of an operation.
TWILL_CONSTEXPR Cotangents cotangents_of(int operation, int first, const List<ResultCotangent>& others) {
  Cotangents found{first, -1, -1, -1};
  for (const ResultCotangent& other : others)
    if (other.operation == operation) found[static_cast<std::size_t>(other.result)] = other.cotangent;
  return found;
}

/// A result may have several nodes: rules of gradients name it anew.
TWILL_CONSTEXPR void add_cotangent(Graph& graph, List<ResultCotangent>& all, const ResultCotangent& added) {
  for (ResultCotangent& known : all)
    if (known.operation == added.operation && known.result == added.result) {
      known.cotangent = (Value{graph, known.cotangent} + Value{graph, added.cotangent}).id();
      return;
    }
  all.push_back(added);
}

[[nodiscard]] TWILL_CONSTEXPR bool is_empty(const Cotangents& cotangents) {
  for (int cotangent : cotangents)
    if (cotangent >= 0) return false;
  return true;
}

} // namespace detail

/// The gradients of the seeded values with respect to the variables, -1 where a variable is not reached.
TWILL_CONSTEXPR List<int> gradients(Graph& graph, const List<Seed>& seeds, const List<int>& variables) {
  int last = -1;
  for (const Seed& seed : seeds) last = seed.value > last ? seed.value : last;
  last = detail::last_with_loops(graph, last);
  int first = last + 1; // nodes before all variables have no gradient
  for (int variable : variables) first = variable < first ? variable : first;
  const List<char> active = detail::reaches(graph, variables, first, last);
  List<int> cotangents(static_cast<std::size_t>(last) + 1, -1);
  List<detail::ResultCotangent> of_results{};
  const auto accumulate = [&](int id, int gradient) {
    int& slot = cotangents.items[id];
    slot = slot < 0 ? gradient : (Value{graph, slot} + Value{graph, gradient}).id();
  };
  for (const Seed& seed : seeds)
    if (active.items[seed.value] != 0) accumulate(seed.value, seed.cotangent);
  const int scope = graph.scope();
  const bool has_loops = !graph.loops.empty();
  const bool has_regions = !graph.regions.empty();
  for (int id = last; id >= first; --id) {
    if (const int loop = has_loops ? detail::loop_to_visit(graph, id, cotangents) : -1; loop >= 0)
      for (const Seed& given : detail::LoopGradient{graph, loop, active, cotangents}.result()) {
        accumulate(given.value, given.cotangent);
        if (!graph.taps.empty()) graph.tap_share(given.value, given.cotangent, detail::scope_of_loop(graph, loop));
      }
    const RegionInfo* const region = has_regions ? detail::region_to_visit(graph, id, cotangents) : nullptr;
    if (region != nullptr) {
      const RegionInfo part = *region;
      for (const Seed& given : detail::RegionGradient{graph, part, active, cotangents}.result())
        cotangents[static_cast<std::size_t>(given.value)] = given.cotangent; // all of it
      id = part.begin;
      continue;
    }
    const auto position = static_cast<std::size_t>(id);
    if (!graph.taps.empty() && cotangents[position] >= 0) graph.tap_gradient(id, cotangents[position]);
    if (active[position] == 0 || graph.node(id).arity == 0) continue;
    const Node& node = graph.node(id);
    const bool is_operation = node.kind == Kind::operation || node.kind == Kind::rule;
    const Cotangents given = is_operation ? detail::cotangents_of(id, cotangents[position], of_results) : Cotangents{};
    if (is_operation ? detail::is_empty(given) : cotangents[position] < 0) continue;
    if (node.kind == Kind::result) {
      detail::add_cotangent(graph, of_results, {node.input(0), node.index, cotangents[position]});
      continue;
    }
    if ((node.kind == Kind::slice || node.kind == Kind::carry) && active.items[node.input(0)] != 0)
      graph.refuse_node(Problem::gradient_inside_a_scan_of_a_value_outside, id);
    const Few<int, max_inputs> inputs = node.inputs;
    const int arity = node.arity;
    const int own_scope = node.scope;
    graph.set_scope(node.scope > 0 ? -node.scope : node.scope);
    Few<bool, max_inputs> wanted{};
    for (int i = 0; i < arity; ++i) wanted.items[i] = active.items[inputs.items[i]] != 0;
    const InputGradients result = is_operation
                                      ? detail::operation_gradient(graph, id, given, wanted)
                                      : detail::node_gradient(graph, id, {graph, cotangents[position]}, wanted);
    for (int i = 0; i < arity; ++i) {
      if (!wanted.items[i] || result.ids.items[i] < 0) continue;
      accumulate(inputs.items[i], result.ids.items[i]);
      if (!graph.taps.empty()) graph.tap_share(inputs.items[i], result.ids.items[i], own_scope);
    }
  }
  graph.set_scope(scope);
  List<int> found{};
  for (int variable : variables) found.push_back(variable <= last ? cotangents.items[variable] : -1);
  return found;
}

/// The gradients of a scalar value with respect to other values of the same graph, in one sweep; zero where one is not
/// reached.
template <std::size_t N>
[[nodiscard]] constexpr std::array<Value, N> gradients(Value result, std::array<Value, N> variables,
                                                       CallSite site = CallSite::here()) {
  Graph& graph = result.graph();
  if (!result.shape().elements().is_one())
    graph.refuse(Problem::gradient_of_a_value_that_is_not_a_scalar, result.rank(), 0, site);
  if (!is_floating(result.dtype()))
    graph.refuse(Problem::gradient_of_a_value_that_is_not_floating, static_cast<int>(result.dtype()), 0, site);
  List<int> ids{};
  for (const Value& variable : variables) {
    if (!is_floating(variable.dtype()))
      graph.refuse(Problem::gradient_with_respect_to_a_value_that_is_not_floating, static_cast<int>(variable.dtype()),
                   0, site);
    ids.push_back(variable.id());
  }
  if (graph.fault.any()) return variables;
  const Value one = detail::filled(graph, result.dtype(), result.shape(), 1);
  const List<int> found = gradients(graph, {{result.id(), one.id()}}, ids);
  for (std::size_t i = 0; i < N; ++i)
    variables[i] = detail::value_or_zero(graph, found[i], variables[i].dtype(), variables[i].shape());
  return variables;
}

/// The gradient of a scalar value with respect to another value of the same graph; zero where it is not reached.
[[nodiscard]] TWILL_CONSTEXPR Value gradient(Value result, Value variable, CallSite site = CallSite::here()) {
  return gradients(result, std::array<Value, 1>{variable}, site)[0];
}

}}} // namespace twill::v0::graph
