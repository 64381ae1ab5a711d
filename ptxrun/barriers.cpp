// SPDX-License-Identifier: Apache-2.0

#include "ptxrun/machine.hpp"

#include "ptxrun/findings.hpp"
#include "ptxrun/global_races.hpp"
#include "ptxrun/instructions/barrier_operands.hpp"
#include "ptxrun/lanes.hpp"
#include "ptxrun/text.hpp"

#include <array>
#include <bit>

namespace ptxrun {
namespace {

/// What stands at one of a block's 16 barriers.
struct Standing {
  std::uint32_t lanes = 0;
  std::uint32_t expected = 0; ///< 0: all that live
  std::uint32_t voters = 0;   ///< lanes whose predicate is true
  std::uint32_t first_instruction = 0;
  bool has_several = false; ///< instructions
};

const Instruction& barrier_of(const Warp& warp) { return warp.block->grid.kernel.code[warp.barrier]; }

void vote(Warp& warp, const Standing& standing) {
  const Instruction& instruction = barrier_of(warp);
  if (instruction.mode == votes_count)
    for_lanes(warp.at_barrier, [&, result = values<std::uint32_t>(warp, instruction.destinations[0])](int lane) {
      result[lane] = standing.voters;
    });
  else if (instruction.mode != votes_none) {
    const bool result = instruction.mode == votes_all ? standing.voters == standing.lanes : standing.voters != 0;
    set_predicate(warp, instruction.destinations[0], result ? ~std::uint32_t{0} : 0, warp.at_barrier);
  }
}

} // namespace

void arrive(Warp& warp, const Instruction& instruction, std::uint32_t counter, std::uint32_t mask) {
  const Kernel& kernel = warp.block->grid.kernel;
  if (instruction.is_aligned && mask != warp.alive)
    report_finding("aligned barrier in divergent code", &kernel, &instruction,
                   describe_thread(warp, std::countr_zero(mask)) + ": lanes " + hexadecimal(mask) + " of " +
                       hexadecimal(warp.alive) + " reach it");
  if (warp.at_barrier != 0 && warp.barrier != counter)
    report_finding("lanes of a warp at different barriers", &kernel, &instruction,
                   describe_thread(warp, std::countr_zero(mask)) + ", others at " +
                       describe(kernel, kernel.locations[barrier_of(warp).location]));
  if (instruction.mode != votes_none) {
    const std::uint32_t votes = predicate_source(warp, instruction, instruction.source_count - 1U);
    warp.barrier_votes = (warp.barrier_votes & ~mask) | (votes & mask);
  }
  warp.at_barrier |= mask;
  warp.barrier = counter;
}

void arrive_without_waiting(Warp& warp, const Instruction& instruction, std::uint32_t mask) {
  warp.block->arrivals[barrier_number(warp, instruction, mask)] += static_cast<std::uint32_t>(std::popcount(mask));
}

void release_barriers(Block& block) {
  Grid& grid = block.grid;
  std::array<Standing, 16> all{};
  std::uint32_t living = 0, waiting = 0;
  bool has_ended = false;
  for (Warp& warp : block.warps) {
    living += static_cast<std::uint32_t>(std::popcount(warp.alive));
    has_ended = has_ended || warp.alive != warp.exists;
    if (warp.at_barrier == 0) continue;
    const Instruction& instruction = barrier_of(warp);
    Standing& standing = all[barrier_number(warp, instruction, warp.at_barrier)];
    standing.has_several = standing.has_several || (standing.lanes != 0 && standing.first_instruction != warp.barrier);
    if (standing.lanes == 0) standing.first_instruction = warp.barrier;
    standing.lanes += static_cast<std::uint32_t>(std::popcount(warp.at_barrier));
    standing.voters += static_cast<std::uint32_t>(std::popcount(warp.barrier_votes & warp.at_barrier));
    standing.expected = barrier_threads(warp, instruction, warp.at_barrier);
    waiting += static_cast<std::uint32_t>(std::popcount(warp.at_barrier));
  }
  bool has_released = false;
  for (std::size_t n = 0; n < all.size(); ++n) {
    const Standing& standing = all[n];
    if (standing.lanes == 0) continue;
    const std::uint32_t come = standing.lanes + block.arrivals[n];
    if (come < (standing.expected == 0 ? living : standing.expected)) continue;
    const Instruction& instruction = grid.kernel.code[standing.first_instruction];
    if (standing.has_several)
      report_finding("warps at different barriers", &grid.kernel, &instruction, "block " + std::to_string(block.index));
    if (has_ended && standing.expected == 0)
      report_finding("barrier after some threads have ended", &grid.kernel, &instruction,
                     "block " + std::to_string(block.index) + ": " + std::to_string(living) + " of " +
                         std::to_string(grid.threads) + " threads reach it");
    for (Warp& warp : block.warps) {
      if (warp.at_barrier == 0 || barrier_number(warp, barrier_of(warp), warp.at_barrier) != n) continue;
      vote(warp, standing);
      warp.at_barrier = 0;
      warp.barrier_votes = 0;
    }
    block.arrivals[n] = 0;
    block.barrier_time = grid.now;
    if (grid.global_races) grid.global_races->barrier(block);
    has_released = true;
  }
  if (has_released) {
    ++grid.now;
    ++grid.changes;
  } else if (waiting == living && living != 0) {
    for (const Warp& warp : block.warps)
      if (warp.at_barrier != 0) {
        report_finding("barrier that not all of its threads reach", &grid.kernel, &barrier_of(warp),
                       "block " + std::to_string(block.index));
        break;
      }
    grid.fail(Outcome::launch_timeout);
  }
}

} // namespace ptxrun
