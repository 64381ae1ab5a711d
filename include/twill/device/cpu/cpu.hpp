#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Host device `Cpu{i}`: a share of the process's cores, a worker thread and a team, with its own memory pool. The value
// is only the ordinal; the state is made at first use, exported so that a process has it once, and never destroyed.
// Read next: device/cpu/stream.hpp and device/cpu/memory.hpp.

#include <twill/core/config.hpp>
#include <twill/core/text.hpp>
#include <twill/device/cpu/partition.hpp>
#include <twill/device/cpu/team.hpp>
#include <twill/device/cpu/worker.hpp>
#include <twill/device/current.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace twill { inline namespace v0 {

/// A host device.
struct TWILL_EXPORT Cpu {
  int index = 0; ///< the number of its share of the cores, from 0

  static constexpr std::string_view kind = "cpu"; ///< The kind in device names: "cpu", "cpu:1".
  static constexpr bool has_memory = true;        ///< Tensors of this kind own memory.
  static constexpr bool launches_at_once = true;  ///< a launch has run when it returns
  class Upstream;
  class Event;

  /// The number of host devices; the first call fixes their division (see `configure_host`).
  [[nodiscard]] static int count() { return static_cast<int>(detail::host_partition().cores.size()); }

  friend constexpr bool operator==(Cpu, Cpu) = default;
};

/// The cores that a host device owns, with the system's numbers.
[[nodiscard]] const std::vector<int>& cores_of(Cpu device);

/// "AMD EPYC 9B14, cores 0-1": the system's name of the processor, and the device's cores.
[[nodiscard]] std::string device_name(Cpu device);

namespace detail {

/// The state of one host device.
struct CpuState {
  cpu::Worker worker;
  ForkJoin threads;
  Team team;
  explicit CpuState(Cpu device);
};

TWILL_EXPORT inline constinit std::array<std::atomic<CpuState*>, max_devices> cpu_states{};

CpuState& make_cpu_state(Cpu device);

/// The state of a device; one load once it exists.
TWILL_INLINE CpuState& cpu_state(Cpu device) {
  if (static_cast<unsigned>(device.index) < static_cast<unsigned>(max_devices)) {
    CpuState* const state = cpu_states[static_cast<std::size_t>(device.index)].load(std::memory_order_acquire);
    if (state != nullptr) [[likely]]
      return *state;
  }
  return make_cpu_state(device);
}

} // namespace detail

}} // namespace twill::v0

#if TWILL_HEADER_ONLY
#include <twill/device/cpu/cpu.ipp>
#endif
