#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Gradient clipping, as rules of rules: `optim::clip_norm(optim::AdamW{}, 1.0)`. It runs in the graph, over all weights
// together, after gradients of replicas or micro-batches have been summed and divided by a loss scale. The wrapped
// rule's options keep their place: `step.rule.options.rate`. Read next: optim/groups.hpp.

#include <twill/core/config.hpp>
#include <twill/optim/detail/sum_over_weights.hpp>
#include <twill/optim/options.hpp>
#include <twill/optim/update.hpp>

#include <utility>

namespace twill { inline namespace v0 { namespace optim { namespace detail { inline namespace TWILL_ISA {

/// Whether a rule's gradients carry no loss scale.
template <class R> inline constexpr bool takes_plain_gradients = !requires(graph::Graph & graph) { R::declare(graph); };

}}}}} // namespace twill::v0::optim::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace optim { inline namespace TWILL_ISA {

/// The state that holds the norm of all gradients before the last clipping.
inline constexpr std::string_view gradient_norm_state = "clip.gradient_norm";

/// Scales all gradients so that their common norm is at most `max_norm`.
template <Rule R> class ClipNorm : public R {
  static_assert(
      detail::takes_plain_gradients<R>,
      "twill: clip: gradients are clipped after the loss scale is gone; write loss_scaled(clip_norm(rule, norm))");

public:
  static constexpr auto numbers = detail::joined(std::array<std::string_view, 1>{"clip.max_norm"}, R::numbers);

  /// throws: ValueError for a negative norm
  ClipNorm(R rule, double norm) : R{std::move(rule)}, max_norm{norm} {
    detail::require_allowed("clip_norm", "max_norm", norm, Allowed::not_negative);
  }

  static constexpr void prepare(Updates& all) {
    graph::Graph& graph = *all.graph;
    if (all.weights.empty()) return;
    const bool is_wide = graph.node(all.gradients[0]).dtype == DType::float64;
    const DType dtype = is_wide ? DType::float64 : DType::float32;
    detail::SumOverWeights total{};
    for (std::size_t i = 0; i < all.gradients.size() && all.sum_of_squares.id() < 0; ++i)
      total.add(graph, all.weights[i], all.of_one_weight([&] {
        return cast(optim::sum_of_squares({graph, all.gradients[i]}), dtype);
      }));
    const Value norm =
        sqrt(all.sum_of_squares.id() >= 0 ? all.sum_of_squares : all.over_all_elements(total.value(graph)));
    const Value kept{graph, graph.add_parameter(gradient_norm_state, dtype, {}, {}, graph::Role::optimiser_state, {})};
    graph.add_assign(kept.id(), norm.id());
    // min(1, max_norm / (norm + 1e-6)), always multiplied
    const Value factor = minimum(run_scalar(graph, "clip.max_norm", 0, dtype) / (norm + 1e-6), 1.0);
    for (int& gradient : all.gradients) {
      const Value wide = cast(Value{graph, gradient}, dtype);
      gradient = (wide * graph::beside(factor, wide.node())).id();
    }
    if constexpr (requires { R::prepare(all); }) R::prepare(all);
  }
  [[nodiscard]] auto values(std::int64_t step) const {
    return detail::joined(std::array<double, 1>{max_norm}, R::values(step));
  }
  /// Adds its options to a list.
  void list_options(OptionList& list) {
    list.add("clip.max_norm", max_norm, Allowed::not_negative);
    optim::list_options(static_cast<R&>(*this), list);
  }

  double max_norm; ///< of all gradients together
};

/// Clips each element of the gradients to [-max_value, max_value].
template <Rule R> class ClipValue : public R {
  static_assert(
      detail::takes_plain_gradients<R>,
      "twill: clip: gradients are clipped after the loss scale is gone; write loss_scaled(clip_norm(rule, norm))");

public:
  static constexpr auto numbers = detail::joined(std::array<std::string_view, 1>{"clip.max_value"}, R::numbers);

  /// throws: ValueError for a negative value
  ClipValue(R rule, double value) : R{std::move(rule)}, max_value{value} {
    detail::require_allowed("clip_value", "max_value", value, Allowed::not_negative);
  }

  static constexpr void prepare(Updates& all) {
    for (int& gradient : all.gradients) {
      const Value g{*all.graph, gradient};
      const Value most = run_scalar(*all.graph, "clip.max_value", 0, g.dtype());
      gradient = clamp(g, -most, most).id();
    }
    if constexpr (requires { R::prepare(all); }) R::prepare(all);
  }
  [[nodiscard]] auto values(std::int64_t step) const {
    return detail::joined(std::array<double, 1>{max_value}, R::values(step));
  }
  /// Adds its options to a list.
  void list_options(OptionList& list) {
    list.add("clip.max_value", max_value, Allowed::not_negative);
    optim::list_options(static_cast<R&>(*this), list);
  }

  double max_value; ///< of each element of a gradient
};

/// A rule whose gradients are scaled to a common norm; the norm itself is `step.state("clip.gradient_norm")`.
template <Rule R> [[nodiscard]] ClipNorm<R> clip_norm(R rule, double max_norm) { return {std::move(rule), max_norm}; }

/// A rule whose gradients are clipped element by element.
template <Rule R> [[nodiscard]] ClipValue<R> clip_value(R rule, double max_value) {
  return {std::move(rule), max_value};
}

}}}} // namespace twill::v0::optim::TWILL_ISA
