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

/// w -= rate * |w| / |u| * u with Adam's step u = m / (sqrt(v) + epsilon) + weight_decay * w, m and v without bias; the
/// ratio is one where a norm is zero. Two states per weight.
class Lamb : public detail::AdamRule<LambOptions> {
public:
  using AdamRule::AdamRule;

  static constexpr std::array<std::string_view, 12> numbers =
      detail::joined(AdamRule::numbers, std::array<std::string_view, 1>{"lamb.rate"});

  static TWILL_CONSTEXPR void update(Update& u) {
    const Value weight = u.weight();
    const Value step = AdamRule::step(u, u.gradient()) + u.number("adam.decay") * weight;
    const Value length = sqrt(u.sum_of_squares(weight));
    const Value step_length = sqrt(u.sum_of_squares(step));
    const Value ratio = where(logical_and(length > 0, step_length > 0), length / step_length, 1.0);
    u.set_weight(weight - u.number("lamb.rate") * ratio * step);
  }
  [[nodiscard]] std::array<double, 12> values(std::int64_t step) const;
  /// Adds its options to a list.
  void list_options(OptionList& list) { AdamRule::list_as("lamb", list); }
};

}}}} // namespace twill::v0::optim::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/optim/lamb.ipp>
#endif
