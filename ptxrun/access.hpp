#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Addresses of memory accesses: each is checked for alignment and bounds before it is used. Most accesses take the short way here;
// access.cpp has the long one, with findings and race checks.

#include "ptxrun/lanes.hpp"
#include "ptxrun/machine.hpp"

#include <cstddef>
#include <cstdint>

namespace ptxrun {

enum class AccessKind : std::uint8_t { read, write, atomic };

struct Access {
  AccessKind kind = AccessKind::read;
  std::size_t bytes = 0;
  const std::byte* value = nullptr; ///< that a write stores
};

/// Null after a finding. `address` is relative to the space, or one of the host.
[[nodiscard]] std::byte* check_shared(Warp& warp, const Instruction& instruction, int lane, std::uint32_t address,
                                      const Access& access);
[[nodiscard]] std::byte* check_local(Warp& warp, const Instruction& instruction, int lane, std::uint64_t address,
                                     const Access& access);
[[nodiscard]] std::byte* check_parameter(Warp& warp, const Instruction& instruction, int lane, std::uint64_t address,
                                         const Access& access);
[[nodiscard]] std::byte* check_generic(Warp& warp, const Instruction& instruction, int lane, std::uint64_t address,
                                       const Access& access);

[[nodiscard]] inline std::uint64_t address_of(Warp& warp, const Instruction& instruction, int lane) {
  const auto offset = static_cast<std::uint64_t>(instruction.immediate);
  return instruction.has_address_register ? bits_of(warp, instruction.sources[0], lane) + offset : offset;
}

/// Where a lane's access goes in the host's memory, or null after a finding.
template <Space S>
[[nodiscard]] inline std::byte* locate(Warp& warp, const Instruction& instruction, int lane, const Access& access) {
  const std::uint64_t address = address_of(warp, instruction, lane);
  Grid& grid = warp.block->grid;
  if constexpr (S == Space::shared) {
    const auto offset = static_cast<std::uint32_t>(address);
    const bool is_aligned = (offset & (access.bytes - 1)) == 0;
    if (is_aligned && offset + std::uint64_t{access.bytes} <= grid.shared_bytes && !warp.block->shared_races)
      return warp.block->shared.get() + offset;
    return check_shared(warp, instruction, lane, offset, access);
  } else if constexpr (S == Space::local) {
    return check_local(warp, instruction, lane, address, access);
  } else if constexpr (S == Space::parameter) {
    return check_parameter(warp, instruction, lane, address, access);
  } else {
    const bool is_aligned = (address & (access.bytes - 1)) == 0;
    if (is_aligned && !grid.global_races && grid.ranges.hold(address, access.bytes))
      return reinterpret_cast<std::byte*>(address);
    return check_generic(warp, instruction, lane, address, access);
  }
}

} // namespace ptxrun
