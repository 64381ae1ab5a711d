#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Auxiliary losses: scalars that a layer adds to the loss of its model, such as the balance of experts. A layer leaves
// one beside its result, `y = nn::auxiliary_loss(y, 0.01 * term)`, and the loss of the step takes all of them in,
// `train_step(model, nn::with_auxiliary_losses(nn::cross_entropy), rule)`. Model and loss have to be traced into one
// program: whole steps do that, and those of replicas and ranks. Where they are not, in staged runs and in the earlier
// stages of a pipeline, the gradient is refused, since it would lack the auxiliary loss. Not in twill.hpp. Read next:
// nn/mixture_of_experts.hpp.

#include <twill/core/call_site.hpp>
#include <twill/core/config.hpp>
#include <twill/graph/operators.hpp>
#include <twill/nn/losses/loss.hpp>

#include <concepts>
#include <cstddef>

namespace twill { inline namespace v0 { namespace nn { namespace detail { inline namespace TWILL_ISA {

TWILL_CONSTEXPR void auxiliary_loss_vjp(graph::Graph& graph, int node, const graph::Cotangents& cotangents,
                                        graph::InputGradients& gradients);
TWILL_CONSTEXPR void collected_losses_vjp(graph::Graph& graph, int node, const graph::Cotangents& cotangents,
                                          graph::InputGradients& gradients);

/// The rule of a result with an auxiliary loss: input 1 is the result again, input 2 the loss.
inline constexpr graph::Operation auxiliary_loss_rule{.name = "auxiliary_loss", .vjp = &auxiliary_loss_vjp};
/// The rule of the sum of all auxiliary losses, which marks their graph as one whose loss has them.
inline constexpr graph::Operation collected_losses_rule{.name = "auxiliary_losses", .vjp = &collected_losses_vjp};

/// The nodes of a graph with this rule.
[[nodiscard]] TWILL_CONSTEXPR List<int> nodes_with_rule(const graph::Graph& graph, const graph::Operation& rule) {
  List<int> found{};
  for (std::size_t id = 0; id < graph.nodes.size(); ++id) {
    const graph::Node& node = graph.nodes[id];
    if (node.kind == graph::Kind::rule && graph::is_same(*node.operation, rule)) found.push_back(static_cast<int>(id));
  }
  return found;
}

TWILL_CONSTEXPR void auxiliary_loss_vjp(graph::Graph& graph, int node, const graph::Cotangents& cotangents,
                                        graph::InputGradients& gradients) {
  if (nodes_with_rule(graph, collected_losses_rule).empty())
    return graph.refuse_node(graph::Problem::auxiliary_losses_are_not_in_the_loss_use_with_auxiliary_losses, node);
  gradients.set(1, graph::Value{graph, cotangents[0]});
}

TWILL_CONSTEXPR void collected_losses_vjp(graph::Graph& graph, int, const graph::Cotangents& cotangents,
                                          graph::InputGradients& gradients) {
  gradients.set(1, graph::Value{graph, cotangents[0]});
}

/// The sum of all auxiliary losses of a graph, in float32 at least. errors: there is none
[[nodiscard]] TWILL_CONSTEXPR graph::Value collected_losses(graph::Graph& graph) {
  const List<int> marked = nodes_with_rule(graph, auxiliary_loss_rule);
  if (marked.empty()) {
    graph.refuse(graph::Problem::program_of_the_loss_has_no_auxiliary_losses, 0, 0, {});
    return graph::constant(graph, DType::float32, 0);
  }
  graph::Value total{graph, graph.node(marked[0]).input(2)};
  for (std::size_t i = 1; i < marked.size(); ++i) total = total + graph::Value{graph, graph.node(marked[i]).input(2)};
  return graph::with_rule(total, collected_losses_rule, {total});
}

/// A loss and the auxiliary losses of the graph that it is traced in.
template <class L> struct WithAuxiliaryLosses {
  template <std::derived_from<graph::Value>... Values>
  requires std::invocable<L, const Values&...>
  [[nodiscard]] constexpr graph::Value operator()(const Values&... values) const {
    const graph::Value loss = L{}(values...);
    graph::Graph& graph = loss.graph();
    const graph::Value total = collected_losses(graph);
    return graph.fault.any() ? loss : loss + graph::cast(total, loss.dtype());
  }
};

}}}}} // namespace twill::v0::nn::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace nn { inline namespace TWILL_ISA {

/// y unchanged, with a scalar for the loss of the model, which is added with a weight of one.
/// errors: more than one element, a call in the body of a scan
[[nodiscard]] TWILL_CONSTEXPR graph::Value auxiliary_loss(graph::Value y, graph::Value loss,
                                                          CallSite site = CallSite::here()) {
  graph::Graph& graph = y.graph();
  if (graph.open_loop >= 0) graph.refuse(graph::Problem::auxiliary_loss_in_the_body_of_a_scan, y.id(), 0, site);
  if (!loss.shape().elements().is_one())
    graph.refuse(graph::Problem::gradient_of_a_value_that_is_not_a_scalar, loss.rank(), 0, site);
  if (graph.fault.any()) return y;
  const graph::Value scalar = graph::reshape(graph::widened(loss), graph::Extents{}, site);
  return graph::with_rule(y, detail::auxiliary_loss_rule, {y, scalar});
}

/// The loss and all auxiliary losses that the layers of the model leave. `train_step` takes it like any other loss.
/// errors: a model without auxiliary losses, or a loss that is traced apart from its model
template <class Formula>
[[nodiscard]] constexpr Loss<detail::WithAuxiliaryLosses<Loss<Formula>>> with_auxiliary_losses(Loss<Formula>) {
  return {};
}

}}}} // namespace twill::v0::nn::TWILL_ISA
