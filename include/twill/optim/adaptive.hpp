#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Relatives of Adam and Adagrad: Adadelta (Zeiler, 2012), Adamax (Kingma and Ba, 2015), NAdam (Dozat, 2016), RAdam (Liu
// et al., 2020) and Lion (Chen et al., 2023). Formulas and defaults are those of torch.optim, those of Lion its
// paper's. Not in twill.hpp. Read next: optim/adam.hpp.

#include <twill/core/config.hpp>
#include <twill/optim/options.hpp>
#include <twill/optim/update.hpp>

#include <array>
#include <cmath>
#include <cstdint>
#include <string_view>

namespace twill { inline namespace v0 { namespace optim { inline namespace TWILL_ISA {

/// Options of Adadelta, those of torch.optim.Adadelta.
struct AdadeltaOptions {
  double rate = 1;         ///< learning rate
  RateNotLr lr{};          ///< does not compile: say `rate`
  double rho = 0.9;        ///< how much of both mean squares stays, in [0, 1)
  double epsilon = 1e-6;   ///< added to both mean squares
  double weight_decay = 0; ///< of the weight, added to its gradient
};
/// Options of Adamax, those of torch.optim.Adamax.
struct AdamaxOptions {
  double rate = 2e-3;      ///< learning rate
  RateNotLr lr{};          ///< does not compile: say `rate`
  double beta1 = 0.9;      ///< how much of the mean gradient stays, in [0, 1)
  double beta2 = 0.999;    ///< how much of the greatest gradient stays, in [0, 1)
  double epsilon = 1e-8;   ///< added to the size of each gradient
  double weight_decay = 0; ///< of the weight, added to its gradient
};
/// Options of NAdam, those of torch.optim.NAdam.
struct NAdamOptions {
  double rate = 2e-3;           ///< learning rate
  RateNotLr lr{};               ///< does not compile: say `rate`
  double beta1 = 0.9;           ///< how much of the mean gradient stays, in [0, 1)
  double beta2 = 0.999;         ///< how much of the mean square stays, in [0, 1)
  double epsilon = 1e-8;        ///< added to the root of the mean square
  double weight_decay = 0;      ///< of the weight, added to its gradient
  double momentum_decay = 4e-3; ///< how fast the momentum grows from half of beta1 to all of it
};
/// Options of RAdam, those of torch.optim.RAdam.
struct RAdamOptions {
  double rate = 1e-3;      ///< learning rate
  RateNotLr lr{};          ///< does not compile: say `rate`
  double beta1 = 0.9;      ///< how much of the mean gradient stays, in [0, 1)
  double beta2 = 0.999;    ///< how much of the mean square stays, in [0, 1)
  double epsilon = 1e-8;   ///< added to the root of the mean square
  double weight_decay = 0; ///< of the weight, added to its gradient
};
/// Options of Lion (Chen et al., 2023).
struct LionOptions {
  double rate = 1e-4;      ///< learning rate; a third to a tenth of AdamW's
  RateNotLr lr{};          ///< does not compile: say `rate`
  double beta1 = 0.9;      ///< how much of the mean gradient is in the step, in [0, 1)
  double beta2 = 0.99;     ///< how much of the mean gradient stays, in [0, 1)
  double weight_decay = 0; ///< times the rate, subtracted from the weight itself
};

}}}} // namespace twill::v0::optim::TWILL_ISA

