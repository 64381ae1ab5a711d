#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Adam (Kingma and Ba, 2015), AdamW (Loshchilov and Hutter, 2019) and LAMB (You et al., 2020, algorithm 2): Adam's step
// scaled for each weight by its own norm over the step's. Formulas and defaults are those of torch.optim. Numbers
// shared by all elements are computed in double before the step, so one minus a rate near one keeps its digits. Read
// next: optim/groups.hpp.

#include <twill/core/config.hpp>
#include <twill/optim/options.hpp>
#include <twill/optim/update.hpp>

#include <array>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace twill { inline namespace v0 { namespace optim { inline namespace TWILL_ISA {

/// Options of Adam, those of torch.optim.Adam.
struct AdamOptions {
  double rate = 1e-3;      ///< learning rate
  RateNotLr lr{};          ///< does not compile: say `rate`
  double beta1 = 0.9;      ///< how much of the mean gradient stays, in [0, 1)
  double beta2 = 0.999;    ///< how much of the mean square stays, in [0, 1)
  double epsilon = 1e-8;   ///< added to the root of the mean square
  double weight_decay = 0; ///< of the weight, added to its gradient
};

/// Options of AdamW, those of torch.optim.AdamW.
struct AdamWOptions {
  double rate = 1e-3;         ///< learning rate
  RateNotLr lr{};             ///< does not compile: say `rate`
  double beta1 = 0.9;         ///< how much of the mean gradient stays, in [0, 1)
  double beta2 = 0.999;       ///< how much of the mean square stays, in [0, 1)
  double epsilon = 1e-8;      ///< added to the root of the mean square
  double weight_decay = 1e-2; ///< times the rate, subtracted from the weight itself
};

}}}} // namespace twill::v0::optim::TWILL_ISA

namespace twill { inline namespace v0 { namespace optim { namespace detail { inline namespace TWILL_ISA {

enum class Largest : bool { no, yes };

/// Whether weight decay shrinks the weight itself: no part of the gradient or of the step.
template <class Options> inline constexpr bool decays_weights = std::is_same_v<Options, AdamWOptions>;
/// Whether the rate multiplies the step only after a later part of the rule.
template <class Options> inline constexpr bool scales_later = false;

/// Names and numbers of the rules with Adam's options. `rate` is the part of the rate that multiplies the step itself,
/// `decay` a factor of the weight.
template <class O> struct AdamLists {
  using Options = O;
  static constexpr std::array<OptionMember<O>, 5> options{{{"rate", &O::rate},
                                                           {"beta1", &O::beta1, Allowed::fraction},
                                                           {"beta2", &O::beta2, Allowed::fraction},
                                                           {"epsilon", &O::epsilon},
                                                           {"weight_decay", &O::weight_decay}}};

  static double rate(const O& o, std::int64_t) { return scales_later<O> ? 1 : o.rate; }
  static double decay(const O& o, std::int64_t) {
    return decays_weights<O> ? 1 - o.rate * o.weight_decay : o.weight_decay;
  }
  static double first_share(const O& o, std::int64_t) { return 1 - o.beta1; }
  static double second_share(const O& o, std::int64_t) { return 1 - o.beta2; }
  static double step_size(const O& o, std::int64_t step) {
    return rate(o, step) / (1 - std::pow(o.beta1, static_cast<double>(step)));
  }
  static double scale(const O& o, std::int64_t step) {
    return 1 / std::sqrt(1 - std::pow(o.beta2, static_cast<double>(step)));
  }
  static double log1(const O& o, std::int64_t) { return std::log(o.beta1); }
  static double log2(const O& o, std::int64_t) { return std::log(o.beta2); }
  static constexpr std::array<RuleNumber<O>, 11> numbers{{{"adam.step_size", step_size},
                                                          {"adam.beta1", &O::beta1},
                                                          {"adam.first_share", first_share},
                                                          {"adam.beta2", &O::beta2},
                                                          {"adam.second_share", second_share},
                                                          {"adam.epsilon", &O::epsilon},
                                                          {"adam.scale", scale},
                                                          {"adam.decay", decay},
                                                          {"adam.rate", rate},
                                                          {"adam.log1", log1},
                                                          {"adam.log2", log2}}};
};
template <Largest KeepsLargest> struct CoupledAdamLists : AdamLists<AdamOptions> {
  static constexpr std::string_view rule = KeepsLargest == Largest::yes ? "amsgrad" : "adam";
};
template <Largest KeepsLargest> struct DecoupledAdamLists : AdamLists<AdamWOptions> {
  static constexpr std::string_view rule = KeepsLargest == Largest::yes ? "amsgradw" : "adamw";
};

/// m = b1 m + (1 - b1) g, v = b2 v + (1 - b2) g^2; step: rate / (1 - b1^t) * m / (sqrt(v) / sqrt(1 - b2^t) + epsilon)
template <Largest KeepsLargest> constexpr Value adam_step(Update& u, Value gradient) {
  const Value first = u.state("exp_avg");
  const Value second = u.state("exp_avg_sq");
  const Value next_first = u.number("adam.beta1") * first + u.number("adam.first_share") * gradient;
  Value next_second = u.number("adam.beta2") * second + u.number("adam.second_share") * (gradient * gradient);
  u.set_state(first, next_first);
  u.set_state(second, next_second);
  if (KeepsLargest == Largest::yes) {
    const Value largest = u.state("max_exp_avg_sq");
    next_second = maximum(largest, next_second);
    u.set_state(largest, next_second);
  }
  if (!u.may_skip())
    return u.number("adam.step_size") * next_first /
           (sqrt(next_second) * u.number("adam.scale") + u.number("adam.epsilon"));
  // Only the device knows t: 1 - b^t = -expm1(t log b).
  const Value first_share = -expm1(u.step() * u.number("adam.log1"));
  const Value second_share = -expm1(u.step() * u.number("adam.log2"));
  return u.number("adam.rate") / first_share * next_first /
         (sqrt(next_second) * rsqrt(second_share) + u.number("adam.epsilon"));
}

/// Adam with the weight decay in the gradient.
template <Largest KeepsLargest> class CoupledAdam : public ListedRule<CoupledAdamLists<KeepsLargest>> {
public:
  using ListedRule<CoupledAdamLists<KeepsLargest>>::ListedRule;

  static constexpr void update(Update& u) {
    const Value weight = u.weight();
    const Value gradient = u.gradient() + u.number("adam.decay") * weight;
    u.set_weight(weight - adam_step<KeepsLargest>(u, gradient));
  }
};

/// Adam whose weight decay shrinks the weight itself.
template <Largest KeepsLargest> class DecoupledAdam : public ListedRule<DecoupledAdamLists<KeepsLargest>> {
public:
  using ListedRule<DecoupledAdamLists<KeepsLargest>>::ListedRule;

  static constexpr void update(Update& u) {
    const Value kept = u.weight() * u.number("adam.decay");
    u.set_weight(kept - adam_step<KeepsLargest>(u, u.gradient()));
  }
};

}}}}} // namespace twill::v0::optim::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace optim { inline namespace TWILL_ISA {

