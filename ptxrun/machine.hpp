#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// State of a launch: a grid of blocks of warps of lanes. A block that was begun keeps its state until it ends, so that blocks run in
// turns; a warp's lanes each have a program counter, and those that stand at one instruction execute it together.

#include "ptxrun/interpreter.hpp"
#include "ptxrun/kernel.hpp"
#include "ptxrun/memory.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

namespace ptxrun {

struct Block;
struct Grid;
class SharedRaces;
class GlobalRaces;

struct Warp {
  std::array<std::byte*, 2> banks{}; ///< registers, constants
  Block* block = nullptr;
  std::uint32_t index = 0; ///< in its block
  std::int64_t budget = 0; ///< instructions until others have their turn

  // Sets of lanes.
  std::uint32_t exists = 0;
  std::uint32_t alive = 0;
  std::uint32_t at_barrier = 0;
  std::uint32_t waiting = 0;       ///< for other lanes, at a warp-wide instruction
  std::uint32_t carry = 0;         ///< the condition code of `add.cc`
  std::uint32_t barrier_votes = 0; ///< predicates of `bar.red`

  std::array<std::uint32_t, 32> counters{}; ///< program counters
  std::uint32_t barrier = 0;                ///< the instruction where `at_barrier` stand
  bool prefers_last = false;                ///< lanes ahead run first, for the lanes behind may wait for them
  bool has_polled = false;                  ///< since the scheduler looked
  std::uint64_t executed = 0;
  std::uint64_t sync_time = 0; ///< of the last __syncwarp()

  [[nodiscard]] std::uint32_t runnable() const { return alive & ~at_barrier; }
  [[nodiscard]] std::uint32_t thread(int lane) const { return index * 32 + static_cast<std::uint32_t>(lane); }
};

struct Free {
  void operator()(std::byte* memory) const { std::free(memory); }
};
using Bytes = std::unique_ptr<std::byte, Free>;
/// At least one byte, aligned to 1024.
[[nodiscard]] Bytes allocate(std::size_t bytes);

struct Block {
  Block(Grid& grid, std::uint32_t index);
  ~Block();
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  Grid& grid;
  std::uint32_t index = 0; ///< in the grid
  std::vector<Warp> warps{};
  Bytes registers{};
  Bytes shared{};
  Bytes local{};
  std::array<std::uint32_t, 16> arrivals{}; ///< threads that passed `bar.arrive`, by barrier
  std::uint64_t barrier_time = 0;           ///< of the last barrier of all threads
  std::unique_ptr<SharedRaces> shared_races{};
};

struct Grid {
  Grid(Kernel& kernel, const Launch& launch);
  ~Grid();
  Grid(const Grid&) = delete;
  Grid& operator=(const Grid&) = delete;

  Kernel& kernel;
  const Launch& launch;
  Outcome outcome = Outcome::success;
  std::uint32_t threads = 0; ///< of a block
  std::uint64_t blocks = 0;
  std::uint32_t shared_bytes = 0; ///< of a block, static and dynamic
  RecentRanges ranges{};
  std::uint64_t now = 1;     ///< advances with each barrier, fence and strong access
  std::uint64_t changes = 0; ///< stores, barriers passed, warps ended: signs that a launch gets on
  std::uint64_t clock = 0;
  std::unique_ptr<GlobalRaces> global_races{};

  /// The first failure decides.
  void fail(Outcome how) {
    if (outcome == Outcome::success) outcome = how;
  }
};

/// Runs a warp until its budget is used up, or all of its lanes have ended or stand at a barrier.
void run(Warp& warp, std::int64_t budget);

// Warp-wide instructions, such as `shfl.sync`, wait until all lanes that their mask names have come (warp_wide.cpp).

/// Executes the instruction at `counter` where all named lanes are in `mask`; otherwise lets the lanes wait and returns false.
bool execute_warp_wide(Warp& warp, const Instruction& instruction, std::uint32_t counter, std::uint32_t mask);
/// All lanes wait, and those that are missing cannot come: a finding. Lanes at instructions of one kind go on together.
void release_incomplete(Warp& warp);

// Lanes wait at a barrier until all threads that live, or as many as the instruction names, have come (barriers.cpp).

void arrive(Warp& warp, const Instruction& instruction, std::uint32_t counter, std::uint32_t mask);
void arrive_without_waiting(Warp& warp, const Instruction& instruction, std::uint32_t mask);
/// Lets lanes go on whose barrier is complete. Where all lanes wait and none is, that is a finding, and the launch ends.
void release_barriers(Block& block);

/// Fills `%tid.x` and the other special registers.
void fill_special_registers(Warp& warp);

/// How many blocks of a launch all multiprocessors of the pretended device hold together, at least one (limits.cpp).
[[nodiscard]] std::size_t resident_blocks(const Kernel& kernel, const Launch& launch);

/// "block 3 thread 17"
[[nodiscard]] std::string describe_thread(const Warp& warp, int lane);

} // namespace ptxrun
