#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Races in a block's shared memory, and reads of bytes that no thread wrote. Two accesses of different threads are ordered by a barrier
// between them, within a warp also by __syncwarp(). A write of the value that is there already is no race that anyone could see.

#include "ptxrun/access.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ptxrun {

class SharedRaces {
public:
  explicit SharedRaces(std::size_t bytes) : cells_(bytes) {}

  void access(Warp& warp, const Instruction& instruction, int lane, std::uint32_t address, const Access& access);

private:
  struct Event {
    std::uint64_t time = 0; ///< 0: there is none
    std::uint16_t thread = 0;
    bool is_strong = false;
  };
  struct Cell {
    Event write{};
    Event read{};
    Event other_read{}; ///< by another warp than the last one
    bool is_written = false;
  };

  std::vector<Cell> cells_;
};

} // namespace ptxrun
