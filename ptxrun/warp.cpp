// SPDX-License-Identifier: Apache-2.0
//
// A warp's turn. Of the lanes that can go on, those at the instruction of the lowest rank execute together until they branch apart
// or reach others: a branch's join is ranked after both arms, so that lanes meet there again.

#include "ptxrun/findings.hpp"
#include "ptxrun/lanes.hpp"
#include "ptxrun/machine.hpp"
#include "ptxrun/options.hpp"
#include "ptxrun/text.hpp"

#include <algorithm>
#include <bit>
#include <limits>

namespace ptxrun {
namespace {

constexpr std::uint32_t nowhere = std::numeric_limits<std::uint32_t>::max();

/// Lanes that stand at one instruction.
struct Group {
  std::uint32_t lanes = 0;
  std::uint32_t counter = nowhere;
  std::uint32_t rank = nowhere;
  std::uint32_t next_others = nowhere; ///< the lowest rank of lanes further on
};

std::uint32_t rank_at(const Warp& warp, std::uint32_t counter) { return warp.block->grid.kernel.code[counter].rank; }

Group first_group(const Warp& warp, std::uint32_t ready) {
  Group group;
  for_lanes_in_order(ready, [&](int lane) {
    const std::uint32_t counter = warp.counters[static_cast<std::size_t>(lane)];
    const std::uint32_t rank = rank_at(warp, counter);
    if (rank < group.rank)
      group = {std::uint32_t{1} << lane, counter, rank, group.rank};
    else if (rank == group.rank)
      group.lanes |= std::uint32_t{1} << lane;
    else
      group.next_others = std::min(group.next_others, rank);
  });
  return group;
}

Group last_group(const Warp& warp, std::uint32_t ready) {
  Group group;
  for_lanes_in_order(ready, [&](int lane) {
    const std::uint32_t counter = warp.counters[static_cast<std::size_t>(lane)];
    const std::uint32_t rank = rank_at(warp, counter);
    if (rank > group.rank || group.lanes == 0) group = {0, counter, rank, nowhere};
    if (rank == group.rank) group.lanes |= std::uint32_t{1} << lane;
  });
  return group;
}

void report_endless(Warp& warp, const Instruction& instruction, std::uint32_t lanes) {
  Grid& grid = warp.block->grid;
  report_finding("endless loop", &grid.kernel, &instruction,
                 describe_thread(warp, std::countr_zero(lanes)) + " after " + std::to_string(warp.executed) +
                     " instructions of its warp");
  grid.fail(Outcome::launch_timeout);
}

class Turn {
public:
  explicit Turn(Warp& warp) : warp_{warp}, grid_{warp.block->grid}, code_{grid_.kernel.code.data()} {}

  void take() {
    while (true) {
      const std::uint32_t ready = warp_.runnable() & ~warp_.waiting;
      if (ready == 0) {
        if (warp_.waiting == 0) return;
        release_incomplete(warp_);
        continue;
      }
      group_ = warp_.prefers_last ? last_group(warp_, ready) : first_group(warp_, ready);
      while (execute()) {
      }
      if (group_.lanes != 0) store_counters(group_.lanes, group_.counter);
      if (has_stopped_) return;
      if (warp_.budget < 0) {
        // Lanes that wait for others of their warp let them pass in the next turn.
        warp_.prefers_last =
            !warp_.prefers_last && warp_.has_polled && group_.lanes != (warp_.runnable() & ~warp_.waiting);
        return;
      }
    }
  }

private:
  void store_counters(std::uint32_t lanes, std::uint32_t counter) {
    for_lanes_in_order(lanes, [&](int lane) { warp_.counters[static_cast<std::size_t>(lane)] = counter; });
  }