/// Weight decay is added to the gradient. Two states per weight.
class Adam : public detail::CoupledAdam<detail::Largest::no> {
public:
  using CoupledAdam::CoupledAdam;
};

/// Weight decay shrinks the weight itself. Two states per weight.
class AdamW : public detail::DecoupledAdam<detail::Largest::no> {
public:
  using DecoupledAdam::DecoupledAdam;
};

/// Adam that divides by the largest mean of squares so far (Reddi et al., 2018), PyTorch's amsgrad. Keeps three states.
class AmsGrad : public detail::CoupledAdam<detail::Largest::yes> {
public:
  using CoupledAdam::CoupledAdam;
};

/// AdamW that divides by the largest mean of squares so far. Three states per weight.
class AmsGradW : public detail::DecoupledAdam<detail::Largest::yes> {
public:
  using DecoupledAdam::DecoupledAdam;
};

/// Options of LAMB (You et al., 2020).
struct LambOptions {
  double rate = 1e-3;      ///< learning rate
  RateNotLr lr{};          ///< does not compile: say `rate`
  double beta1 = 0.9;      ///< how much of the mean gradient stays, in [0, 1)
  double beta2 = 0.999;    ///< how much of the mean square stays, in [0, 1)
  double epsilon = 1e-6;   ///< added to the root of the mean square
  double weight_decay = 0; ///< of the weight, added to the step
};

}}}} // namespace twill::v0::optim::TWILL_ISA

namespace twill { inline namespace v0 { namespace optim { namespace detail { inline namespace TWILL_ISA {

template <> inline constexpr bool scales_later<LambOptions> = true;

struct LambLists : AdamLists<LambOptions> {
  static constexpr std::string_view rule = "lamb";
  static constexpr auto numbers =
      joined(AdamLists::numbers, std::array<RuleNumber<Options>, 1>{{{"lamb.rate", &Options::rate}}});
};

}}}}} // namespace twill::v0::optim::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace optim { inline namespace TWILL_ISA {

/// w -= rate * |w| / |u| * u with Adam's step u = m / (sqrt(v) + epsilon) + weight_decay * w, m and v without bias; the
/// ratio is one where a norm is zero. Two states per weight.
class Lamb : public detail::ListedRule<detail::LambLists> {
public:
  using ListedRule::ListedRule;

  static TWILL_CONSTEXPR void update(Update& u) {
    const Value weight = u.weight();
    const Value step = detail::adam_step<detail::Largest::no>(u, u.gradient()) + u.number("adam.decay") * weight;
    const Value length = sqrt(u.sum_of_squares(weight));
    const Value step_length = sqrt(u.sum_of_squares(step));
    const Value ratio = where(logical_and(length > 0, step_length > 0), length / step_length, 1.0);
    u.set_weight(weight - u.number("lamb.rate") * ratio * step);
  }
};

}}}} // namespace twill::v0::optim::TWILL_ISA
