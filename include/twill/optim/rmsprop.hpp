#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// RMSprop (Hinton, 2012) and Adagrad (Duchi et al., 2011). Formulas and defaults are those of torch.optim. Read next:
// optim/adam.hpp.

#include <twill/core/config.hpp>
#include <twill/optim/options.hpp>
#include <twill/optim/update.hpp>

namespace twill { inline namespace v0 { namespace optim { inline namespace TWILL_ISA {

/// Options of RMSprop, those of torch.optim.RMSprop.
struct RmsPropOptions {
  double rate = 0.01;      ///< learning rate
  RateNotLr lr{};          ///< does not compile: say `rate`
  double alpha = 0.99;     ///< how much of the mean square stays
  double epsilon = 1e-8;   ///< added to the root of the mean square
  double weight_decay = 0; ///< of the weight, added to its gradient
  double momentum = 0;     ///< how much of the last step stays
};

/// Options of Adagrad, those of torch.optim.Adagrad.
struct AdagradOptions {
  double rate = 0.01;             ///< learning rate
  RateNotLr lr{};                 ///< does not compile: say `rate`
  double rate_decay = 0;          ///< the rate is divided by 1 + step * this
  double weight_decay = 0;        ///< of the weight, added to its gradient
  double initial_accumulator = 0; ///< of squares, at first
  double epsilon = 1e-10;         ///< added to the root of the sum of squares
};

}}}} // namespace twill::v0::optim::TWILL_ISA

namespace twill { inline namespace v0 { namespace optim { namespace detail { inline namespace TWILL_ISA {

template <bool Centred> struct RmsPropLists {
  using Options = RmsPropOptions;
  static constexpr std::string_view rule = Centred ? "centred_rmsprop" : "rmsprop";
  static constexpr std::array<OptionMember<Options>, 5> options{{{"rate", &Options::rate},
                                                                 {"alpha", &Options::alpha, Allowed::fraction},
                                                                 {"epsilon", &Options::epsilon},
                                                                 {"weight_decay", &Options::weight_decay},
                                                                 {"momentum", &Options::momentum}}};

  static constexpr double share(const Options& o, std::int64_t) { return 1 - o.alpha; }
  static constexpr std::array<RuleNumber<Options>, 6> numbers{{{"rmsprop.rate", &Options::rate},
                                                               {"rmsprop.alpha", &Options::alpha},
                                                               {"rmsprop.share", share},
                                                               {"rmsprop.epsilon", &Options::epsilon},
                                                               {"rmsprop.decay", &Options::weight_decay},
                                                               {"rmsprop.momentum", &Options::momentum}}};
};

struct AdagradLists {
  using Options = AdagradOptions;
  static constexpr std::string_view rule = "adagrad";
  static constexpr std::array<OptionMember<Options>, 5> options{{{"rate", &Options::rate},
                                                                 {"rate_decay", &Options::rate_decay},
                                                                 {"weight_decay", &Options::weight_decay},
                                                                 {"initial_accumulator", &Options::initial_accumulator},
                                                                 {"epsilon", &Options::epsilon}}};
  static constexpr std::array<RuleNumber<Options>, 5> numbers{{{"adagrad.rate", &Options::rate},
                                                               {"adagrad.rate_decay", &Options::rate_decay},
                                                               {"adagrad.decay", &Options::weight_decay},
                                                               {"adagrad.initial", &Options::initial_accumulator},
                                                               {"adagrad.epsilon", &Options::epsilon}}};
};

/// Base of the forms of RMSprop.
template <bool Centred> class RmsPropRule : public ListedRule<RmsPropLists<Centred>> {
public:
  using ListedRule<RmsPropLists<Centred>>::ListedRule;

  // v = alpha v + (1 - alpha) g^2, centred: the mean m of g likewise, and v - m^2 for v below
  // b = momentum b + g / (sqrt(v) + epsilon), w -= rate b
  static constexpr void update(Update& u) {
    const Value weight = u.weight();
    const Value gradient = u.gradient() + u.number("rmsprop.decay") * weight;
    const Value alpha = u.number("rmsprop.alpha");
    const Value share = u.number("rmsprop.share");
    const Value square = u.state("square_avg");
    const Value next_square = alpha * square + share * (gradient * gradient);
    u.set_state(square, next_square);
    Value variance = next_square;
    if (Centred) {
      const Value mean = u.state("grad_avg");
      const Value next_mean = alpha * mean + share * gradient;
      u.set_state(mean, next_mean);
      variance = variance - next_mean * next_mean;
    }
    const Value buffer = u.state("momentum_buffer");
    const Value step =
        u.number("rmsprop.momentum") * buffer + gradient / (sqrt(variance) + u.number("rmsprop.epsilon"));
    u.set_state(buffer, step);
    u.set_weight(weight - u.number("rmsprop.rate") * step);
  }
};

}}}}} // namespace twill::v0::optim::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace optim { inline namespace TWILL_ISA {

/// Divides by the root of a running mean of squares. Two states per weight.
class RmsProp : public detail::RmsPropRule<false> {
public:
  using RmsPropRule::RmsPropRule;
};

/// Divides by a running standard deviation (Graves, 2013). Three states per weight.
class CentredRmsProp : public detail::RmsPropRule<true> {
public:
  using RmsPropRule::RmsPropRule;
};

/// s += g^2, w -= rate / (1 + (t - 1) rate_decay) * g / (sqrt(s) + epsilon). One state per weight.
class Adagrad : public detail::ListedRule<detail::AdagradLists> {
public:
  using ListedRule::ListedRule;

  static TWILL_CONSTEXPR void update(Update& u) {
    const Value weight = u.weight();
    const Value gradient = u.gradient() + u.number("adagrad.decay") * weight;
    const Value sum = u.state("sum"); // beyond the initial value, which may be set until the first step
    const Value next = sum + gradient * gradient;
    u.set_state(sum, next);
    const Value rate = u.number("adagrad.rate") / (1.0 + (u.step() - 1.0) * u.number("adagrad.rate_decay"));
    u.set_weight(weight - rate * gradient / (sqrt(next + u.number("adagrad.initial")) + u.number("adagrad.epsilon")));
  }
};

}}}} // namespace twill::v0::optim::TWILL_ISA
