#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// How the process's cores are divided among host devices. The affinity mask (what `taskset` or a batch system granted) is
// read once, at the first use of a host device; from then on the division is fixed, because memory, threads and numbers
// of devices rest on it. By default each core is a device of one thread. Read next: device/cpu/cpu.hpp.

#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/core/text.hpp>
#include <twill/device/cpu/affinity.hpp>

#include <atomic>
#include <cstddef>
#include <mutex>
#include <string>
#include <vector>

namespace twill::inline v0 {

/// How `configure_host` divides the cores; 0 stands for "as many as there are".
struct HostOptions {
  int devices = 0;            ///< how many host devices
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

/// Divides `cores` as asked: consecutive shares of equal size, and round robin once the cores run out.
/// throws: ValueError for negative numbers, DeviceError when the cores do not suffice and sharing was not asked for
[[nodiscard]] TWILL_COLD inline HostPartition partition_cores(const std::vector<int>& cores,
                                                              const HostOptions& options) {
  const int available = static_cast<int>(cores.size());
  if (options.devices < 0 || options.threads_per_device < 0)
    throw ValueError(
        join_text({"configure_host: devices and threads_per_device are at least 1, or 0 for the default; got ",
                   options.devices, " and ", options.threads_per_device}));
  int devices = options.devices;
  int threads = options.threads_per_device;
  if (devices == 0) devices = available / (threads > 0 ? threads : 1);
  if (devices == 0) devices = 1; // fewer cores than one device asks for: refused below
  if (threads == 0) threads = options.devices == 0 || available < devices ? 1 : available / devices;
  if (options.devices == 0 && devices > max_devices) devices = max_devices;
  if (devices > max_devices)
    throw ValueError(join_text({"configure_host: at most ", max_devices, " devices; got ", devices}));
  const long long needed = static_cast<long long>(devices) * threads;
  if (needed > available && !options.oversubscribe)
    throw DeviceError(
        join_text({"configure_host: ", devices, " devices of ", threads, " threads need ", needed,
                   " cores, and the process may use ", available, "; ask for fewer, or set .oversubscribe = true"}));
  HostPartition partition{options, std::vector<std::vector<int>>(static_cast<std::size_t>(devices))};
  std::size_t next = 0;
  for (std::vector<int>& share : partition.cores)
    for (int thread = 0; thread < threads; ++thread) share.push_back(cores[next++ % cores.size()]);
  return partition;
}

/// The division in force; null until the first use. Never destroyed.
TWILL_EXPORT inline constinit std::atomic<const HostPartition*> host_partition_in_force{nullptr};
TWILL_EXPORT inline constinit std::mutex host_mutex{};

/// Divides the cores unless they are divided already; returns the division in force.
TWILL_COLD inline const HostPartition& divide_host(const HostOptions& options) {
  const std::lock_guard lock{host_mutex};
  if (const auto* partition = host_partition_in_force.load(std::memory_order_acquire)) return *partition;
  const auto* partition = new HostPartition{partition_cores(cores_of_process(), options)};
  host_partition_in_force.store(partition, std::memory_order_release);
  return *partition;
}

/// The division in force, made with the defaults when this is the first use.
inline const HostPartition& host_partition() {
  if (const auto* partition = host_partition_in_force.load(std::memory_order_acquire)) return *partition;
  return divide_host({});
}

/// "2 host devices of 1 thread", for messages.
[[nodiscard]] TWILL_COLD inline std::string describe(const HostPartition& partition) {
  const auto count = partition.cores.size();
  const auto threads = partition.cores.front().size();
  return join_text(
      {count, count == 1 ? " host device of " : " host devices of ", threads, threads == 1 ? " thread" : " threads"});
}

} // namespace detail

/// The number of cores that the process may use; asking does not fix their division.
[[nodiscard]] inline int host_cores() { return static_cast<int>(detail::cores_of_process().size()); }

/// Divides the process's cores among host devices; to be called before anything asks for one. The same options again are
/// no error.
/// throws: DeviceError when host devices are in use already, or the cores do not suffice
inline void configure_host(const HostOptions& options) {
  const detail::HostPartition& in_force = detail::divide_host(options);
  if (!(in_force.asked == options))
    throw DeviceError(join_text({"configure_host: the cores are divided already, as ", detail::describe(in_force),
                                 "; call it before the first use of a host device"}));
}

} // namespace twill::inline v0
