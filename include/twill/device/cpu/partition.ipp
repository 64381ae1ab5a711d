#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of device/cpu/partition.hpp.

#include <twill/device/cpu/partition.hpp>

namespace twill { inline namespace v0 {
namespace detail {

TWILL_COLD TWILL_BODY HostPartition partition_cores(const std::vector<int>& cores, const HostOptions& options) {
  const int available = static_cast<int>(cores.size());
  if (options.devices < 0 || options.threads_per_device < 0)
    throw ValueError(
        join_text({"configure_host: devices and threads_per_device are at least 1, or 0 for the default; got ",
                   options.devices, " and ", options.threads_per_device}));
  int devices = options.devices;
  int threads = options.threads_per_device;
  if (devices == 0) devices = available / (threads > 0 ? threads : 1);
  if (devices == 0) devices = 1; // fewer cores than one device needs: refused below
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

TWILL_COLD TWILL_BODY const HostPartition& divide_host(const HostOptions& options) {
  const std::lock_guard lock{host_mutex};
  if (const auto* partition = host_partition_in_force.load(std::memory_order_acquire)) return *partition;
  const auto* partition = new HostPartition{partition_cores(cpu::cores_of_process(), options)};
  host_partition_in_force.store(partition, std::memory_order_release);
  return *partition;
}

TWILL_BODY const HostPartition& host_partition() {
  if (const auto* partition = host_partition_in_force.load(std::memory_order_acquire)) return *partition;
  return divide_host({});
}

TWILL_COLD TWILL_BODY std::string describe(const HostPartition& partition) {
  const auto count = partition.cores.size();
  const auto threads = partition.cores.front().size();
  return join_text(
      {count, count == 1 ? " host device of " : " host devices of ", threads, threads == 1 ? " thread" : " threads"});
}

} // namespace detail

TWILL_BODY void configure_host(const HostOptions& options) {
  const detail::HostPartition& in_force = detail::divide_host(options);
  if (!(in_force.asked == options))
    throw DeviceError(join_text({"configure_host: the cores are divided already, as ", detail::describe(in_force),
                                 "; call it before the first use of a host device"}));
}

}} // namespace twill::v0
