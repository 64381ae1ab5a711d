#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Losses of a prediction and a target of one shape. Each is one elementwise formula and a reduction over all elements,
// so it fuses into one kernel with the operations before it. Read next: training/train_step.hpp.

#include <twill/core/config.hpp>
#include <twill/nn/losses/loss.hpp>

namespace twill { inline namespace v0 { namespace nn { inline namespace TWILL_ISA {

/// Options of a loss: the reduction of the elements' losses.
struct LossOptions {
  Reduce reduce = Reduce::mean; ///< mean, sum or none
};
/// Options of a smooth L1 loss: the distance at which it becomes linear.
struct SmoothL1Options {
  double beta = 1;              ///< below it the loss is a parabola
  Reduce reduce = Reduce::mean; ///< mean, sum or none
};
/// Options of a Huber loss: the distance at which it becomes linear.
struct HuberOptions {
  double delta = 1;             ///< below it the loss is a parabola
  Reduce reduce = Reduce::mean; ///< mean, sum or none
};

}}}} // namespace twill::v0::nn::TWILL_ISA

namespace twill { inline namespace v0 { namespace nn { namespace detail { inline namespace TWILL_ISA {

[[nodiscard]] TWILL_CONSTEXPR graph::Value difference(graph::Value prediction, graph::Value target) {
  require_equal_ranks(prediction, target);
  return widened(prediction) - widened(target);
}

struct MeanSquaredErrorFormula {
  [[nodiscard]] constexpr graph::Value operator()(graph::Value prediction, graph::Value target,
                                                  LossOptions options = {}) const {
    const Naming naming{prediction, "mse"};
    return reduced(graph::square(difference(prediction, target)), options.reduce);
  }
};

struct MeanAbsoluteErrorFormula {
  [[nodiscard]] constexpr graph::Value operator()(graph::Value prediction, graph::Value target,
                                                  LossOptions options = {}) const {
    const Naming naming{prediction, "l1"};
    return reduced(graph::abs(difference(prediction, target)), options.reduce);
  }
};

struct HuberFormula {
  // d^2 / 2 where |d| < delta, delta (|d| - delta / 2) elsewhere
  [[nodiscard]] constexpr graph::Value operator()(graph::Value prediction, graph::Value target,
                                                  HuberOptions options = {}) const {
    const Naming naming{prediction, "huber"};
    if (!(options.delta > 0))
      prediction.graph().refuse(graph::Problem::huber_delta_is_not_positive, graph::shown_as_integer(options.delta), 0,
                                {});
    const graph::Value d = difference(prediction, target);
    const graph::Value size = graph::abs(d);
    return reduced(
        graph::where(size < options.delta, graph::square(d) * 0.5, (size - options.delta / 2) * options.delta),
        options.reduce);
  }
};

struct SmoothL1Formula {
  // d^2 / (2 beta) where |d| < beta, |d| - beta / 2 elsewhere
  [[nodiscard]] constexpr graph::Value operator()(graph::Value prediction, graph::Value target,
                                                  SmoothL1Options options = {}) const {
    const Naming naming{prediction, "smooth_l1"};
    if (!(options.beta >= 0))
      prediction.graph().refuse(graph::Problem::smooth_l1_beta_is_negative, graph::shown_as_integer(options.beta), 0,
                                {});
    const graph::Value d = difference(prediction, target);
    const graph::Value size = graph::abs(d);
    if (options.beta == 0) return reduced(size, options.reduce);
    return reduced(graph::where(size < options.beta, graph::square(d) * (0.5 / options.beta), size - options.beta / 2),
                   options.reduce);
  }
};

}}}}} // namespace twill::v0::nn::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace nn { inline namespace TWILL_ISA {

/// (prediction - target)^2.
inline constexpr Loss<detail::MeanSquaredErrorFormula> mse{};

/// |prediction - target|.
inline constexpr Loss<detail::MeanAbsoluteErrorFormula> l1{};

/// Quadratic up to a distance of delta, linear beyond (Huber, 1964).
inline constexpr Loss<detail::HuberFormula> huber{};

/// Huber's loss divided by its width beta; beta 0 is the distance itself.
inline constexpr Loss<detail::SmoothL1Formula> smooth_l1{};

}}}} // namespace twill::v0::nn::TWILL_ISA
