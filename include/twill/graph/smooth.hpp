#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Derivatives of functions that are computed in pieces. A formula of max, abs and where, or one that divides by a value
// that may be zero, has the right value; differentiated piece by piece it has a wrong slope, or none, where the pieces
// meet. It states its derivative here, in terms of operands and result, for all orders. Read next: graph/functions.hpp.

#include <twill/graph/operators.hpp>

#include <string_view>

namespace twill { inline namespace v0 { namespace graph {

/// A function's value and its operands, of one shape.
template <int Count> struct Applied {
  Value y{};        ///< the function's value
  Value x[Count]{}; ///< its operands
};

/// The gradients of a function's operands: the given gradient times the derivative by each of them.
template <auto... Derivatives>
constexpr void smooth_vjp(Graph& graph, int id, const Cotangents& cotangents, InputGradients& gradients) {
  constexpr int count = sizeof...(Derivatives);
  const Node node = graph.node(id); // a copy: emitting moves the nodes
  Applied<count> of{{graph, id}, {}};
  for (int i = 0; i < count; ++i) of.x[i] = {graph, node.input(1 + i)};
  const Value g{graph, cotangents[0]};
  int position = 1;
  ((gradients.wants(position) ? gradients.set(position, g * Derivatives(of)) : void(), ++position), ...);
}

/// The rule of a function with one operand for each derivative.
template <auto... Derivatives>
inline constexpr Operation smooth_rule{.name = "rule", .vjp = &smooth_vjp<Derivatives...>};

/// A value of one operand with the derivative of its function.
template <auto Derivative> [[nodiscard]] constexpr Value with_derivative(Value y, Value x) {
  return with_rule(y, smooth_rule<Derivative>, {x});
}

/// An operand of a value's rule, of its type and shape.
[[nodiscard]] constexpr Value beside(Value y, const Term& term) {
  return broadcast_to(detail::materialise(y.graph(), term, y.dtype()), y.shape());
}

/// A value of two operands with the derivatives of its function, for the first and the second.
template <auto First, auto Second>
[[nodiscard]] constexpr Value with_derivatives(Value y, const Term& left, const Term& right) {
  return with_rule(y, smooth_rule<First, Second>, {beside(y, left), beside(y, right)});
}

}}} // namespace twill::v0::graph
