#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// What an update rule is written against: one weight, its gradient and its state as traced values. The same rule becomes
// the staged `step()` and the tail of a planned training step, and fuses into one pass over each weight. Rates and the
// like are run-time numbers. Read next: optim/sgd.hpp.

#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/graph/operators.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace twill::inline v0::optim::inline TWILL_ISA {

using graph::Value;

/// One weight under update. Arithmetic is in float32 for half-precision weights, else in the weight's own type.
class Update {
public:
  constexpr Update(graph::Graph& graph, int weight, int gradient)
      : graph_{&graph}, weight_{weight}, gradient_{gradient} {}

  [[nodiscard]] constexpr DType compute_dtype() const {
    return graph_->node(weight_).dtype == DType::float64 ? DType::float64 : DType::float32;
  }
  [[nodiscard]] constexpr Value weight() const { return cast(Value{*graph_, weight_}, compute_dtype()); }
  [[nodiscard]] constexpr Value gradient() const { return cast(Value{*graph_, gradient_}, compute_dtype()); }

  /// A tensor of the weight's shape that lasts from step to step and starts at zero.
  [[nodiscard]] constexpr Value state(std::string_view name) {
    const graph::Node weight = graph_->node(weight_);
    graph::Name full = graph_->parameters[static_cast<std::size_t>(weight.index)].name;
    full.append(".");
    full.append(name);
    return {*graph_,
            graph_->add_parameter(full.view(), compute_dtype(), weight.shape, {}, graph::Role::optimiser_state, 0)};
  }

  /// A number that the rule sets before each step.
  [[nodiscard]] constexpr Value number(std::string_view name) { return knob(*graph_, name, 0, compute_dtype()); }
  [[nodiscard]] constexpr Value flag(std::string_view name) { return knob(*graph_, name, 0, DType::boolean); }

  constexpr void set_state(Value state, Value value) { graph_->add_assign(state.id(), value.id()); }
  constexpr void set_weight(Value value) { graph_->add_assign(weight_, cast(value, graph_->node(weight_).dtype).id()); }

private:
  graph::Graph* graph_;
  int weight_;
  int gradient_;
};

} // namespace twill::inline v0::optim::inline TWILL_ISA

namespace twill::inline v0::optim::detail::inline TWILL_ISA {

constexpr void require_not_negative(std::string_view rule, std::string_view option, double value) {
  if (!(value >= 0))
    throw ValueError(std::string{rule} + ": " + std::string{option} + " must not be negative, got " +
                     std::to_string(value));
}
constexpr void require_fraction(std::string_view rule, std::string_view option, double value) {
  if (!(value >= 0 && value < 1))
    throw ValueError(std::string{rule} + ": " + std::string{option} + " must lie in [0, 1), got " +
                     std::to_string(value));
}

} // namespace twill::inline v0::optim::detail::inline TWILL_ISA

namespace twill::inline v0::optim::inline TWILL_ISA {

/// A rule says how one weight changes, and which run-time numbers it needs before step t = 1, 2, ….
template <class R>
concept Rule = requires(const R& rule, Update& update, std::int64_t step) {
  R::update(update);
  { R::numbers.size() } -> std::convertible_to<std::size_t>;
  { rule.values(step) } -> std::same_as<std::array<double, R::numbers.size()>>;
};

/// Applies a rule to all trainable weights of a graph, given their gradients in order.
template <class R>
constexpr void update_all(graph::Graph& graph, std::span<const int> weights, std::span<const int> gradients) {
  for (std::size_t i = 0; i < weights.size(); ++i) {
    Update update{graph, weights[i], gradients[i]};
    R::update(update);
  }
}

} // namespace twill::inline v0::optim::inline TWILL_ISA