namespace twill { inline namespace v0 { namespace optim { namespace detail { inline namespace TWILL_ISA {

struct AdadeltaLists {
  using Options = AdadeltaOptions;
  static constexpr std::string_view rule = "adadelta";
  static constexpr std::array<OptionMember<Options>, 4> options{{{"rate", &Options::rate},
                                                                 {"rho", &Options::rho, Allowed::fraction},
                                                                 {"epsilon", &Options::epsilon},
                                                                 {"weight_decay", &Options::weight_decay}}};
  static constexpr double share(const Options& o, std::int64_t) { return 1 - o.rho; }
  static constexpr std::array<RuleNumber<Options>, 5> numbers{{{"adadelta.rate", &Options::rate},
                                                               {"adadelta.rho", &Options::rho},
                                                               {"adadelta.share", share},
                                                               {"adadelta.epsilon", &Options::epsilon},
                                                               {"adadelta.decay", &Options::weight_decay}}};
};

/// 1 - beta^step.
[[nodiscard]] inline double share_after(double beta, std::int64_t step) {
  return 1 - std::pow(beta, static_cast<double>(step));
}

/// Options that Adam's relatives share.
template <class O>
inline constexpr std::array<OptionMember<O>, 5> moment_options{{{"rate", &O::rate},
                                                                {"beta1", &O::beta1, Allowed::fraction},
                                                                {"beta2", &O::beta2, Allowed::fraction},
                                                                {"epsilon", &O::epsilon},
                                                                {"weight_decay", &O::weight_decay}}};

struct AdamaxLists {
  using Options = AdamaxOptions;
  static constexpr std::string_view rule = "adamax";
  static constexpr auto options = moment_options<Options>;
  static constexpr double share(const Options& o, std::int64_t) { return 1 - o.beta1; }
  static double step_size(const Options& o, std::int64_t step) { return o.rate / share_after(o.beta1, step); }
  static double log1(const Options& o, std::int64_t) { return std::log(o.beta1); }
  static constexpr std::array<RuleNumber<Options>, 8> numbers{{{"adamax.step_size", step_size},
                                                               {"adamax.beta1", &Options::beta1},
                                                               {"adamax.share", share},
                                                               {"adamax.beta2", &Options::beta2},
                                                               {"adamax.epsilon", &Options::epsilon},
                                                               {"adamax.decay", &Options::weight_decay},
                                                               {"adamax.rate", &Options::rate},
                                                               {"adamax.log1", log1}}};
};

struct NAdamLists {
  using Options = NAdamOptions;
  static constexpr std::string_view rule = "nadam";
  static constexpr auto options = joined(
      moment_options<Options>, std::array<OptionMember<Options>, 1>{{{"momentum_decay", &Options::momentum_decay}}});

  /// beta1 (1 - 0.96^(step momentum_decay) / 2).
  static double momentum(const Options& o, std::int64_t step) {
    return o.beta1 * (1 - 0.5 * std::pow(0.96, static_cast<double>(step) * o.momentum_decay));
  }
  /// The product of the momenta of all steps so far, by log(1 - z) = -(z + z^2 / 2 + z^3 / 3 + ...): with q = 0.96 to
  /// the power momentum_decay, the logarithms of 1 - q^i / 2 add up to minus the sum over k of
  /// 2^-k / k * q^k (1 - q^(k steps)) / (1 - q^k).
  static double momenta(const Options& o, std::int64_t step) {
    const auto steps = static_cast<double>(step);
    const double log_q = std::log(0.96) * o.momentum_decay;
    double sum = 0, power = 1;
    for (int k = 1; k <= 60; ++k) {
      power /= 2;
      const double one = log_q * k;
      sum += power / k * std::exp(one) * (one == 0 ? steps : std::expm1(one * steps) / std::expm1(one));
    }
    return std::pow(o.beta1, steps) * std::exp(-sum);
  }
  static double gradient_rate(const Options& o, std::int64_t step) {
    return o.rate * (1 - momentum(o, step)) / (1 - momenta(o, step));
  }
  static double mean_rate(const Options& o, std::int64_t step) {
    return o.rate * momentum(o, step + 1) / (1 - momenta(o, step + 1));
  }
  static double scale(const Options& o, std::int64_t step) { return 1 / std::sqrt(share_after(o.beta2, step)); }
  static constexpr double first_share(const Options& o, std::int64_t) { return 1 - o.beta1; }
  static constexpr double second_share(const Options& o, std::int64_t) { return 1 - o.beta2; }
  static constexpr std::array<RuleNumber<Options>, 9> numbers{{{"nadam.gradient_rate", gradient_rate},
                                                               {"nadam.mean_rate", mean_rate},
                                                               {"nadam.scale", scale},
                                                               {"nadam.beta1", &Options::beta1},
                                                               {"nadam.first_share", first_share},
                                                               {"nadam.beta2", &Options::beta2},
                                                               {"nadam.second_share", second_share},
                                                               {"nadam.epsilon", &Options::epsilon},
                                                               {"nadam.decay", &Options::weight_decay}}};
};

struct RAdamLists {
  using Options = RAdamOptions;
  static constexpr std::string_view rule = "radam";
  static constexpr auto options = moment_options<Options>;

