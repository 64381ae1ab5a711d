// SPDX-License-Identifier: Apache-2.0

#include "ptxrun/access.hpp"

#include "ptxrun/findings.hpp"
#include "ptxrun/global_races.hpp"
#include "ptxrun/shared_races.hpp"
#include "ptxrun/text.hpp"

#include <string>

namespace ptxrun {
namespace {

std::string describe_access(const Warp& warp, int lane, const Access& access) {
  const char* const verb = access.kind == AccessKind::read    ? " reads "
                           : access.kind == AccessKind::write ? " writes "
                                                              : " updates ";
  return describe_thread(warp, lane) + verb + std::to_string(access.bytes) + " bytes";
}

std::byte* refuse(Warp& warp, const Instruction& instruction, Outcome outcome, std::string_view kind,
                  const std::string& detail) {
  Grid& grid = warp.block->grid;
  report_finding(kind, &grid.kernel, &instruction, detail);
  grid.fail(outcome);
  return nullptr;
}

bool is_aligned(std::uint64_t address, const Access& access) { return (address & (access.bytes - 1)) == 0; }

std::byte* refuse_misaligned(Warp& warp, const Instruction& instruction, int lane, const Access& access,
                             const std::string& place) {
  return refuse(warp, instruction, Outcome::misaligned_address, "misaligned access",
                describe_access(warp, lane, access) + " at " + place);
}

std::string byte_of(std::int64_t address, std::uint64_t bytes, const char* space) {
  return "byte " + std::to_string(address) + " of " + std::to_string(bytes) + " bytes of " + space + " memory";
}

/// The offset of a generic address in a window of `bytes`; negative outside of it.
std::int64_t offset_in(const std::byte* window, std::size_t bytes, std::uint64_t address) {
  const std::uint64_t offset = address - reinterpret_cast<std::uintptr_t>(window);
  return window != nullptr && offset < bytes ? static_cast<std::int64_t>(offset) : -1;
}

} // namespace

std::byte* check_shared(Warp& warp, const Instruction& instruction, int lane, std::uint32_t address,
                        const Access& access) {
  Block& block = *warp.block;
  const std::uint32_t bytes = block.grid.shared_bytes;
  if (!is_aligned(address, access))
    return refuse_misaligned(warp, instruction, lane, access, byte_of(address, bytes, "shared"));
  if (address + std::uint64_t{access.bytes} > bytes)
    return refuse(warp, instruction, Outcome::illegal_address, "shared memory out of bounds",
                  describe_access(warp, lane, access) + " at " +
                      byte_of(static_cast<std::int32_t>(address), bytes, "shared"));
  if (block.shared_races) block.shared_races->access(warp, instruction, lane, address, access);
  return block.shared.get() + address;
}

std::byte* check_local(Warp& warp, const Instruction& instruction, int lane, std::uint64_t address,
                       const Access& access) {
  Block& block = *warp.block;
  const std::uint64_t bytes = block.grid.kernel.traits.local_bytes;
  const auto signed_address = static_cast<std::int64_t>(address);
  if (!is_aligned(address, access))
    return refuse_misaligned(warp, instruction, lane, access, byte_of(signed_address, bytes, "local"));
  if (address > bytes || access.bytes > bytes - address)
    return refuse(warp, instruction, Outcome::illegal_address, "local memory out of bounds",
                  describe_access(warp, lane, access) + " at " + byte_of(signed_address, bytes, "local"));
  return block.local.get() + warp.thread(lane) * bytes + address;
}

std::byte* check_parameter(Warp& warp, const Instruction& instruction, int lane, std::uint64_t address,
                           const Access& access) {
  const Grid& grid = warp.block->grid;
  const std::uint64_t bytes = grid.kernel.traits.parameter_bytes;
  // An address in a register is one of the host (`mov` of a parameter).
  if (instruction.has_address_register) address -= reinterpret_cast<std::uintptr_t>(grid.launch.parameters);
  const auto signed_address = static_cast<std::int64_t>(address);
  if (!is_aligned(address, access))
    return refuse_misaligned(warp, instruction, lane, access, byte_of(signed_address, bytes, "parameter"));
  if (address > bytes || access.bytes > bytes - address || access.kind != AccessKind::read)
    return refuse(warp, instruction, Outcome::illegal_address, "parameter out of bounds",
                  describe_access(warp, lane, access) + " at " + byte_of(signed_address, bytes, "parameter"));
  return const_cast<std::byte*>(grid.launch.parameters) + address;
}

std::byte* check_generic(Warp& warp, const Instruction& instruction, int lane, std::uint64_t address,
                         const Access& access) {
  Block& block = *warp.block;
  Grid& grid = block.grid;
  if (const auto offset = offset_in(block.shared.get(), grid.shared_bytes, address); offset >= 0) {
    if (instruction.space != Space::generic)
      report_finding("global access to shared memory", &grid.kernel, &instruction, describe_access(warp, lane, access));
    return check_shared(warp, instruction, lane, static_cast<std::uint32_t>(offset), access);
  }
  const std::uint64_t local_bytes = grid.kernel.traits.local_bytes;
  if (const auto offset = offset_in(block.local.get(), local_bytes * grid.threads, address); offset >= 0) {
    const std::uint64_t owner = static_cast<std::uint64_t>(offset) / local_bytes;
    if (owner != warp.thread(lane))
      return refuse(warp, instruction, Outcome::illegal_address, "local memory out of bounds",
                    describe_access(warp, lane, access) + " of the memory of thread " + std::to_string(owner));
    return check_local(warp, instruction, lane, static_cast<std::uint64_t>(offset) % local_bytes, access);
  }
  if (const auto offset = offset_in(grid.launch.parameters, grid.kernel.traits.parameter_bytes, address); offset >= 0) {
    if (access.kind != AccessKind::read || !is_aligned(address, access) ||
        static_cast<std::size_t>(offset) + access.bytes > grid.kernel.traits.parameter_bytes)
      return refuse(warp, instruction, Outcome::illegal_address, "parameter out of bounds",
                    describe_access(warp, lane, access));
    return reinterpret_cast<std::byte*>(address);
  }
  if (!is_aligned(address, access)) return refuse_misaligned(warp, instruction, lane, access, hexadecimal(address));
  if (!grid.ranges.hold(address, access.bytes))
    return refuse(warp, instruction, Outcome::illegal_address, "out of bounds",
                  describe_access(warp, lane, access) + " at " + hexadecimal(address) + ": " +
                      describe_address(address));
  auto* const place = reinterpret_cast<std::byte*>(address);
  if (grid.global_races && instruction.space != Space::constant)
    grid.global_races->access(warp, instruction, lane, place, access);
  return place;
}

} // namespace ptxrun
