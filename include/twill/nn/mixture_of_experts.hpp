#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Mixtures of experts (Shazeer et al., 2017): a router sends each token to `top_k` of several feed-forward networks and
// weights their results by a softmax. Shapes are static as in GShard (Lepikhin et al., 2020) and Switch Transformer
// (Fedus et al., 2021): an expert takes at most `capacity` tokens of a group, first choices before second ones and in
// order of position; other choices are dropped and give zero, so the layer belongs beside a residual connection. A
// group is an element of the first axis, such as a sequence. All losses are means over groups and tokens, so replicas
// and micro-batches compute those of one device. Not in twill.hpp. Read next: nn/auxiliary_loss.hpp,
// nn/expert_parallel.hpp.

#include <twill/core/call_site.hpp>
#include <twill/core/config.hpp>
#include <twill/nn/autocast.hpp>
#include <twill/nn/auxiliary_loss.hpp>
#include <twill/nn/linear.hpp>
#include <twill/nn/parameter.hpp>
#include <twill/nn/transformer.hpp>
#include <twill/ops/cumsum.hpp>
#include <twill/ops/gather.hpp>
#include <twill/ops/matmul.hpp>
#include <twill/ops/sort.hpp>

#include <cstdint>
#include <initializer_list>
#include <string_view>

namespace twill { inline namespace v0 { namespace nn { inline namespace TWILL_ISA {

/// Options of a mixture of experts.
struct MixtureOptions {
  std::int64_t top_k = 1;        ///< experts of each token
  double capacity_factor = 1.25; ///< an expert's places over its even share of a group's choices; rounded up
  std::int64_t capacity = 0;     ///< the places themselves; 0: those of the factor
  bool normalises_gates = true;  ///< gates of a token's experts sum to 1, where it has more than one
  double balance_weight = 0.01;  ///< of the loss that balances the experts' loads
  double router_z_weight = 0;    ///< of the mean square of the router's log-sum-exp (Zoph et al., 2022), such as 1e-3
  FeedForwardFunction function = FeedForwardFunction::relu; ///< of the experts
};

/// The places of one expert for a group of so many tokens, at most all of them.
[[nodiscard]] TWILL_CONSTEXPR std::int64_t expert_capacity(std::int64_t tokens, std::int64_t experts,
                                                           const MixtureOptions& options) {
  std::int64_t places = options.capacity;
  if (places == 0 && experts > 0) {
    const double share = options.capacity_factor * static_cast<double>(options.top_k * tokens) / double(experts);
    places = share < static_cast<double>(tokens) ? graph::shown_as_integer(share) : tokens; // rounded up
  }
  return places < tokens ? places : tokens;
}

}}}} // namespace twill::v0::nn::TWILL_ISA

