#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of parallel/pipeline/run/shard_schedule.hpp.

#include <twill/core/text.hpp>
#include <twill/parallel/pipeline/run/shard_schedule.hpp>
#include <twill/parallel/pipeline/schedule/verify.hpp>

#include <algorithm>
#include <tuple>

namespace twill { inline namespace v0 { namespace parallel { namespace pipeline { namespace detail {
inline namespace TWILL_ISA {

TWILL_BODY Schedule stage_by_stage(const Schedule& whole) {
  const auto place = [](const Action& action) {
    const int pass = action.work == Work::forward ? 0 : action.work == Work::weight_gradient ? 2 : 1;
    return std::tuple{pass, pass == 0 ? action.stage : -action.stage, action.micro_batch};
  };
  Schedule result = whole;
  for (List<Action>& order : result.orders) {
    List<Action> computed{};
    for (const Action& action : order)
      if (is_computed(action.work)) computed.push_back(action);
    std::sort(computed.data(), computed.data() + computed.size(),
              [&](const Action& left, const Action& right) { return place(left) < place(right); });
    order.swap(computed);
  }
  return result;
}

TWILL_BODY Schedule schedule_of_meetings(const Schedule& whole, const std::vector<bool>& meets) {
  Schedule result = with_transfers(stage_by_stage(whole));
  for (List<Action>& order : result.orders) {
    List<Action> moved{};
    List<Action> waiting{}; // sends of the pass that has begun
    for (const Action& action : order) {
      const bool is_of_meeting = meets[static_cast<std::size_t>(action.stage)];
      if (is_of_meeting && is_sent(action.work)) {
        waiting.push_back(action);
        if (action.micro_batch + 1 < result.micro_batches) continue;
        moved.append(waiting);
        waiting.clear();
      } else {
        moved.push_back(action);
      }
    }
    order.swap(moved);
  }
  if (const Verdict verdict = verify(result); !verdict)
    throw ValueError(join_text({"Reproducible: the shards of a stage meet inside its run, and the schedule in which ",
                                "each stage finishes its passes cannot be carried out: ", to_string(verdict)}));
  return result;
}

TWILL_BODY void require_equal_passes(const StageCheckpointing& checkpointing, const std::vector<bool>& meets) {
  for (std::size_t stage = 0; stage < meets.size(); ++stage)
    if (meets[stage] && checkpointing(static_cast<int>(stage)) == Checkpointing::except_last)
      throw ValueError(
          join_text({"Reproducible: stage ", stage, " of the pipeline sums over the batch inside its run, ",
                     "so that its micro-batches run together and none is the last; give it ",
                     "Checkpointing::always or Checkpointing::never"}));
}

}}}}}} // namespace twill::v0::parallel::pipeline::detail::TWILL_ISA
