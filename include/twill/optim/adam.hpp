#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Adam (Kingma and Ba, 2015) and AdamW (Loshchilov and Hutter, 2019). Formulas and defaults are those of torch.optim.
// Numbers shared by all elements are computed in double before the step, so one minus a rate near one keeps its digits.
// Read next: optim/lamb.hpp.

#include <twill/core/config.hpp>
#include <twill/optim/options.hpp>
#include <twill/optim/update.hpp>

#include <cmath>

namespace twill { inline namespace v0 { namespace optim { inline namespace TWILL_ISA {

/// Options of Adam, those of torch.optim.Adam.
struct AdamOptions {
  double rate = 1e-3;      ///< learning rate
  double beta1 = 0.9;      ///< how much of the mean gradient stays, in [0, 1)
  double beta2 = 0.999;    ///< how much of the mean square stays, in [0, 1)
  double epsilon = 1e-8;   ///< added to the root of the mean square
  double weight_decay = 0; ///< of the weight, added to its gradient
};

/// Options of AdamW, those of torch.optim.AdamW.
struct AdamWOptions {
  double rate = 1e-3;         ///< learning rate
  double beta1 = 0.9;         ///< how much of the mean gradient stays, in [0, 1)
  double beta2 = 0.999;       ///< how much of the mean square stays, in [0, 1)
  double epsilon = 1e-8;      ///< added to the root of the mean square
  double weight_decay = 1e-2; ///< times the rate, subtracted from the weight itself
};

}}}} // namespace twill::v0::optim::TWILL_ISA

namespace twill { inline namespace v0 { namespace optim { namespace detail { inline namespace TWILL_ISA {

enum class Largest : bool { no, yes };

template <class Options, Largest KeepsLargest = Largest::no> class AdamRule {
public:
  static constexpr std::array<std::string_view, 11> numbers{
      "adam.step_size", "adam.beta1", "adam.first_share", "adam.beta2", "adam.second_share", "adam.epsilon",
      "adam.scale",     "adam.decay", "adam.rate",        "adam.log1",  "adam.log2"};

  constexpr AdamRule() = default;
  /// throws: ValueError for a negative rate, epsilon or decay, or a beta outside [0, 1)
  constexpr explicit AdamRule(Options given) : options{given} {
    require_not_negative("adam", "rate", given.rate);
    require_not_negative("adam", "epsilon", given.epsilon);
    require_not_negative("adam", "weight_decay", given.weight_decay);
    require_fraction("adam", "beta1", given.beta1);
    require_fraction("adam", "beta2", given.beta2);
  }

  Options options{};

protected:
  /// Lists its options under the name of a rule.
  void list_as(std::string_view rule, OptionList& list) {
    list.settle("rule", rule);
    list.add("rate", options.rate, Allowed::not_negative);
    list.add("beta1", options.beta1, Allowed::fraction);
    list.add("beta2", options.beta2, Allowed::fraction);
    list.add("epsilon", options.epsilon, Allowed::not_negative);
    list.add("weight_decay", options.weight_decay, Allowed::not_negative);
  }

  /// `step_rate` is the part of the rate that multiplies the step itself.
  [[nodiscard]] std::array<double, 11> values(std::int64_t step, double decay, double step_rate) const {
    const double first = 1 - std::pow(options.beta1, static_cast<double>(step));
    const double second = 1 - std::pow(options.beta2, static_cast<double>(step));
    return {step_rate / first, options.beta1,           1 - options.beta1,      options.beta2,
            1 - options.beta2, options.epsilon,         1 / std::sqrt(second),  decay,
            step_rate,         std::log(options.beta1), std::log(options.beta2)};
  }

  /// m = b1 m + (1 - b1) g, v = b2 v + (1 - b2) g^2; step: rate / (1 - b1^t) * m / (sqrt(v) / sqrt(1 - b2^t) + epsilon)
  static constexpr Value step(Update& u, Value gradient) {
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
};

/// Adam with the weight decay in the gradient.
template <Largest KeepsLargest> class CoupledAdam : public AdamRule<AdamOptions, KeepsLargest> {
  using Base = AdamRule<AdamOptions, KeepsLargest>;

public:
  using Base::Base;

  static constexpr void update(Update& u) {
    const Value weight = u.weight();
    const Value gradient = u.gradient() + u.number("adam.decay") * weight;
    u.set_weight(weight - Base::step(u, gradient));
  }
  [[nodiscard]] std::array<double, 11> values(std::int64_t step) const {
    return Base::values(step, this->options.weight_decay, this->options.rate);
  }
  void list_options(OptionList& list) { Base::list_as(KeepsLargest == Largest::yes ? "amsgrad" : "adam", list); }
};

/// Adam whose weight decay shrinks the weight itself.
template <Largest KeepsLargest> class DecoupledAdam : public AdamRule<AdamWOptions, KeepsLargest> {
  using Base = AdamRule<AdamWOptions, KeepsLargest>;

public:
  using Base::Base;

  static constexpr void update(Update& u) {
    const Value kept = u.weight() * u.number("adam.decay");
    u.set_weight(kept - Base::step(u, u.gradient()));
  }
  [[nodiscard]] std::array<double, 11> values(std::int64_t step) const {
    return Base::values(step, 1 - this->options.rate * this->options.weight_decay, this->options.rate);
  }
  void list_options(OptionList& list) { Base::list_as(KeepsLargest == Largest::yes ? "amsgradw" : "adamw", list); }
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

}}}} // namespace twill::v0::optim::TWILL_ISA