namespace twill { inline namespace v0 { namespace nn { namespace detail { inline namespace TWILL_ISA {

/// Destinations of the tokens' choices. A place is an element of (experts, groups, capacity), by its row-major number.
struct Routing {
  Value place{};     ///< (groups, top_k, tokens), int64, of each choice; 0 where it is dropped
  Value is_kept{};   ///< (groups, top_k, tokens), bool
  Value gates{};     ///< (groups, top_k, tokens), in float32 at least
  Value token{};     ///< (experts, groups, capacity), int64: the token, of all groups, of each place; -1 for none
  Value auxiliary{}; ///< the weighted losses, a scalar in float32 at least
};

/// Weights of experts: (experts, hidden, width), (experts, hidden), (experts, width, hidden), (experts, width).
struct ExpertWeights {
  Value up{};        ///< the first product
  Value up_bias{};   ///< added to it
  Value down{};      ///< the second product
  Value down_bias{}; ///< added to it
};

/// The start of weights and biases of a product with so many inputs, that of linear layers.
[[nodiscard]] TWILL_CONSTEXPR Initialiser from_inputs(std::int64_t inputs) {
  return initialise::fan_in_uniform(static_cast<double>(inputs));
}

/// Declares the weights of experts by `weight(name, shape, start)`.
template <class F>
[[nodiscard]] constexpr ExpertWeights declared_experts(std::int64_t experts, std::int64_t hidden, std::int64_t width,
                                                       const F& weight) {
  return {weight("experts.up_weight", {experts, hidden, width}, from_inputs(width)),
          weight("experts.up_bias", {experts, hidden}, from_inputs(width)),
          weight("experts.down_weight", {experts, width, hidden}, from_inputs(hidden)),
          weight("experts.down_bias", {experts, width}, from_inputs(hidden))};
}

/// Refuses what has no routing; whether all is well.
[[nodiscard]] TWILL_CONSTEXPR bool can_route(Value x, std::int64_t experts, const MixtureOptions& options,
                                             CallSite site) {
  graph::Graph& graph = x.graph();
  if (x.rank() != 3) {
    graph.refuse(graph::Problem::experts_take_groups_of_tokens_of_a_width, x.rank(), 3, site);
    return false;
  }
  if (options.top_k < 1 || options.top_k > experts)
    graph.refuse(graph::Problem::topk_exceeds_the_axis, options.top_k, experts, site);
  if (options.capacity < 0)
    graph.refuse(graph::Problem::capacity_of_experts_is_not_positive, options.capacity, 1, site);
  if (options.capacity == 0 && !(options.capacity_factor > 0))
    graph.refuse(graph::Problem::capacity_of_experts_is_not_positive, graph::shown_as_integer(options.capacity_factor),
                 1, site);
  static_cast<void>(x.size(1, site)); // refuses a number of tokens known only at run time
  static_cast<void>(x.size(2, site));
  return !graph.fault.any();
}

/// The weighted sum of the losses of a router. `logits` and `probabilities`: (groups, tokens, experts), `is_chosen`:
/// (groups, choices, experts).
/// balance = experts * mean over groups of sum over experts of (share of choices) * (mean probability)
[[nodiscard]] TWILL_CONSTEXPR Value router_losses(Value logits, Value probabilities, Value is_chosen,
                                                  const MixtureOptions& options) {
  const auto experts = static_cast<double>(logits.shape()[2].factor);
  Value total = graph::constant(logits.graph(), logits.dtype(), 0);
  if (options.balance_weight != 0) {
    const Value share = graph::mean(graph::cast(is_chosen, logits.dtype()), {1});
    const Value load = graph::sum(share * graph::mean(probabilities, {1}), {-1});
    total = total + graph::mean(load) * (options.balance_weight * experts);
  }
  if (options.router_z_weight != 0)
    total = total + graph::mean(graph::square(graph::logsumexp(logits, -1))) * options.router_z_weight;
  return total;
}

/// Chooses experts and places. x: (groups, tokens, width), weight: (experts, width).
[[nodiscard]] TWILL_CONSTEXPR Routing route(Value x, Value weight, const MixtureOptions& options, CallSite site) {
  graph::Graph& graph = x.graph();
  const graph::Extent groups = x.shape()[0], tokens = x.shape()[1], experts = weight.shape()[0];
  const graph::Extent chosen{options.top_k, 0}, choices{options.top_k * tokens.factor, 0};
  const std::int64_t capacity = expert_capacity(tokens.factor, experts.factor, options);
  const Value logits = in_float32(x, [&](Value wide) { return linear(wide, graph::widened(weight), site); });
  const Value probabilities = graph::softmax(logits, -1);
  const graph::Sorted top = graph::topk(probabilities, options.top_k, -1, graph::Order::descending, site);
  if (graph.fault.any()) return {};
  Routing routing{};
  Value gates = graph::transpose(top.values, {0, 2, 1});
  if (options.top_k > 1 && options.normalises_gates) gates = gates / graph::sum(gates, {1}, graph::KeepDims::yes);
  routing.gates = gates;
  // First choices of all tokens of a group, then second ones: a choice's place is the number of those before it.
  const Value expert = graph::reshape(graph::transpose(top.indices, {0, 2, 1}), {groups, choices, {}}, site);
  const Value is_chosen = graph::equal(expert, graph::iota(graph, {experts}));
  const Value reached = graph::cumsum(graph::cast(is_chosen, DType::int64), 1, site);
  const Value position = graph::sum(graph::where(is_chosen, reached, 0), {-1}) - 1;
  const Value first = graph::unsqueeze(graph::transpose(graph::iota(graph, {experts, groups}), {1, 0}), 1);
  const Value row = graph::sum(graph::where(is_chosen, first, 0), {-1});
  const Value is_kept = position < capacity;
  const Value place = graph::where(is_kept, row * capacity + position, 0);
  const graph::Extents by_choice{groups, chosen, tokens};
  routing.is_kept = graph::reshape(is_kept, by_choice, site);
  routing.place = graph::reshape(place, by_choice, site);
  // Each place has at most one token, so that a sum over choices is that token's number, from 1.
  const Value token = graph::iota(graph, {groups, {}, tokens}) + 1;
  const Value sent = graph::where(routing.is_kept, token, 0);
  const graph::Extents places{experts, groups, {capacity, 0}};
  const graph::Extents line{places.elements()};
  const Value none = graph::broadcast_to(graph::constant(graph, DType::int64, 0), line);
  const graph::Extents all{by_choice.elements()};
  const Value taken =
      graph::index_add(none, 0, graph::reshape(routing.place, all, site), graph::reshape(sent, all, site), site);
  routing.token = graph::reshape(taken - 1, places, site);
  routing.auxiliary = router_losses(logits, probabilities, is_chosen, options);
  return routing;
}

/// The tokens in their places, zeros in empty ones. x: (groups, tokens, width), token: (experts, groups, capacity);
/// gives (experts, groups * capacity, width).
[[nodiscard]] TWILL_CONSTEXPR Value dispatched(Value x, Value token, CallSite site) {
  const graph::Extents shape = x.shape(), places = token.shape();
  const Value rows = graph::reshape(x, {shape[0] * shape[1], shape[2]}, site);
  const Value found = graph::take(rows, graph::maximum(token, 0), 0, site);
  const Value filled = graph::where(graph::unsqueeze(token >= 0, -1), found, 0.0);
  return graph::reshape(filled, {places[0], places[1] * places[2], shape[2]}, site);
}

/// Two products with a function between them, for each expert. rows: (experts, rows, width), and so is the result.
[[nodiscard]] TWILL_CONSTEXPR Value of_experts(Value rows, const ExpertWeights& weights, FeedForwardFunction function,
                                               CallSite site) {
  const auto product = [&](Value left, Value weight, Value bias) {
    return graph::matmul(left, graph::transpose(weight, site), site) + graph::unsqueeze(bias, 1);
  };
  const Value wide = product(rows, weights.up, weights.up_bias);
  return product(function == FeedForwardFunction::relu ? relu(wide) : gelu(wide), weights.down, weights.down_bias);
}

/// The sum over a token's choices of gate times result, in the type of `rows`: (groups, tokens, width).
/// rows: (experts, places, width); place, is_kept, gates: (groups, top_k, tokens).
[[nodiscard]] TWILL_CONSTEXPR Value combined(Value rows, Value place, Value is_kept, Value gates, CallSite site) {
  const graph::Extents shape = rows.shape();
  const Value results = graph::take(graph::reshape(rows, {shape[0] * shape[1], shape[2]}, site), place, 0, site);
  const Value weighted = graph::cast(results, gates.dtype()) * graph::unsqueeze(gates, -1);
  return graph::cast(graph::sum(graph::where(graph::unsqueeze(is_kept, -1), weighted, 0.0), {1}), rows.dtype());
}

/// y, with the losses of its router unless they have no weight.
[[nodiscard]] TWILL_CONSTEXPR Value with_router_losses(Value y, Value auxiliary, const MixtureOptions& options,
                                                       CallSite site) {
  const bool has_losses = options.balance_weight != 0 || options.router_z_weight != 0;
  return has_losses ? auxiliary_loss(y, auxiliary, site) : y;
}

}}}}} // namespace twill::v0::nn::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace nn { inline namespace TWILL_ISA {

