#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of device/copy.hpp.

#include <twill/device/copy.hpp>

namespace twill { inline namespace v0 {
namespace detail {

TWILL_BODY void copy_on_team(const Team& team, void* to, const void* from, std::size_t bytes) {
  constexpr std::size_t worth_sharing = std::size_t{1} << 20;
  constexpr std::size_t line = 64;
  if (bytes == 0) return;
  if (team.size() == 1 || bytes < worth_sharing) {
    std::memcpy(to, from, bytes);
    return;
  }
  team.parallel([&](int rank, int size) {
    const std::size_t lines = (bytes + line - 1) / line;
    const std::size_t begin = lines * static_cast<std::size_t>(rank) / static_cast<std::size_t>(size) * line;
    std::size_t end = lines * (static_cast<std::size_t>(rank) + 1) / static_cast<std::size_t>(size) * line;
    if (end > bytes) end = bytes;
    if (begin < end) std::memcpy(static_cast<char*>(to) + begin, static_cast<const char*>(from) + begin, end - begin);
  });
}

TWILL_BODY void LateCopy::operator()() const {
  source_ready.wait();
  copy_on_team(Team::serial(), to, from, bytes);
}

} // namespace detail

TWILL_BODY void copy_bytes(Cpu to_device, void* to, Cpu from_device, const void* from, std::size_t bytes,
                           CopyOptions options) {
  const auto source_ready = record(from_device);
  if (!options.non_blocking || cpu::current_worker != nullptr) {
    if (cpu::current_worker == nullptr) source_ready.wait();
    launch(to_device, [&](const Team& team) { detail::copy_on_team(team, to, from, bytes); });
    return;
  }
  // A task only ever waits for tasks submitted before it, so these two cannot wait for each other.
  (void)submit(to_device, detail::LateCopy{source_ready, to, from, bytes});
  if (from_device != to_device) (void)submit(from_device, detail::LateCopy{record(to_device)}); // only waits
}

TWILL_BODY Cpu::Event pull_bytes(Cpu to_device, void* to, Cpu, const void* from, std::size_t bytes,
                                 std::span<const Cpu::Event> ready) {
  for (const Cpu::Event& event : ready) event.wait();
  launch(to_device, [&](const Team& team) { detail::copy_on_team(team, to, from, bytes); });
  return {};
}

}} // namespace twill::v0
