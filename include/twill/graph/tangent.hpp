#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Forward-mode differentiation, graph to graph: the tangent of each node from those of its operands. It has no rules of
// its own. An elementwise rule multiplies by a diagonal matrix, which is its own transpose, so the rule for gradients
// gives the tangent as well; linear nodes are repeated. The rule u -> J'u of any other node is transposed: J v is the
// gradient of <J'u, v> by u, and as the rule is linear, u and J'u become dead code. This traces about half as many
// nodes as to transpose the backward pass as a whole: 5 for 9 of tanh, 8 for 18 of softmax, 30 for 59 of layer norm.
// What simplification leaves is the same, and as few as rules by hand would give: three products and a sum for one.
// Only functions with loops are transposed as a whole. Sources: Griewank and Walther, Evaluating Derivatives, 2008,
// chapter 3; Townsend, A new trick for calculating Jacobian vector products, 2017. Read next: graph/gradient.hpp.

#include <twill/core/config.hpp>
#include <twill/graph/derivatives.hpp>
#include <twill/graph/gradient.hpp>
#include <twill/graph/variables.hpp>

#include <array>
#include <cstddef>

namespace twill { inline namespace v0 { namespace graph {

/// A value and its tangent.
struct Direction {
  int value = -1;   ///< a node
  int tangent = -1; ///< the node of its tangent, of its shape and type
};

namespace detail {

/// A variable in which a rule of gradients is linear; nothing reads it once the rule is transposed.
[[nodiscard]] TWILL_CONSTEXPR int linear_variable(Graph& graph, int like) {
  const Node node = graph.node(like);
  return renamed(filled(graph, node.dtype, node.shape, 0)).id();
}

/// The rule of an operation, for variables in the place of its results' gradients.
struct LinearRule {
  int id = -1;                          ///< of the operation
  Cotangents variables{-1, -1, -1, -1}; ///< by result, -1 where none is needed
  InputGradients gradients{};           ///< linear in the variables
};

/// The tangents of some nodes that others have made.
class Tangents {
public:
  constexpr Tangents(Graph& graph, const List<Direction>& directions, const List<int>& results)
      : graph_{&graph}, directions_{&directions}, results_{&results} {
    first_ = graph.size();
    for (const Direction& direction : directions) {
      variables_.push_back(direction.value);
      first_ = direction.value < first_ ? direction.value : first_;
    }
    last_ = first_ - 1;
    for (int result : results) last_ = result > last_ ? result : last_;
  }

  /// The tangents of the results, -1 where one is zero.
  [[nodiscard]] TWILL_CONSTEXPR List<int> found() {
    if (find_needed()) return of_function_with_loops();
    return of_function();
  }

private:
  [[nodiscard]] TWILL_CONSTEXPR List<int> of_function() {
    tangents_ = List<int>(static_cast<std::size_t>(last_ - first_ + 1), -1);
    for (const Direction& direction : *directions_)
      if (direction.value <= last_) tangents_.items[direction.value - first_] = direction.tangent;
    const int scope = graph_->scope();
    for (int id = first_; id <= last_; ++id)
      if (is_needed(id) && tangent_of(id) < 0 && graph_->node(id).arity > 0) visit(id);
    graph_->set_scope(scope);
    List<int> found{};
    for (int result : *results_) found.push_back(result >= first_ ? tangent_of(result) : -1);
    return found;
  }

  /// Which operand of a rule's value is read first: not the value, if there are operands.
  [[nodiscard]] static constexpr int first_read(const Node& node) {
    return node.kind == Kind::rule && node.arity > 1 ? 1 : 0;
  }
  [[nodiscard]] static constexpr bool is_of_loop(Kind kind) {
    return kind == Kind::carry || kind == Kind::slice || kind == Kind::stack || kind == Kind::leave;
  }
  [[nodiscard]] constexpr bool is_needed(int id) const { return needed_.data()[id - first_] != 0; }
  [[nodiscard]] constexpr int tangent_of(int id) const { return id < first_ ? -1 : tangents_.data()[id - first_]; }

