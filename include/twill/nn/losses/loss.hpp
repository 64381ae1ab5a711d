#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Losses as stateless functions of traced values. A loss is passed to `train_step`, called on the result of `forward`,
// or called inside a traced function, where it takes options. A loss with other options is a lambda: `nn::loss([](auto
// x, auto y) { return nn::cross_entropy(x, y, {.label_smoothing = 0.1}); })`. Definitions and divisors are PyTorch's;
// half precision is computed in float32. Read next: nn/losses/classification.hpp.

#include <twill/core/config.hpp>
#include <twill/nn/activations.hpp>

#include <concepts>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace twill { inline namespace v0 { namespace nn { inline namespace TWILL_ISA {

/// Reduction of the losses: their mean, their sum, or none, so that each sample keeps its own.
enum class Reduce : std::uint8_t { mean, sum, none };

}}}} // namespace twill::v0::nn::TWILL_ISA

namespace twill { inline namespace v0 { namespace nn { namespace detail { inline namespace TWILL_ISA {

/// A traced value for each argument of a loss. A class: nvcc loses the pack in an alias that ignores its argument.
template <class> struct TracedArgument { using type = graph::Value; };

/// The options of a formula of prediction, target and options; a type of no use where there are none.
struct NoOptions {
  NoOptions() = delete;
};
template <class> struct OptionsOf { using type = NoOptions; };
template <class F, class O> struct OptionsOf<graph::Value (F::*)(graph::Value, graph::Value, O) const> {
  using type = std::conditional_t<std::derived_from<O, graph::Value>, NoOptions, O>;
};
template <class Formula> struct FormulaOptions { using type = NoOptions; };
template <class Formula>
requires requires { &Formula::operator(); }
struct FormulaOptions<Formula> : OptionsOf<decltype(&Formula::operator())> {};

}}}}} // namespace twill::v0::nn::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace nn { inline namespace TWILL_ISA {

/// A loss from its formula on traced values.
template <class Formula> struct Loss : Formula {
  using Formula::operator();

  /// The loss of a result of a network's `forward`, as one more stage; of plain tensors a tensor. See nn/tracked.hpp.
  template <class Prediction, class... Targets>
  requires(!std::derived_from<Prediction, graph::Value>) [[nodiscard]] auto
  operator()(const Prediction& prediction, const Targets&... targets) const {
    constexpr bool counts =
        std::is_invocable_v<const Formula&, graph::Value, typename detail::TracedArgument<Targets>::type...>;
    static_assert(counts, "twill: loss: this loss takes another number of targets after the prediction");
    if constexpr (counts) {
      constexpr bool takes = requires { apply(*this, prediction, targets...); };
      static_assert(takes,
                    "twill: loss: a loss takes the result of a network's forward, or a tensor, and then tensors; "
                    "evaluate an expression first: const Tensor y = ...;");
      if constexpr (takes) return apply(*this, prediction, targets...);
    }
  }
  /// Does not compile: outside of traced functions options are part of the loss.
  template <class Prediction, class Target>
  requires(!std::derived_from<Prediction, graph::Value>) Prediction
  operator()(const Prediction& prediction, const Target&, const typename detail::FormulaOptions<Formula>::type&) const {
    static_assert(sizeof(Prediction) == 0,
                  "twill: loss: a loss with options is a lambda, nn::loss([](auto y, auto target) { return "
                  "nn::cross_entropy(y, target, {.label_smoothing = 0.1}); })");
    return prediction;
  }
};

}}}} // namespace twill::v0::nn::TWILL_ISA

namespace twill { inline namespace v0 { namespace nn { namespace detail { inline namespace TWILL_ISA {

/// The formula of a captureless lambda.
template <class F> struct LambdaFormula {
  template <std::derived_from<graph::Value>... Values>
  requires std::invocable<F, const Values&...>
  [[nodiscard]] constexpr graph::Value operator()(const Values&... values) const { return F{}(values...); }
};

using graph::widened; // losses are computed in float32 at least

[[nodiscard]] TWILL_CONSTEXPR graph::Value reduced(graph::Value losses, Reduce reduce) {
  if (reduce == Reduce::none) return losses;
  return reduce == Reduce::mean ? graph::mean(losses) : graph::sum(losses);
}

/// Names the loss in the faults of what is traced during its life.
class Naming {
public:
  constexpr Naming(graph::Value value, std::string_view loss) : graph_{&value.graph()} { graph_->loss = loss; }
  constexpr ~Naming() { graph_->loss = {}; }
  Naming(const Naming&) = delete;
  Naming& operator=(const Naming&) = delete;

private:
  graph::Graph* graph_;
};

/// Refuses two values of different ranks, which would broadcast.
TWILL_CONSTEXPR void require_equal_ranks(graph::Value prediction, graph::Value target) {
  if (prediction.rank() != target.rank())
    prediction.graph().refuse(graph::Problem::loss_shapes_differ, prediction.rank(), target.rank(), {});
}

}}}}} // namespace twill::v0::nn::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace nn { inline namespace TWILL_ISA {

/// A loss from a captureless lambda of traced values: the prediction, then the targets.
template <class F> [[nodiscard]] constexpr Loss<detail::LambdaFormula<F>> loss(F) {
  static_assert(std::is_empty_v<F>, "twill: loss: a loss is a function without captures; what it needs besides "
                                    "prediction and targets is a further target");
  return {};
}

}}}} // namespace twill::v0::nn::TWILL_ISA
