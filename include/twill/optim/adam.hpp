#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Adam (Kingma and Ba, 2015) and AdamW (Loshchilov and Hutter, 2019). Formulas and defaults are those of torch.optim. What
// is the same for every element is computed in double before the step, so one minus a rate near one keeps its digits.

#include <twill/core/config.hpp>
#include <twill/optim/update.hpp>

#include <cmath>

namespace twill::inline v0::optim::inline TWILL_ISA {

struct AdamOptions {
  double rate = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0;
};

struct AdamWOptions {
  double rate = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 1e-2;
};

} // namespace twill::inline v0::optim::inline TWILL_ISA

namespace twill::inline v0::optim::detail::inline TWILL_ISA {

template <class Options> class AdamRule {
public:
  static constexpr std::array<std::string_view, 8> numbers{"adam.step_size", "adam.beta1",        "adam.first_share",
                                                           "adam.beta2",     "adam.second_share", "adam.epsilon",
                                                           "adam.scale",     "adam.decay"};

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
  [[nodiscard]] std::array<double, 8> values(std::int64_t step, double decay) const {
    const double first = 1 - std::pow(options.beta1, static_cast<double>(step));
    const double second = 1 - std::pow(options.beta2, static_cast<double>(step));
    return {options.rate / first, options.beta1,   1 - options.beta1,     options.beta2,
            1 - options.beta2,    options.epsilon, 1 / std::sqrt(second), decay};
  }

  /// m = b1 m + (1 - b1) g, v = b2 v + (1 - b2) g^2; the step is rate / (1 - b1^t) * m / (sqrt(v) / sqrt(1 - b2^t) + epsilon)
  static constexpr Value step(Update& u, Value gradient) {
    const Value first = u.state("exp_avg");
    const Value second = u.state("exp_avg_sq");
    const Value next_first = u.number("adam.beta1") * first + u.number("adam.first_share") * gradient;
    const Value next_second = u.number("adam.beta2") * second + u.number("adam.second_share") * (gradient * gradient);
    u.set_state(first, next_first);
    u.set_state(second, next_second);
    return u.number("adam.step_size") * next_first /
           (sqrt(next_second) * u.number("adam.scale") + u.number("adam.epsilon"));
  }
};

} // namespace twill::inline v0::optim::detail::inline TWILL_ISA

namespace twill::inline v0::optim::inline TWILL_ISA {

/// Weight decay is added to the gradient. Two states per weight.
class Adam : public detail::AdamRule<AdamOptions> {
public:
  using AdamRule::AdamRule;

  static constexpr void update(Update& u) {
    const Value weight = u.weight();
    const Value gradient = u.gradient() + u.number("adam.decay") * weight;
    u.set_weight(weight - step(u, gradient));
  }
  [[nodiscard]] std::array<double, 8> values(std::int64_t step) const {
    return AdamRule::values(step, options.weight_decay);
  }
};

/// Weight decay shrinks the weight itself. Two states per weight.
class AdamW : public detail::AdamRule<AdamWOptions> {
public:
  using AdamRule::AdamRule;

  static constexpr void update(Update& u) {
    const Value kept = u.weight() * u.number("adam.decay");
    u.set_weight(kept - step(u, u.gradient()));
  }
  [[nodiscard]] std::array<double, 8> values(std::int64_t step) const {
    return AdamRule::values(step, 1 - options.rate * options.weight_decay);
  }
};

} // namespace twill::inline v0::optim::inline TWILL_ISA
