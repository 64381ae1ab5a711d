// SPDX-License-Identifier: Apache-2.0

#include "ptxrun/shared_races.hpp"

#include "ptxrun/findings.hpp"

#include <string>

namespace ptxrun {

void SharedRaces::access(Warp& warp, const Instruction& instruction, int lane, std::uint32_t address,
                         const Access& access) {
  const Block& block = *warp.block;
  const auto thread = static_cast<std::uint16_t>(warp.thread(lane));
  const bool is_strong = access.kind == AccessKind::atomic || instruction.ordering != Ordering::weak;
  const Event now{block.grid.now, thread, is_strong};
  const auto clashes = [&](const Event& other) {
    if (other.time == 0 || other.thread == thread || (is_strong && other.is_strong)) return false;
    if (other.time <= block.barrier_time) return false;
    return other.thread / 32 != warp.index || other.time > warp.sync_time;
  };
  const auto report = [&](std::string_view kind, const Event& other, std::uint32_t at, const char* verb) {
    std::string text{kind};
    if (other.thread / 32 == warp.index) text += " within a warp";
    report_finding(text, &block.grid.kernel, &instruction,
                   describe_thread(warp, lane) + verb + std::to_string(other.thread) +
                       " since the last barrier, at shared byte " + std::to_string(at));
  };
  for (std::uint32_t at = address; at < address + access.bytes; ++at) {
    Cell& cell = cells_[at];
    if (access.kind != AccessKind::write) {
      if (!cell.is_written)
        report_finding("uninitialised shared read", &block.grid.kernel, &instruction,
                       describe_thread(warp, lane) + " reads shared byte " + std::to_string(at) +
                           ", which no thread wrote");
      if (clashes(cell.write)) report("shared write-read race", cell.write, at, " reads what was written by thread ");
    }
    if (access.kind == AccessKind::read) {
      if (cell.read.time != 0 && cell.read.thread / 32 != warp.index) cell.other_read = cell.read;
      cell.read = now;
      continue;
    }
    const bool is_equal =
        access.value != nullptr && cell.is_written && block.shared.get()[at] == access.value[at - address];
    if (access.kind == AccessKind::write && !is_equal && clashes(cell.write))
      report("shared write-write race", cell.write, at, " writes what was written by thread ");
    for (const Event& read : {cell.read, cell.other_read})
      if (!is_equal && clashes(read)) report("shared read-write race", read, at, " writes what was read by thread ");
    cell.write = now;
    cell.is_written = true;
  }
}

} // namespace ptxrun