  /// Marks the nodes to visit; returns whether a loop is among them.
  TWILL_CONSTEXPR bool find_needed() {
    const List<char> active = reaches(*graph_, variables_, first_, last_);
    bool any_loop = false;
    needed_ = List<char>(static_cast<std::size_t>(last_ - first_ + 1), 0);
    for (int result : *results_)
      if (result >= first_) needed_.items[result - first_] = 1;
    for (int id = last_; id >= first_; --id) {
      char& own = needed_.items[id - first_];
      if (active.data()[id] == 0) own = 0;
      if (own == 0) continue;
      const Node node = graph_->node(id); // a copy: emitting moves the nodes
      any_loop = any_loop || is_of_loop(node.kind);
      const bool has_rule = node.kind == Kind::operation || node.kind == Kind::rule;
      if (has_rule) rules_.push_back(linear_rule(id, node, active));
      for (int i = first_read(node); i < node.arity; ++i)
        if (node.input(i) >= first_ && (!has_rule || rules_.back().gradients.ids[static_cast<std::size_t>(i)] >= 0))
          needed_.items[node.input(i) - first_] = 1; // what a rule only reads needs no tangent
    }
    return any_loop;
  }

  /// Whether a node is a needed result of an operation besides its first.
  [[nodiscard]] TWILL_CONSTEXPR bool is_further_result(int id, int operation) const {
    const Node& node = graph_->node(id);
    return node.kind == Kind::result && node.input(0) == operation && is_needed(id);
  }

  TWILL_CONSTEXPR LinearRule linear_rule(int id, const Node& node, const List<char>& active) {
    const int scope = graph_->scope();
    graph_->set_scope(node.scope > 0 ? -node.scope : node.scope);
    LinearRule made{id, {linear_variable(*graph_, id), -1, -1, -1}, {}};
    for (int other = id + 1; node.operation->results > 1 && other <= last_; ++other)
      if (is_further_result(other, id))
        if (int& own = made.variables.items[graph_->node(other).index]; own < 0) own = linear_variable(*graph_, other);
    Few<bool, max_inputs> wanted{};
    for (int i = first_read(node); i < node.arity; ++i)
      wanted[static_cast<std::size_t>(i)] = node.input(i) >= first_ && active.data()[node.input(i)] != 0;
    made.gradients = operation_gradient(*graph_, id, made.variables, wanted);
    graph_->set_scope(scope);
    return made;
  }

  TWILL_CONSTEXPR void visit(int id) {
    const Node node = graph_->node(id); // a copy: emitting moves the nodes
    graph_->set_scope(node.scope > 0 ? -node.scope : node.scope);
    std::array<int, max_inputs> of{};
    bool any = false;
    for (int i = 0; i < node.arity; ++i) {
      const bool is_read =
          i >= first_read(node) && node.input(i) >= first_ && is_floating(graph_->node(node.input(i)).dtype);
      of[static_cast<std::size_t>(i)] = is_read ? tangent_of(node.input(i)) : -1;
      any = any || of[static_cast<std::size_t>(i)] >= 0;
    }
    if (node.kind == Kind::result) return; // found with the operation
    if (any) tangents_.items[id - first_] = node_tangent(id, node, of);
  }

  TWILL_CONSTEXPR int node_tangent(int id, const Node& node, const std::array<int, max_inputs>& of) {
    const Value t{*graph_, of[0]};
    switch (node.kind) {
    case Kind::primitive:
      return primitive_tangent(id, node, of);
    case Kind::cast:
      return cast(t, node.dtype).id();
    case Kind::broadcast:
      return broadcast_to(t, node.shape).id();
    case Kind::reshape:
      return reshape(t, node.shape).id();
    case Kind::after:
      return t.id();
    case Kind::reduce:
      if (node.reduction == Reduction::sum) return reduce_axis(Reduction::sum, t, node.axis).id();
      break;
    case Kind::transpose: {
      Node same = node;
      same.scope = 0;
      same.inputs[0] = t.id();
      return graph_->add(same);
    }
    default:
      break;
    }
    return transposed(id, node, of);
  }

