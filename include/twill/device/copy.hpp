#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Copies between devices. A copy is work of both devices: it starts after everything given to the source and to the
// destination before it, and everything given to either afterwards comes after it, so no stream ever reads a half-written
// tensor. With `non_blocking` the caller does not wait; the order is the same. A kind adds its own overloads of
// `copy_bytes`, found by the types of both devices. Read next: device/device.hpp.

#include <twill/core/error.hpp>
#include <twill/core/text.hpp>
#include <twill/device/cpu/stream.hpp>
#include <twill/device/meta/meta.hpp>

#include <cstddef>
#include <cstring>
#include <span>

namespace twill::inline v0 {

/// How a tensor is copied to another device.
struct CopyOptions {
  bool non_blocking = false; ///< return before the copy is done; both buffers must live until it is
};

namespace detail {
/// Splits a copy over the team, once it is long enough to be worth waking it.
inline void copy_on_team(const Team& team, void* to, const void* from, std::size_t bytes) {
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

/// A copy that waits for its source. One type of task, so that devices are taught to run but one.
struct LateCopy {
  Cpu::Event source_ready{};
  void* to = nullptr;
  const void* from = nullptr;
  std::size_t bytes = 0;

  void operator()() const {
    source_ready.wait();
    copy_on_team(Team::serial(), to, from, bytes);
  }
};
} // namespace detail

/// Copies between host devices, or within one. The ranges must not overlap.
inline void copy_bytes(Cpu to_device, void* to, Cpu from_device, const void* from, std::size_t bytes,
                       CopyOptions options = {}) {
  const auto source_ready = record(from_device);
  if (!options.non_blocking || detail::current_worker != nullptr) {
    if (detail::current_worker == nullptr) source_ready.wait();
    launch(to_device, [&](const Team& team) { detail::copy_on_team(team, to, from, bytes); });
    return;
  }
  // A task only ever waits for tasks submitted before it, so these two cannot wait for each other.
  (void)submit(to_device, detail::LateCopy{source_ready, to, from, bytes});
  if (from_device != to_device) (void)submit(from_device, detail::LateCopy{record(to_device)}); // only waits
}

/// A copy that is work of the device to which it goes alone, behind what `ready` says. The other's work goes on beside it; whoever
/// overwrites the source waits for the event. On a host device, whose work is the caller's, the caller waits and copies.
inline Cpu::Event pull_bytes(Cpu to_device, void* to, Cpu, const void* from, std::size_t bytes,
                             std::span<const Cpu::Event> ready) {
  for (const Cpu::Event& event : ready) event.wait();
  launch(to_device, [&](const Team& team) { detail::copy_on_team(team, to, from, bytes); });
  return {};
}

/// Within `Meta` there is nothing to copy.
inline void copy_bytes(Meta, void*, Meta, const void*, std::size_t, CopyOptions = {}) {}

/// Into `Meta` nothing is copied: the bytes are dropped.
template <DeviceName D>
requires D::has_memory void copy_bytes(Meta, void*, const D&, const void*, std::size_t, CopyOptions = {}) {}

/// Out of `Meta` there is nothing to read.
/// throws: DeviceError
template <DeviceName D>
requires D::has_memory void copy_bytes(const D& to_device, void*, Meta from_device, const void*, std::size_t bytes,
                                       CopyOptions = {}) {
  throw DeviceError(join_text({"copy_bytes: ", bytes, " bytes from ", to_string(from_device), " to ",
                               to_string(to_device), ", but a meta device has no memory; run on a device that has"}));
}

} // namespace twill::inline v0
