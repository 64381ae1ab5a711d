#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of parallel/pipeline/run/costs.hpp.

#include <twill/parallel/pipeline/run/costs.hpp>

namespace twill::inline v0::pipeline::inline TWILL_ISA {

TWILL_BODY void take_times(const Timeline& timeline, List<StageCost>& costs) {
  List<double> seconds(4 * costs.size(), 0);
  List<int> count(4 * costs.size(), 0);
  for (const List<TimedAction>& events : timeline.ranks)
    for (const TimedAction& event : events) {
      const std::size_t at =
          4 * static_cast<std::size_t>(event.action.stage) + static_cast<std::size_t>(event.action.work);
      seconds[at] += event.end - event.start;
      ++count[at];
    }
  const auto mean = [&](std::size_t stage, Work work) {
    const std::size_t at = 4 * stage + static_cast<std::size_t>(work);
    return count[at] > 0 ? seconds[at] / count[at] : 0;
  };
  for (std::size_t stage = 0; stage < costs.size(); ++stage) {
    costs[stage].forward_s = mean(stage, Work::forward);
    costs[stage].input_gradient_s = mean(stage, Work::input_gradient) + mean(stage, Work::backward);
    costs[stage].weight_gradient_s = mean(stage, Work::weight_gradient);
  }
}

} // namespace twill::inline v0::pipeline::inline TWILL_ISA
