#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Stochastic gradient descent, plain and with momentum. Formulas and defaults are those of torch.optim.SGD. Read next:
// optim/rmsprop.hpp.

#include <twill/core/config.hpp>
#include <twill/optim/options.hpp>
#include <twill/optim/update.hpp>

namespace twill { inline namespace v0 { namespace optim { inline namespace TWILL_ISA {

/// Options of plain gradient descent.
struct SgdOptions {
  double rate = 0.01;      ///< learning rate
  double weight_decay = 0; ///< of the weight, added to its gradient
};

/// w -= rate * (g + weight_decay * w). Keeps no state.
class Sgd {
public:
  static constexpr std::array<std::string_view, 2> numbers{"sgd.rate", "sgd.weight_decay"};

  constexpr Sgd() = default;
  /// throws: ValueError for a negative number
  constexpr explicit Sgd(SgdOptions given) : options{given} {
    detail::require_not_negative("sgd", "rate", given.rate);
    detail::require_not_negative("sgd", "weight_decay", given.weight_decay);
  }

  static TWILL_CONSTEXPR void update(Update& u) {
    const Value weight = u.weight();
    const Value gradient = u.gradient() + u.number("sgd.weight_decay") * weight;
    u.set_weight(weight - u.number("sgd.rate") * gradient);
  }
  [[nodiscard]] TWILL_CONSTEXPR std::array<double, 2> values(std::int64_t) const {
    return {options.rate, options.weight_decay};
  }
  /// Adds its options to a list.
  void list_options(OptionList& list);

  SgdOptions options{}; ///< may change between steps
};

/// Options of gradient descent with momentum, those of torch.optim.SGD.
struct MomentumSgdOptions {
  double rate = 0.01;      ///< learning rate
  double momentum = 0.9;   ///< how much of the velocity stays
  double dampening = 0;    ///< the share of the gradient that the velocity does not get; nothing without momentum
  double weight_decay = 0; ///< of the weight, added to its gradient
  bool nesterov = false;   ///< whether the step looks ahead (Nesterov, 1983)
};

/// v = momentum * v + (1 - dampening) * g, w -= rate * v; Nesterov: w -= rate * (g + momentum * v). Keeps one state.
class MomentumSgd {
public:
  static constexpr std::array<std::string_view, 6> numbers{"sgd.weight_decay",  "sgd.momentum",      "sgd.share",
                                                           "sgd.velocity_rate", "sgd.gradient_rate", "sgd.dampening"};

  constexpr MomentumSgd() = default;
  /// throws: ValueError for a negative number, or Nesterov's form without momentum or with dampening
  constexpr explicit MomentumSgd(MomentumSgdOptions given) : options{given} {
    detail::require_not_negative("sgd", "rate", given.rate);
    detail::require_not_negative("sgd", "momentum", given.momentum);
    detail::require_not_negative("sgd", "weight_decay", given.weight_decay);
    if (given.nesterov && (given.momentum <= 0 || given.dampening != 0))
      throw ValueError("sgd: nesterov needs momentum above 0 and no dampening, got momentum " +
                       std::to_string(given.momentum) + " and dampening " + std::to_string(given.dampening));
  }

  static TWILL_CONSTEXPR void update(Update& u) {
    const Value weight = u.weight();
    const Value gradient = u.gradient() + u.number("sgd.weight_decay") * weight;
    const Value velocity = u.state("momentum");
    // The first step takes the whole gradient; if steps may be skipped, only the device knows which is the first.
    Value share = u.number("sgd.share");
    if (u.may_skip()) share = where(u.step() > 1, 1.0 - u.number("sgd.dampening"), 1.0);
    const Value next = u.number("sgd.momentum") * velocity + share * gradient;
    u.set_state(velocity, next);
    u.set_weight(weight - u.number("sgd.velocity_rate") * next - u.number("sgd.gradient_rate") * gradient);
  }
  [[nodiscard]] TWILL_CONSTEXPR std::array<double, 6> values(std::int64_t step) const {
    // The first step takes the whole gradient, and without momentum all do, as in PyTorch.
    const double dampening = options.momentum == 0 ? 0 : options.dampening;
    const double share = step == 1 ? 1.0 : 1.0 - dampening;
    const double rate = options.rate;
    if (!options.nesterov) return {options.weight_decay, options.momentum, share, rate, 0, dampening};
    return {options.weight_decay, options.momentum, share, rate * options.momentum, rate, dampening};
  }
  /// Adds its options to a list.
  void list_options(OptionList& list);

  MomentumSgdOptions options{}; ///< may change between steps
};

}}}} // namespace twill::v0::optim::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/optim/sgd.ipp>
#endif
