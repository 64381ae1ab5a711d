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
  RateNotLr lr{};          ///< does not compile: say `rate`
  double weight_decay = 0; ///< of the weight, added to its gradient
};

/// Options of gradient descent with momentum, those of torch.optim.SGD.
struct MomentumSgdOptions {
  double rate = 0.01;      ///< learning rate
  RateNotLr lr{};          ///< does not compile: say `rate`
  double momentum = 0.9;   ///< how much of the velocity stays
  double dampening = 0;    ///< the share of the gradient that the velocity does not get; nothing without momentum
  double weight_decay = 0; ///< of the weight, added to its gradient
  bool nesterov = false;   ///< whether the step looks ahead (Nesterov, 1983)
};

}}}} // namespace twill::v0::optim::TWILL_ISA

namespace twill { inline namespace v0 { namespace optim { namespace detail { inline namespace TWILL_ISA {

struct SgdLists {
  using Options = SgdOptions;
  static constexpr std::string_view rule = "sgd";
  static constexpr std::array<OptionMember<Options>, 2> options{
      {{"rate", &Options::rate}, {"weight_decay", &Options::weight_decay}}};
  static constexpr std::array<RuleNumber<Options>, 2> numbers{
      {{"sgd.rate", &Options::rate}, {"sgd.weight_decay", &Options::weight_decay}}};
};

struct MomentumSgdLists {
  using Options = MomentumSgdOptions;
  static constexpr std::string_view rule = "momentum_sgd";
  static constexpr std::array<OptionMember<Options>, 4> options{{{"rate", &Options::rate},
                                                                 {"momentum", &Options::momentum},
                                                                 {"dampening", &Options::dampening, Allowed::numbers},
                                                                 {"weight_decay", &Options::weight_decay}}};

  // The first step takes the whole gradient, and without momentum all do, as in PyTorch.
  static constexpr double dampening(const Options& o, std::int64_t) { return o.momentum == 0 ? 0 : o.dampening; }
  static constexpr double share(const Options& o, std::int64_t step) {
    return step == 1 ? 1.0 : 1.0 - dampening(o, step);
  }
  static constexpr double velocity_rate(const Options& o, std::int64_t) {
    return o.nesterov ? o.rate * o.momentum : o.rate;
  }
  static constexpr double gradient_rate(const Options& o, std::int64_t) { return o.nesterov ? o.rate : 0; }
  static constexpr std::array<RuleNumber<Options>, 6> numbers{{{"sgd.weight_decay", &Options::weight_decay},
                                                               {"sgd.momentum", &Options::momentum},
                                                               {"sgd.share", share},
                                                               {"sgd.velocity_rate", velocity_rate},
                                                               {"sgd.gradient_rate", gradient_rate},
                                                               {"sgd.dampening", dampening}}};
};

}}}}} // namespace twill::v0::optim::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace optim { inline namespace TWILL_ISA {

/// w -= rate * (g + weight_decay * w). Keeps no state.
class Sgd : public detail::ListedRule<detail::SgdLists> {
public:
  using ListedRule::ListedRule;

  static TWILL_CONSTEXPR void update(Update& u) {
    const Value weight = u.weight();
    const Value gradient = u.gradient() + u.number("sgd.weight_decay") * weight;
    u.set_weight(weight - u.number("sgd.rate") * gradient);
  }
};

/// v = momentum * v + (1 - dampening) * g, w -= rate * v; Nesterov: w -= rate * (g + momentum * v). Keeps one state.
class MomentumSgd : public detail::ListedRule<detail::MomentumSgdLists> {
public:
  constexpr MomentumSgd() = default;
  /// throws: ValueError for a negative number, or Nesterov's form without momentum or with dampening
  constexpr explicit MomentumSgd(MomentumSgdOptions given) : ListedRule{given} {
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
  /// Adds its options to a list.
  void list_options(OptionList& list);
};

}}}} // namespace twill::v0::optim::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/optim/sgd.ipp>
#endif