  /// The rectification of the variance; 0 while the variance is unknown, which are the first steps.
  static double rectified(const Options& o, std::int64_t step) {
    const double longest = 2 / (1 - o.beta2) - 1;
    const double share = share_after(o.beta2, step);
    const double length = longest - 2 * static_cast<double>(step) * (1 - share) / share;
    if (length <= 5) return 0;
    return std::sqrt((length - 4) * (length - 2) * longest / ((longest - 4) * (longest - 2) * length));
  }
  static double plain_rate(const Options& o, std::int64_t step) {
    return rectified(o, step) == 0 ? o.rate / share_after(o.beta1, step) : 0;
  }
  static double scaled_rate(const Options& o, std::int64_t step) {
    return o.rate / share_after(o.beta1, step) * std::sqrt(share_after(o.beta2, step)) * rectified(o, step);
  }
  static constexpr double first_share(const Options& o, std::int64_t) { return 1 - o.beta1; }
  static constexpr double second_share(const Options& o, std::int64_t) { return 1 - o.beta2; }
  static constexpr std::array<RuleNumber<Options>, 8> numbers{{{"radam.plain_rate", plain_rate},
                                                               {"radam.scaled_rate", scaled_rate},
                                                               {"radam.beta1", &Options::beta1},
                                                               {"radam.first_share", first_share},
                                                               {"radam.beta2", &Options::beta2},
                                                               {"radam.second_share", second_share},
                                                               {"radam.epsilon", &Options::epsilon},
                                                               {"radam.decay", &Options::weight_decay}}};
};

struct LionLists {
  using Options = LionOptions;
  static constexpr std::string_view rule = "lion";
  static constexpr std::array<OptionMember<Options>, 4> options{{{"rate", &Options::rate},
                                                                 {"beta1", &Options::beta1, Allowed::fraction},
                                                                 {"beta2", &Options::beta2, Allowed::fraction},
                                                                 {"weight_decay", &Options::weight_decay}}};
  static constexpr double kept(const Options& o, std::int64_t) { return 1 - o.rate * o.weight_decay; }
  static constexpr double first_share(const Options& o, std::int64_t) { return 1 - o.beta1; }
  static constexpr double second_share(const Options& o, std::int64_t) { return 1 - o.beta2; }
  static constexpr std::array<RuleNumber<Options>, 6> numbers{{{"lion.rate", &Options::rate},
                                                               {"lion.kept", kept},
                                                               {"lion.beta1", &Options::beta1},
                                                               {"lion.first_share", first_share},
                                                               {"lion.beta2", &Options::beta2},
                                                               {"lion.second_share", second_share}}};
};

/// The next value of a state that is a running mean: beta old + (1 - beta) fresh.
[[nodiscard]] TWILL_CONSTEXPR Value moved_mean(Update& u, std::string_view state, Value beta, Value share,
                                               Value fresh) {
  const Value old = u.state(state);
  const Value next = beta * old + share * fresh;
  u.set_state(old, next);
  return next;
}

}}}}} // namespace twill::v0::optim::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace optim { inline namespace TWILL_ISA {

/// v = rho v + (1 - rho) g^2, d = sqrt(s + epsilon) / sqrt(v + epsilon) g, s = rho s + (1 - rho) d^2, w -= rate d. Two
/// states per weight.
class Adadelta : public detail::ListedRule<detail::AdadeltaLists> {
public:
  using ListedRule::ListedRule;

  static TWILL_CONSTEXPR void update(Update& u) {
    const Value weight = u.weight();
    const Value gradient = u.gradient() + u.number("adadelta.decay") * weight;
    const Value rho = u.number("adadelta.rho"), share = u.number("adadelta.share");
    const Value epsilon = u.number("adadelta.epsilon");
    const Value square = detail::moved_mean(u, "square_avg", rho, share, gradient * gradient);
    const Value steps = u.state("acc_delta");
    const Value step = sqrt(steps + epsilon) / sqrt(square + epsilon) * gradient;
    u.set_state(steps, rho * steps + share * (step * step));
    u.set_weight(weight - u.number("adadelta.rate") * step);
  }
};

