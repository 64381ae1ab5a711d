#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Adam (Kingma and Ba, 2015) and AdamW (Loshchilov and Hutter, 2019). Formulas and defaults are those of torch.optim.

#include <twill/optim/update.hpp>

namespace twill::inline v0::optim {

struct AdamOptions {
  float rate = 1e-3f;
  float beta1 = 0.9f;
  float beta2 = 0.999f;
  float epsilon = 1e-8f;
  float weight_decay = 0;
};

struct AdamWOptions {
  float rate = 1e-3f;
  float beta1 = 0.9f;
  float beta2 = 0.999f;
  float epsilon = 1e-8f;
  float weight_decay = 1e-2f;
};

namespace detail {

/// base^exponent by squaring; exact enough in double for any number of steps.
[[nodiscard]] constexpr double integer_power(double base, std::int64_t exponent) {
  double result = 1;
  for (; exponent > 0; exponent /= 2, base *= base)
    if (exponent % 2 == 1) result *= base;
  return result;
}

template <class Options> class AdamRule {
 public:
  static constexpr std::array<std::string_view, 7> numbers{"adam.rate", "adam.beta1", "adam.beta2", "adam.epsilon",
                                                           "adam.weight_decay", "adam.first_scale", "adam.second_scale"};

  constexpr AdamRule() = default;
  constexpr explicit AdamRule(Options given) : options{given} {}

  [[nodiscard]] constexpr std::array<double, 7> values(std::int64_t step) const {
    const double first = 1 - integer_power(options.beta1, step);
    const double second = 1 - integer_power(options.beta2, step);
    return {options.rate, options.beta1, options.beta2, options.epsilon, options.weight_decay, 1 / first, 1 / second};
  }

  Options options{};

 protected:
  /// m = b1 m + (1 - b1) g, v = b2 v + (1 - b2) g^2; the step is m / (1 - b1^t) / (sqrt(v / (1 - b2^t)) + epsilon)
  static constexpr Value direction(Update& u, Value gradient) {
    const Value first = u.state("exp_avg");
    const Value second = u.state("exp_avg_sq");
    const Value beta1 = u.number("adam.beta1");
    const Value beta2 = u.number("adam.beta2");
    const Value next_first = beta1 * first + (1 - beta1) * gradient;
    const Value next_second = beta2 * second + (1 - beta2) * (gradient * gradient);
    u.set_state(first, next_first);
    u.set_state(second, next_second);
    const Value scale = sqrt(next_second * u.number("adam.second_scale")) + u.number("adam.epsilon");
    return next_first * u.number("adam.first_scale") / scale;
  }
};

} // namespace detail

/// Weight decay is added to the gradient. Two states per weight.
class Adam : public detail::AdamRule<AdamOptions> {
 public:
  using AdamRule::AdamRule;

  static constexpr void update(Update& u) {
    const Value weight = u.weight();
    const Value gradient = u.gradient() + u.number("adam.weight_decay") * weight;
    u.set_weight(weight - u.number("adam.rate") * direction(u, gradient));
  }
};

/// Weight decay shrinks the weight itself. Two states per weight.
class AdamW : public detail::AdamRule<AdamWOptions> {
 public:
  using AdamRule::AdamRule;

  static constexpr void update(Update& u) {
    const Value weight = u.weight();
    const Value rate = u.number("adam.rate");
    const Value decayed = weight * (1 - rate * u.number("adam.weight_decay"));
    u.set_weight(decayed - rate * direction(u, u.gradient()));
  }
};

} // namespace twill::inline v0::optim
