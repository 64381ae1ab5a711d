// SPDX-License-Identifier: Apache-2.0

#include "ptxrun/machine.hpp"

#include "ptxrun/findings.hpp"
#include "ptxrun/lanes.hpp"
#include "ptxrun/text.hpp"

#include <bit>

namespace ptxrun {
namespace {

std::string describe_mask(std::uint32_t named, std::uint32_t there, const char* of) {
  return ": its mask names " + hexadecimal(named) + ", " + hexadecimal(there) + " " + of;
}

/// Reports masks that name lanes which cannot come. Returns all lanes that are named.
std::uint32_t check_masks(Warp& warp, const Instruction& instruction, LaneValues<std::uint32_t> masks,
                          std::uint32_t mask) {
  const Kernel& kernel = warp.block->grid.kernel;
  std::uint32_t named = 0;
  for_lanes_in_order(mask, [&](int lane) {
    named |= masks[lane];
    if (!has_lane(masks[lane], lane))
      report_finding("lane not in its own mask", &kernel, &instruction,
                     describe_thread(warp, lane) + describe_mask(masks[lane], mask, "are there"));
  });
  const int first = std::countr_zero(mask);
  if ((named & ~warp.exists) != 0)
    report_finding("mask names lanes that do not exist", &kernel, &instruction,
                   describe_thread(warp, first) + describe_mask(named, warp.exists, "exist"));
  else if ((named & ~warp.alive) != 0)
    report_finding("mask names lanes that have ended", &kernel, &instruction,
                   describe_thread(warp, first) + describe_mask(named, warp.alive, "have not"));
  return named;
}

} // namespace

bool execute_warp_wide(Warp& warp, const Instruction& instruction, std::uint32_t counter, std::uint32_t mask) {
  const auto masks = values<std::uint32_t>(warp, instruction.sources[instruction.member_source]);
  const std::uint32_t missing = check_masks(warp, instruction, masks, mask) & warp.alive & ~mask;
  if (missing == 0) {
    // Lanes may name different masks: each makes a group of its own.
    for (std::uint32_t rest = mask; rest != 0;) {
      const std::uint32_t named = masks[std::countr_zero(rest)];
      std::uint32_t group = 0;
      for_lanes_in_order(rest, [&](int lane) {
        if (masks[lane] == named) group |= std::uint32_t{1} << lane;
      });
      instruction.handler(warp, instruction, group);
      rest &= ~group;
    }
    return true;
  }
  // The lanes that came last take those along that have waited here.
  warp.waiting |= mask;
  std::uint32_t here = mask;
  for_lanes_in_order(warp.waiting, [&](int lane) {
    if (warp.counters[static_cast<std::size_t>(lane)] == counter) here |= std::uint32_t{1} << lane;
  });
  if ((missing & ~here) == 0) warp.waiting &= ~here;
  return false;
}

void release_incomplete(Warp& warp) {
  const Kernel& kernel = warp.block->grid.kernel;
  const auto counter_of = [&](int lane) { return warp.counters[static_cast<std::size_t>(lane)]; };
  const int first = std::countr_zero(warp.waiting);
  const Instruction& instruction = kernel.code[counter_of(first)];
  std::uint32_t alike = 0;
  for_lanes_in_order(warp.waiting, [&](int lane) {
    const Instruction& other = kernel.code[counter_of(lane)];
    if (other.handler == instruction.handler && other.mode == instruction.mode) alike |= std::uint32_t{1} << lane;
  });
  report_finding("warp-wide instruction not reached by all named lanes", &kernel, &instruction,
                 describe_thread(warp, first) +
                     describe_mask(values<std::uint32_t>(warp, instruction.sources[instruction.member_source])[first],
                                   alike, "are there"));
  warp.waiting &= ~alike;
  for (std::uint32_t rest = alike; rest != 0;) { // one instruction at a time
    const std::uint32_t counter = counter_of(std::countr_zero(rest));
    std::uint32_t group = 0;
    for_lanes_in_order(rest, [&](int lane) {
      if (counter_of(lane) == counter) group |= std::uint32_t{1} << lane;
    });
    kernel.code[counter].handler(warp, kernel.code[counter], group);
    for_lanes_in_order(group, [&](int lane) { ++warp.counters[static_cast<std::size_t>(lane)]; });
    rest &= ~group;
  }
}

} // namespace ptxrun
