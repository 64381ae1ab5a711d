#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Auxiliary losses: scalars that a layer adds to the loss of its model, such as the balance of experts. A layer leaves
// one beside its result, `y = nn::auxiliary_loss(y, 0.01 * term)`, and the loss of the step takes all of them in,
// `train_step(model, nn::with_auxiliary_losses(nn::cross_entropy), rule)`, where model and loss are traced into one
// program: whole steps, those of replicas and ranks too. In staged runs and pipelines the loss has a program of its
// own, and the result carries them: the model returns `nn::carry_auxiliary_losses(y)`, and the loss is
// `nn::with_carried_losses(nn::cross_entropy)`. A gradient that would lack them is refused. Not in twill.hpp.
// Read next: nn/mixture_of_experts.hpp.

#include <twill/core/call_site.hpp>
#include <twill/core/config.hpp>
#include <twill/graph/operators.hpp>
#include <twill/graph/reductions.hpp>
#include <twill/nn/losses/loss.hpp>
#include <twill/ops/concatenate.hpp>
#include <twill/ops/slice.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>

namespace twill { inline namespace v0 { namespace nn { namespace detail { inline namespace TWILL_ISA {

TWILL_CONSTEXPR void auxiliary_loss_vjp(graph::Graph& graph, int node, const graph::Cotangents& cotangents,
                                        graph::InputGradients& gradients);
TWILL_CONSTEXPR void collected_loss_vjp(graph::Graph& graph, int node, const graph::Cotangents& cotangents,
                                        graph::InputGradients& gradients);

/// The rule of a result with an auxiliary loss: input 1 is the result again, input 2 the loss.
inline constexpr graph::Operation auxiliary_loss_rule{.name = "auxiliary_loss", .vjp = &auxiliary_loss_vjp};
/// Its rule from the time on when the auxiliary loss is part of the loss, or of what the model returns.
inline constexpr graph::Operation collected_loss_rule{.name = "collected_loss", .vjp = &collected_loss_vjp};

TWILL_CONSTEXPR void auxiliary_loss_vjp(graph::Graph& graph, int node, const graph::Cotangents&,
                                        graph::InputGradients&) {
  graph.refuse_node(graph::Problem::auxiliary_losses_are_not_in_the_loss_use_with_auxiliary_losses, node);
}

TWILL_CONSTEXPR void collected_loss_vjp(graph::Graph& graph, int, const graph::Cotangents& cotangents,
                                        graph::InputGradients& gradients) {
  gradients.set(1, graph::Value{graph, cotangents[0]});
}

/// The sum of the auxiliary losses of a graph that were not collected before, in float32 at least.
/// errors: no auxiliary loss
[[nodiscard]] TWILL_CONSTEXPR graph::Value collected_losses(graph::Graph& graph) {
  graph::Value total{};
  const std::size_t count = graph.nodes.size();
  bool is_first = true;
  for (std::size_t id = 0; id < count; ++id) {
    graph::Node& node = graph.nodes.items[id];
    if (node.kind != graph::Kind::rule || !graph::is_same(*node.operation, auxiliary_loss_rule)) continue;
    node.operation = &collected_loss_rule;
    const graph::Value loss{graph, node.input(2)};
    total = is_first ? loss : total + loss;
    is_first = false;
  }
  if (!is_first) return total;
  graph.refuse(graph::Problem::program_of_the_loss_has_no_auxiliary_losses, 0, 0, {});
  return graph::constant(graph, DType::float32, 0);
}

/// A loss of all features but the last, which is the sum of the auxiliary losses.
template <class L> struct WithCarriedLosses {
  template <std::derived_from<graph::Value>... Values>
  requires std::invocable<L, const graph::Value&, const Values&...>
  [[nodiscard]] constexpr graph::Value operator()(const graph::Value& result, const Values&... targets) const {
    const std::int64_t features = result.size(-1, {});
    if (result.graph().fault.any()) return result;
    const graph::Value loss = L{}(graph::narrow(result, -1, 0, features - 1), targets...);
    const graph::Value carried = graph::mean(graph::widened(graph::narrow(result, -1, features - 1, 1)));
    return loss + graph::cast(carried, loss.dtype());
  }
};

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

/// y (..., features) with one more feature, in which each element has the sum of the auxiliary losses so far: the last
/// line of a model that runs in stages or in a pipeline. Results outside of training have it, too.
/// errors: no auxiliary loss
[[nodiscard]] TWILL_CONSTEXPR graph::Value carry_auxiliary_losses(graph::Value y, CallSite site = CallSite::here()) {
  const graph::Value total = detail::collected_losses(y.graph());
  static_cast<void>(y.size(-1, site));
  if (y.graph().fault.any()) return y;
  graph::Extents shape = y.shape();
  shape[shape.rank - 1] = {};
  return graph::concatenate({y, graph::broadcast_to(graph::cast(total, y.dtype()), shape)}, -1, site);
}

/// The loss of the result of a model that ends in `carry_auxiliary_losses`, and those that it carries.
template <class Formula>
[[nodiscard]] constexpr Loss<detail::WithCarriedLosses<Loss<Formula>>> with_carried_losses(Loss<Formula>) {
  return {};
}

}}}} // namespace twill::v0::nn::TWILL_ISA