  /// Executes one instruction for the group; false where lanes have to be grouped again.
  bool execute() {
    Instruction& instruction = code_[group_.counter];
    std::uint32_t mask = group_.lanes;
    if (instruction.is_guarded) {
      const std::uint32_t guard = *reinterpret_cast<const std::uint32_t*>(warp_.banks[0] + instruction.guard);
      mask &= instruction.guard_is_negated ? ~guard : guard;
    }
    --warp_.budget;
    instruction.executions += mask == ~std::uint32_t{0} ? 32 : static_cast<unsigned>(std::popcount(mask));
    switch (instruction.flow) {
    case Flow::next:
      if (mask != 0) instruction.handler(warp_, instruction, mask);
      ++group_.counter;
      break;
    case Flow::branch:
      if (mask != group_.lanes && mask != 0) return diverge(mask, [&](int) { return instruction.target; });
      if (mask == 0) {
        ++group_.counter;
        break;
      }
      if (instruction.target == group_.counter && !instruction.is_guarded) return end_endless(instruction);
      group_.counter = instruction.target;
      if (warp_.prefers_last) return false;
      break;
    case Flow::indexed_branch: {
      const auto indices = values<std::uint32_t>(warp_, instruction.sources[0]);
      return diverge(mask, [&](int lane) { return instruction.targets.at(indices[lane]); });
    }
    case Flow::exit:
      ++group_.counter;
      if (mask == 0) break;
      warp_.alive &= ~mask;
      group_.lanes &= ~mask;
      ++grid_.changes;
      return false;
    case Flow::barrier:
      // Lanes that were let pass wait here for the rest of their warp, as at the end of a branch.
      if (warp_.prefers_last && instruction.is_aligned && mask != 0 && mask != warp_.alive) {
        warp_.prefers_last = false;
        has_stopped_ = true;
        return false;
      }
      if (mask != 0) arrive(warp_, instruction, group_.counter, mask);
      ++group_.counter;
      if (mask == 0) break;
      return false;
    case Flow::arrive:
      if (mask != 0) arrive_without_waiting(warp_, instruction, mask);
      ++group_.counter;
      break;
    case Flow::warp_wide:
      if (mask != 0 && !execute_warp_wide(warp_, instruction, group_.counter, mask)) {
        const std::uint32_t here = group_.counter;
        store_counters(mask, here);
        store_counters(group_.lanes & ~mask, here + 1);
        group_.lanes = 0;
        return false;
      }
      ++group_.counter;
      break;
    case Flow::fail:
      if (mask != 0) {
        instruction.handler(warp_, instruction, mask);
        if (grid_.outcome != Outcome::success) {
          has_stopped_ = true;
          return false;
        }
      }
      ++group_.counter;
      break;
    }
    return code_[group_.counter].rank < group_.next_others && warp_.budget >= 0;
  }

  template <class F> bool diverge(std::uint32_t mask, F&& target) {
    const std::uint32_t counter = group_.counter;
    for_lanes_in_order(group_.lanes, [&](int lane) {
      warp_.counters[static_cast<std::size_t>(lane)] = has_lane(mask, lane) ? target(lane) : counter + 1;
    });
    group_.lanes = 0;
    return false;
  }

  bool end_endless(const Instruction& instruction) {
    report_endless(warp_, instruction, group_.lanes);
    has_stopped_ = true;
    return false;
  }

  Warp& warp_;
  Grid& grid_;
  Instruction* code_;
  Group group_{};
  bool has_stopped_ = false; ///< before the budget is used up
};

} // namespace

void run(Warp& warp, std::int64_t budget) {
  warp.budget = budget;
  Turn{warp}.take();
  warp.executed += static_cast<std::uint64_t>(budget - warp.budget);
  warp.block->grid.clock += static_cast<std::uint64_t>(budget - warp.budget);
  if (warp.executed > options().endless_after && warp.runnable() != 0 && warp.block->grid.outcome == Outcome::success) {
    const std::uint32_t lanes = warp.runnable();
    report_endless(warp, warp.block->grid.kernel.code[warp.counters[static_cast<std::size_t>(std::countr_zero(lanes))]],
                   lanes);
  }
}

std::string describe_thread(const Warp& warp, int lane) {
  return "block " + std::to_string(warp.block->index) + " thread " + std::to_string(warp.thread(lane));
}

} // namespace ptxrun
