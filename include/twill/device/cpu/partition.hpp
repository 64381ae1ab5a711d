#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Division of the process's cores among host devices. The affinity mask (set by `taskset` or a batch system) is read
// once, at the first use of a host device; from then on the division is fixed, because memory, threads and numbers of
// devices depend on it. By default each core is a device of one thread. Read next: device/cpu/cpu.hpp.

#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/core/text.hpp>
#include <twill/device/cpu/cores.hpp>

#include <atomic>
#include <cstddef>
#include <mutex>
#include <string>
#include <vector>

namespace twill { inline namespace v0 {

/// Options of `configure_host` for the division of the cores; 0 stands for "as many as there are".
struct HostOptions {
  int devices = 0;            ///< the number of host devices
  int threads_per_device = 0; ///< cores of each
  bool oversubscribe = false; ///< lets several threads share a core when there are too few
  friend bool operator==(const HostOptions&, const HostOptions&) = default;
};

/// The largest number of devices of one kind.
inline constexpr int max_devices = 512;

namespace detail {

/// The cores of each device.
struct HostPartition {
  HostOptions asked;
  std::vector<std::vector<int>> cores;
};

/// Divides `cores` as requested: consecutive shares of equal size, and round robin once the cores run out.
/// throws: ValueError for negative numbers, DeviceError when the cores do not suffice without `oversubscribe`
[[nodiscard]] HostPartition partition_cores(const std::vector<int>& cores, const HostOptions& options);

/// The division in force; null until the first use. Never destroyed.
TWILL_EXPORT inline constinit std::atomic<const HostPartition*> host_partition_in_force{nullptr};
TWILL_EXPORT inline constinit std::mutex host_mutex{};

/// Divides the cores unless they are divided already; returns the division in force.
const HostPartition& divide_host(const HostOptions& options);

/// The division in force, made with the defaults when this is the first use.
const HostPartition& host_partition();

/// "2 host devices of 1 thread", for messages.
[[nodiscard]] std::string describe(const HostPartition& partition);

} // namespace detail

/// The number of cores that the process may use; the call does not fix their division.
[[nodiscard]] inline int host_cores() { return static_cast<int>(cpu::cores_of_process().size()); }

/// Divides the process's cores among host devices; call it before the first use of one. A second call with equal
/// options is no error.
/// throws: DeviceError when host devices are in use already, or the cores do not suffice
void configure_host(const HostOptions& options);

}} // namespace twill::v0

#if TWILL_HEADER_ONLY
#include <twill/device/cpu/partition.ipp>
#endif
