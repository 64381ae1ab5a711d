#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Stochastic gradient descent, plain and with momentum. Formulas and defaults are those of torch.optim.SGD.

#include <twill/optim/update.hpp>

namespace twill::inline v0::optim {

struct SgdOptions {
  float rate = 0.01f;
  float weight_decay = 0;
};

/// w -= rate * (g + weight_decay * w). Keeps no state.
class Sgd {
 public:
  static constexpr std::array<std::string_view, 2> numbers{"sgd.rate", "sgd.weight_decay"};

  constexpr Sgd() = default;
  constexpr explicit Sgd(SgdOptions given) : options{given} {}

  static constexpr void update(Update& u) {
    const Value weight = u.weight();
    const Value gradient = u.gradient() + u.number("sgd.weight_decay") * weight;
    u.set_weight(weight - u.number("sgd.rate") * gradient);
  }
  [[nodiscard]] constexpr std::array<double, 2> values(std::int64_t) const { return {options.rate, options.weight_decay}; }

  SgdOptions options{};
};

struct MomentumSgdOptions {
  float rate = 0.01f;
  float momentum = 0.9f;
  float dampening = 0;
  float weight_decay = 0;
  bool nesterov = false;
};

/// v = momentum * v + (1 - dampening) * g, w -= rate * v; Nesterov: w -= rate * (g + momentum * v). One state per weight.
class MomentumSgd {
 public:
  static constexpr std::array<std::string_view, 5> numbers{"sgd.rate", "sgd.weight_decay", "sgd.momentum", "sgd.share",
                                                           "sgd.nesterov"};

  constexpr MomentumSgd() = default;
  constexpr explicit MomentumSgd(MomentumSgdOptions given) : options{given} {}

  static constexpr void update(Update& u) {
    const Value weight = u.weight();
    const Value gradient = u.gradient() + u.number("sgd.weight_decay") * weight;
    const Value velocity = u.state("momentum");
    const Value momentum = u.number("sgd.momentum");
    const Value next = momentum * velocity + u.number("sgd.share") * gradient;
    const Value direction = where(u.flag("sgd.nesterov"), gradient + momentum * next, next);
    u.set_state(velocity, next);
    u.set_weight(weight - u.number("sgd.rate") * direction);
  }
  [[nodiscard]] constexpr std::array<double, 5> values(std::int64_t step) const {
    // As in PyTorch, the first step takes the whole gradient.
    return {options.rate, options.weight_decay, options.momentum, step == 1 ? 1.0 : 1.0 - double{options.dampening},
            options.nesterov ? 1.0 : 0.0};
  }

  MomentumSgdOptions options{};
};

} // namespace twill::inline v0::optim