  TWILL_CONSTEXPR int primitive_tangent(int id, const Node& node, const std::array<int, max_inputs>& of) {
    const Value y{*graph_, id};
    if (node.primitive == Primitive::where) {
      const auto branch = [&](std::size_t i) { return of[i] >= 0 ? Term{Value{*graph_, of[i]}} : Term{0}; };
      return choose({*graph_, node.input(0)}, branch(1), branch(2)).id();
    }
    int sum = -1;
    for (std::size_t i = 0; i < node.arity; ++i) {
      if (of[i] < 0) continue;
      InputGradients share{};
      share.wanted[i] = true;
      primitive_gradient(*graph_, node, y, {*graph_, of[i]}, share);
      if (share.ids[i] < 0) continue;
      sum = sum < 0 ? share.ids[i] : (Value{*graph_, sum} + Value{*graph_, share.ids[i]}).id();
    }
    return sum;
  }

  /// The tangent of any node by the transpose of its rule; an operation's further results have theirs with it.
  TWILL_CONSTEXPR int transposed(int id, const Node& node, const std::array<int, max_inputs>& of) {
    LinearRule rule{};
    if (node.kind == Kind::operation || node.kind == Kind::rule) {
      while (rules_.back().id != id) rules_.pop_back(); // they are stored from the last to the first
      rule = rules_.back();
    } else {
      Few<bool, max_inputs> wanted{};
      for (std::size_t i = 0; i < node.arity; ++i) wanted[i] = of[i] >= 0;
      rule.variables[0] = linear_variable(*graph_, id);
      rule.gradients = node_gradient(*graph_, id, {*graph_, rule.variables[0]}, wanted);
    }
    List<Seed> seeds{};
    for (std::size_t i = 0; i < node.arity; ++i)
      if (of[i] >= 0 && rule.gradients.ids[i] >= 0) seeds.push_back({rule.gradients.ids[i], of[i]});
    List<int> variables{};
    for (int variable : rule.variables)
      if (variable >= 0) variables.push_back(variable);
    const List<int> found = gradients(*graph_, seeds, variables);
    for (int other = id + 1; variables.size() > 1 && other <= last_; ++other)
      if (is_further_result(other, id))
        for (std::size_t k = 1; k < variables.size(); ++k)
          if (variables[k] == rule.variables.items[graph_->node(other).index])
            tangents_.items[other - first_] = found[k];
    return found[0];
  }

  /// requires: no variable is computed of another
  TWILL_CONSTEXPR List<int> of_function_with_loops() {
    List<Seed> seeds{};
    List<int> linear{};
    for (int result : *results_) {
      linear.push_back(linear_variable(*graph_, result));
      seeds.push_back({result, linear.back()});
    }
    const List<int> by_variable = gradients(*graph_, seeds, variables_);
    seeds = {};
    for (std::size_t i = 0; i < variables_.size(); ++i)
      if (by_variable[i] >= 0) seeds.push_back({by_variable[i], directions_->data()[i].tangent});
    return gradients(*graph_, seeds, linear);
  }

  Graph* graph_;
  const List<Direction>* directions_;
  const List<int>* results_;
  List<int> variables_{};
  int first_ = 0;
  int last_ = -1;
  List<char> needed_{};  ///< of the nodes from `first_` on: a result reads them, and they depend on a variable
  List<int> tangents_{}; ///< of these nodes
  List<LinearRule> rules_{};
};

} // namespace detail

/// The tangents of results for those of variables, -1 where a result reads no variable.
/// requires: no variable is computed of another
TWILL_CONSTEXPR List<int> tangents(Graph& graph, const List<Direction>& directions, const List<int>& results) {
  return detail::Tangents{graph, directions, results}.found();
}

}}} // namespace twill::v0::graph
