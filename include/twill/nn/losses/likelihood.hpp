#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Negative log-likelihoods of counts and of numbers with predicted variance, and the focal loss of rare classes.
// Definitions and defaults are PyTorch's, those of the focal loss torchvision's except for its reduction.
// Not in twill.hpp. Read next: nn/losses/classification.hpp.

#include <twill/core/config.hpp>
#include <twill/nn/losses/classification.hpp>
#include <twill/nn/losses/loss.hpp>

#include <numbers>

namespace twill { inline namespace v0 { namespace nn { inline namespace TWILL_ISA {

/// Options of the likelihood of counts.
struct PoissonNllOptions {
  bool log_input = true;        ///< whether the prediction is the logarithm of the rate
  bool is_full = false;         ///< whether Stirling's approximation of log(target!) is added, for targets above 1
  double epsilon = 1e-8;        ///< added to a rate before its logarithm
  Reduce reduce = Reduce::mean; ///< mean, sum or none
};
/// Options of the likelihood of a normal distribution.
struct GaussianNllOptions {
  bool is_full = false;         ///< whether the constant log(2 pi) / 2 is added
  double epsilon = 1e-6;        ///< the least variance
  Reduce reduce = Reduce::mean; ///< mean, sum or none
};
/// Options of the focal loss.
struct FocalOptions {
  double alpha = 0.25;          ///< weight of positives, 1 - alpha of negatives; negative: no weights
  double gamma = 2;             ///< how strongly well predicted elements lose weight
  Reduce reduce = Reduce::mean; ///< mean, sum or none; torchvision's default is none
};

}}}} // namespace twill::v0::nn::TWILL_ISA

namespace twill { inline namespace v0 { namespace nn { namespace detail { inline namespace TWILL_ISA {

struct PoissonNllFormula {
  // exp(x) - t x, or x - t log(x + epsilon); full: + t log t - t + log(2 pi t) / 2 where t > 1
  [[nodiscard]] constexpr graph::Value operator()(graph::Value prediction, graph::Value target,
                                                  PoissonNllOptions options = {}) const {
    const Naming naming{prediction, "poisson_nll"};
    require_equal_ranks(prediction, target);
    const graph::Value x = widened(prediction), t = graph::cast(target, x.dtype());
    graph::Value losses = options.log_input ? graph::exp(x) - t * x : x - t * graph::log(x + options.epsilon);
    if (options.is_full) {
      const graph::Value above = t > 1;
      const graph::Value count = graph::where(above, t, 1.0); // no logarithm of 0, nor its slope
      const graph::Value stirling =
          count * graph::log(count) - count + graph::log(count * (2 * std::numbers::pi)) * 0.5;
      losses = losses + graph::where(above, stirling, 0.0);
    }
    return reduced(losses, options.reduce);
  }
};

struct GaussianNllFormula {
  // (log v + (x - t)^2 / v) / 2 with v = max(variance, epsilon), whose slope is 1
  [[nodiscard]] constexpr graph::Value operator()(graph::Value prediction, graph::Value target, graph::Value variance,
                                                  GaussianNllOptions options = {}) const {
    const Naming naming{prediction, "gaussian_nll"};
    require_equal_ranks(prediction, target);
    graph::Value given = widened(variance);
    if (given.rank() + 1 == prediction.rank()) given = graph::unsqueeze(given, -1); // one for each row
    require_equal_ranks(prediction, given);
    const graph::Value v =
        graph::where(given < options.epsilon, given - graph::stop_gradient(given) + options.epsilon, given);
    graph::Value losses = (graph::log(v) + graph::square(widened(prediction) - widened(target)) / v) * 0.5;
    if (options.is_full) losses = losses + 0.91893853320467274178; // log(2 pi) / 2
    return reduced(losses, options.reduce);
  }
};

struct FocalFormula {
  // bce (1 - p_t)^gamma, p_t being the probability of the target; weighted by alpha or 1 - alpha
  [[nodiscard]] constexpr graph::Value operator()(graph::Value logits, graph::Value target,
                                                  FocalOptions options = {}) const {
    const graph::Value x = widened(logits), t = graph::cast(target, x.dtype());
    const graph::Value entropy = BinaryCrossEntropyFormula{}(x, t, {.reduce = Reduce::none});
    const Naming naming{logits, "focal"};
    const graph::Value p = graph::sigmoid(x);
    const graph::Value other = p * (1.0 - t) + (1.0 - p) * t; // 1 - p_t
    graph::Value losses = entropy * graph::power(other, options.gamma);
    if (options.alpha >= 0) losses = losses * (t * options.alpha + (1.0 - t) * (1 - options.alpha));
    return reduced(losses, options.reduce);
  }
};

}}}}} // namespace twill::v0::nn::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace nn { inline namespace TWILL_ISA {

/// The negative log-likelihood of counts: exp(x) - t x for the logarithm x of the predicted rate.
inline constexpr Loss<detail::PoissonNllFormula> poisson_nll{};

/// (log v + (x - t)^2 / v) / 2 for a predicted mean x and variance v, of x's shape or one for each row.
inline constexpr Loss<detail::GaussianNllFormula> gaussian_nll{};

/// Binary cross entropy of sigmoid(logits) that weights hard elements more (Lin et al., 2017). target: in [0, 1].
inline constexpr Loss<detail::FocalFormula> focal{};

}}}} // namespace twill::v0::nn::TWILL_ISA