/// A mixture of feed-forward networks of `hidden` features. x and y: (groups, tokens, width). Weights: "router.weight",
/// "experts.up_weight", "experts.up_bias", "experts.down_weight", "experts.down_bias". Where a weight of the options'
/// losses is not zero, the model trains with `with_auxiliary_losses`.
/// errors: another rank, fewer experts than top_k, a capacity that is not positive, a number of tokens of a group that
/// is known only at run time
[[nodiscard]] TWILL_CONSTEXPR Value mixture_of_experts(Value x, std::int64_t experts, std::int64_t hidden,
                                                       std::string_view name, const MixtureOptions& options = {},
                                                       CallSite site = CallSite::here()) {
  if (!detail::can_route(x, experts, options, site)) return x;
  graph::Graph& graph = x.graph();
  const Scope scope{graph, name, site};
  const auto weight = [&](std::string_view own, std::initializer_list<std::int64_t> shape, Initialiser initial) {
    return parameter(graph, own, shape, initial, Trainable::yes, site);
  };
  const std::int64_t width = x.size(-1, site);
  const Value router = weight("router.weight", {experts, width}, detail::from_inputs(width));
  const detail::ExpertWeights weights = detail::declared_experts(experts, hidden, width, weight);
  const detail::Routing routing = detail::route(x, router, options, site);
  if (graph.fault.any()) return x;
  const Value rows = detail::of_experts(detail::dispatched(x, routing.token, site), weights, options.function, site);
  const Value y = detail::combined(rows, routing.place, routing.is_kept, routing.gates, site);
  return detail::with_router_losses(y, routing.auxiliary, options, site);
}

}}}} // namespace twill::v0::nn::TWILL_ISA
