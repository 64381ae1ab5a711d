#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// LAMB (You et al., 2020, algorithm 2): Adam's step, with weight decay, scaled for each weight by its own norm over the
// step's. The norms are reductions of the same graph, so nothing leaves the device. Read next: optim/groups.hpp.

#include <twill/core/config.hpp>
#include <twill/optim/adam.hpp>

namespace twill { inline namespace v0 { namespace optim { inline namespace TWILL_ISA {

/// Options of LAMB (You et al., 2020).
struct LambOptions {
  double rate = 1e-3;      ///< learning rate
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
