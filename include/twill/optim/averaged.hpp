#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Exponential moving averages of weights, as a rule of a rule: `optim::averaged(optim::AdamW{}, 0.999)`. The averages
// are states of the rule, moved in the pass that updates the weight and saved with the others. Definition and first
// step are those of PyTorch's AveragedModel. Not in twill.hpp. Read next: optim/clip.hpp.

#include <twill/core/config.hpp>
#include <twill/nn/stored_tensor.hpp>
#include <twill/optim/options.hpp>
#include <twill/optim/update.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace twill { inline namespace v0 { namespace optim { inline namespace TWILL_ISA {

/// The name of the average of a weight among its states.
inline constexpr std::string_view average_state = "average";

/// A rule that also keeps a moving average of each weight.
template <Rule R> class Averaged : public R {
public:
  static constexpr auto numbers = detail::joined(std::array<std::string_view, 1>{"average.share"}, R::numbers);

  /// throws: ValueError for a decay outside of [0, 1)
  Averaged(R rule, double kept) : R{std::move(rule)}, decay{kept} {
    detail::require_allowed("averaged", "decay", kept, Allowed::fraction);
  }

  // a = w after the first step, a += (1 - decay) (w - a) after the others
  static constexpr void update(Update& u) {
    const Value share = u.number("average.share"); // before a group sets its prefix
    R::update(u);
    const Value average = u.state(average_state);
    const Value weight = u.updated_weight();
    u.set_state(average, where(u.step() <= 1, weight, average + share * (weight - average)));
  }
  [[nodiscard]] auto values(std::int64_t step) const {
    return detail::joined(std::array<double, 1>{1 - decay}, R::values(step));
  }
  /// Adds its options to a list.
  void list_options(OptionList& list) {
    list.add("average.decay", decay, Allowed::fraction);
    optim::list_options(static_cast<R&>(*this), list);
  }

  double decay; ///< how much of the average stays in each step
};

/// A rule that also keeps a moving average of each weight. One more state per weight.
template <Rule R> [[nodiscard]] Averaged<R> averaged(R rule, double decay = 0.999) { return {std::move(rule), decay}; }

/// The averages of the weights under the weights' names, from the state of a step: `nn::load_state_dict(shadow,
/// optim::averages(step.state_dict()), {.is_strict = false})` leaves buffers, which have no average, as they are.
[[nodiscard]] inline nn::StateDict averages(const nn::StateDict& state) {
  return nn::renamed(state, [](const std::string& name) -> std::optional<std::string> {
    const std::size_t length = average_state.size() + 1;
    if (name.size() <= length || !name.ends_with(average_state) || name[name.size() - length] != '.') return {};
    return name.substr(0, name.size() - length);
  });
}

}}}} // namespace twill::v0::optim::TWILL_ISA
