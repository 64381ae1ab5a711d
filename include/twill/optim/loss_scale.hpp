#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Loss scaling for gradients in half precision (Micikevicius et al., 2018), as a rule of a rule: `train_step(model,
// loss, optim::loss_scaled(optim::AdamW{}))`. The scale, the count of steps since it changed and the count of skipped
// steps are states on the device, so a step never waits: gradients are divided by the scale, and if one of them is not
// finite the step leaves weights and all states of the wrapped rule unchanged. Read next: training/sources.hpp.

#include <twill/core/config.hpp>
#include <twill/optim/detail/sum_over_weights.hpp>
#include <twill/optim/options.hpp>
#include <twill/optim/update.hpp>

#include <utility>

namespace twill { inline namespace v0 { namespace optim { inline namespace TWILL_ISA {

/// Options of loss scaling: when the scale grows and shrinks.
struct LossScaleOptions {
  double initial = 65536;       ///< the scale at first
  double growth = 2;            ///< after `interval` steps without overflow
  double backoff = 0.5;         ///< after an overflow
  std::int64_t interval = 2000; ///< steps without overflow before it grows
};

/// The states of a loss scale, each a single number that `step.state(name)` reads.
inline constexpr std::string_view loss_scale_state = "loss_scale.scale";
inline constexpr std::string_view good_steps_state = "loss_scale.good_steps";       ///< since the scale changed
inline constexpr std::string_view skipped_steps_state = "loss_scale.skipped_steps"; ///< in total
inline constexpr std::string_view was_skipped_state = "loss_scale.was_skipped"; ///< one if the last step was, else zero

/// One while gradients still have the scale; a staged optimiser that has divided by it already sets zero.
inline constexpr std::string_view is_scaled_scalar = "loss_scale.is_scaled";

/// A rule that divides its gradients by a loss scale, and skips the step if they overflow.
template <LossScaleOptions Options, Rule R> class LossScaled : public R {
  static_assert(
      !requires(graph::Graph & graph) { R::declare(graph); },
      "twill: loss_scaled: the gradients are divided by a loss scale already; wrap the rule once");
  static_assert(Options.initial > 0 && Options.growth >= 1 && Options.backoff > 0 && Options.backoff < 1 &&
                    Options.interval > 0,
                "twill: loss_scaled: initial and interval are above 0, growth is at least 1, backoff lies in (0, 1)");

public:
  static constexpr LossScaleOptions loss_scale = Options; ///< how the scale changes

  /// The rule on scaled gradients; steps whose gradients overflow change nothing.
  explicit LossScaled(R rule) : R{std::move(rule)} {}

  /// Declares the states after the weights of a trace, before all others.
  static constexpr void declare(graph::Graph& graph) {
    const auto add = [&](std::string_view name, double initial) {
      const int state = graph.add_parameter(name, DType::float32, {}, {graph::Initialiser::Kind::constant, initial},
                                            graph::Role::optimiser_state, {});
      static_cast<void>(graph.settle(state, 0, {}));
    };
    add(loss_scale_state, Options.initial);
    add(good_steps_state, 0);
    add(skipped_steps_state, 0);
    add(was_skipped_state, 0);
  }

  /// The scale by which the loss's gradient is multiplied.
  [[nodiscard]] static constexpr Value scale(graph::Graph& graph) { return state(graph, loss_scale_state); }

  static constexpr void prepare(Updates& all) {
    graph::Graph& graph = *all.graph;
    const Value scale = state(graph, loss_scale_state);
    const Value good = state(graph, good_steps_state);
    const Value skipped = state(graph, skipped_steps_state);
    const Value factor = where(run_scalar(graph, is_scaled_scalar, 1, DType::float32) > 0, 1.0 / scale, 1.0);
    detail::SumOverWeights bad{};
    for (std::size_t i = 0; i < all.gradients.size(); ++i) {
      int& gradient = all.gradients[i];
      Value wide{graph, gradient};
      if (wide.dtype() != DType::float64) wide = cast(wide, DType::float32);
      wide = wide * cast(graph::beside(factor, wide.node()), wide.dtype());
      gradient = wide.id();
      if (all.not_finite.id() >= 0) continue;
      graph::Extents flat{};
      flat.append(wide.shape().elements());
      bad.add(graph, all.weights[i],
              all.of_one_weight([&] { return sum(reshape(cast(logical_not(isfinite(wide)), DType::float32), flat)); }));
    }
    all.keeps = (all.not_finite.id() >= 0 ? all.not_finite : all.over_all_elements(bad.value(graph))) > 0;
    all.skipped = skipped;
    const Value next_good = where(all.keeps, 0.0, good + 1.0);
    const Value grows = next_good >= static_cast<double>(Options.interval);
    const Value larger = scale * Options.growth;
    const Value grown = where(logical_and(grows, isfinite(larger)), larger, scale);
    graph.add_assign(scale.id(), where(all.keeps, scale * Options.backoff, grown).id());
    graph.add_assign(good.id(), where(grows, 0.0, next_good).id());
    graph.add_assign(skipped.id(), where(all.keeps, skipped + 1.0, skipped).id());
    const Value was_skipped = state(graph, was_skipped_state);
    graph.add_assign(was_skipped.id(), cast(all.keeps, DType::float32).id());
    if constexpr (requires { R::prepare(all); }) R::prepare(all);
  }
  /// Adds its options to a list: how the scale changes, which is fixed by the type, and those of the rule.
  void list_options(OptionList& list) {
    list.settle("loss_scale.growth", Options.growth);
    list.settle("loss_scale.backoff", Options.backoff);
    list.settle("loss_scale.interval", static_cast<double>(Options.interval));
    optim::list_options(static_cast<R&>(*this), list);
  }

private:
  [[nodiscard]] static constexpr Value state(graph::Graph& graph, std::string_view name) {
    for (const graph::ParameterInfo& info : graph.parameters)
      if (info.name.view() == name) return {graph, info.node};
    return {};
  }
};

/// A rule whose gradients carry a loss scale: 2^16, doubled after 2000 good steps, halved after an overflow, which
/// skips the step. Clipping belongs inside: `loss_scaled(clip_norm(rule, 1))`.
template <LossScaleOptions Options = LossScaleOptions{}, Rule R>
[[nodiscard]] LossScaled<Options, R> loss_scaled(R rule) {
  return LossScaled<Options, R>{std::move(rule)};
}

/// A rule that divides by a loss scale.
template <class R>
concept ScaledRule = Rule<R> && requires(graph::Graph& graph) {
  R::declare(graph);
  { R::scale(graph) } -> std::same_as<Value>;
};

/// Declares the states that a rule needs before the loss is differentiated.
template <Rule R> constexpr void declare_states(graph::Graph& graph) {
  if constexpr (ScaledRule<R>) R::declare(graph);
}

}}}} // namespace twill::v0::optim::TWILL_ISA