/// m = b1 m + (1 - b1) g, n = max(b2 n, |g| + epsilon), w -= rate / (1 - b1^t) m / n. Two states per weight.
class Adamax : public detail::ListedRule<detail::AdamaxLists> {
public:
  using ListedRule::ListedRule;

  static TWILL_CONSTEXPR void update(Update& u) {
    const Value weight = u.weight();
    const Value gradient = u.gradient() + u.number("adamax.decay") * weight;
    const Value mean = detail::moved_mean(u, "exp_avg", u.number("adamax.beta1"), u.number("adamax.share"), gradient);
    const Value greatest = u.state("exp_inf");
    const Value next = maximum(u.number("adamax.beta2") * greatest, abs(gradient) + u.number("adamax.epsilon"));
    u.set_state(greatest, next);
    // Only the device knows t where steps may be skipped: 1 - b^t = -expm1(t log b).
    const Value size = u.may_skip() ? u.number("adamax.rate") / -expm1(u.step() * u.number("adamax.log1"))
                                    : u.number("adamax.step_size");
    u.set_weight(weight - size * mean / next);
  }
};

/// Adam with Nesterov's momentum, which grows with the number of steps; skipped ones are counted. Two states per
/// weight.
class NAdam : public detail::ListedRule<detail::NAdamLists> {
public:
  using ListedRule::ListedRule;

  // w -= rate (1 - mu_t) / (1 - mu_1 ... mu_t) g / d + rate mu_t+1 / (1 - mu_1 ... mu_t+1) m / d,
  // d = sqrt(v / (1 - b2^t)) + epsilon
  static TWILL_CONSTEXPR void update(Update& u) {
    const Value weight = u.weight();
    const Value gradient = u.gradient() + u.number("nadam.decay") * weight;
    const Value mean =
        detail::moved_mean(u, "exp_avg", u.number("nadam.beta1"), u.number("nadam.first_share"), gradient);
    const Value square = detail::moved_mean(u, "exp_avg_sq", u.number("nadam.beta2"), u.number("nadam.second_share"),
                                            gradient * gradient);
    const Value divisor = sqrt(square) * u.number("nadam.scale") + u.number("nadam.epsilon");
    const Value step = u.number("nadam.gradient_rate") * gradient + u.number("nadam.mean_rate") * mean;
    u.set_weight(weight - step / divisor);
  }
};

/// Adam whose variance counts only once it is known, and is rectified from then on; skipped steps are counted. Two
/// states per weight.
class RAdam : public detail::ListedRule<detail::RAdamLists> {
public:
  using ListedRule::ListedRule;

  static TWILL_CONSTEXPR void update(Update& u) {
    const Value weight = u.weight();
    const Value gradient = u.gradient() + u.number("radam.decay") * weight;
    const Value mean =
        detail::moved_mean(u, "exp_avg", u.number("radam.beta1"), u.number("radam.first_share"), gradient);
    const Value square = detail::moved_mean(u, "exp_avg_sq", u.number("radam.beta2"), u.number("radam.second_share"),
                                            gradient * gradient);
    const Value rate =
        u.number("radam.plain_rate") + u.number("radam.scaled_rate") / (sqrt(square) + u.number("radam.epsilon"));
    u.set_weight(weight - rate * mean);
  }
};

/// w -= rate sign(b1 m + (1 - b1) g), m = b2 m + (1 - b2) g. Weight decay shrinks the weight itself. One state per
/// weight.
class Lion : public detail::ListedRule<detail::LionLists> {
public:
  using ListedRule::ListedRule;

  static TWILL_CONSTEXPR void update(Update& u) {
    const Value gradient = u.gradient();
    const Value mean = u.state("exp_avg");
    const Value way = sign(u.number("lion.beta1") * mean + u.number("lion.first_share") * gradient);
    u.set_state(mean, u.number("lion.beta2") * mean + u.number("lion.second_share") * gradient);
    u.set_weight(u.weight() * u.number("lion.kept") - u.number("lion.rate") * way);
  }
};

}}}} // namespace twill::v0::optim::TWILL_ISA
