#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Tables of devices: `show_utilization` prints load and memory of each, `memory_table` lists the bytes that twill's
// pools hold and have held at most. The load of a host device is that of its cores over a short interval, by all
// processes; other kinds add an overload of `core_times`. Read next: profile/format.hpp, memory/summary.hpp.

#include <twill/core/config.hpp>
#include <twill/device/device.hpp>
#include <twill/memory/statistics.hpp>
#include <twill/profile/format.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <ostream>
#include <string>
#include <thread> // and with it durations
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace profile {

/// Time that cores have spent since the start of the machine, in the system's ticks.
struct CoreTimes {
  std::int64_t busy = 0; ///< clock ticks
  std::int64_t all = 0;  ///< clock ticks
};

/// The time that a set of cores has spent, from the text of /proc/stat.
[[nodiscard]] CoreTimes core_times_from(std::istream& stat, const std::vector<int>& cores);

/// The time that the cores of a host device have spent since the machine started, as /proc/stat says.
[[nodiscard]] CoreTimes core_times(Cpu device);

/// The share of an interval that a device was busy, 0 to 1; negative where nothing is known.
[[nodiscard]] double load_between(const CoreTimes& before, const CoreTimes& after);

namespace detail {

/// The load of each device over an interval.
template <class D>
[[nodiscard]] std::vector<double> loads(const std::vector<D>& devices, std::chrono::milliseconds interval) {
  std::vector<double> loads(devices.size(), -1);
  if constexpr (requires(const D& device) { core_times(device); }) {
    std::vector<CoreTimes> before;
    for (const D& device : devices) before.push_back(core_times(device));
    std::this_thread::sleep_for(interval);
    for (std::size_t i = 0; i < devices.size(); ++i) loads[i] = load_between(before[i], core_times(devices[i]));
  }
  return loads;
}

} // namespace detail

/// Id, load, memory and name of each device; the load is measured over an interval.
template <class D>
[[nodiscard]] Table utilization_table(const std::vector<D>& devices,
                                      std::chrono::milliseconds interval = std::chrono::milliseconds(100)) {
  const std::vector<double> loads = detail::loads(devices, interval);
  Table table(
      {{"id", Align::left}, {"load"}, {"pool used"}, {"pool held"}, {"used"}, {"total"}, {"name", Align::left}});
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const D& device = devices[i];
    const DeviceMemory whole = device_memory(device);
    table.row({twill::to_string(device), percent(loads[i], 0), format_bytes(memory_allocated(device)),
               format_bytes(memory_reserved(device)), format_bytes(whole.used), format_bytes(whole.total),
               device_name(device)});
  }
  return table;
}

/// Prints the table of all devices of a kind, host devices unless told otherwise.
template <class D = Cpu> void show_utilization(std::ostream& stream = std::cout) {
  stream << utilization_table(all_devices<D>());
}

/// The bytes that the pools of some devices hold now and have held at most.
template <class D> [[nodiscard]] Table memory_table(const std::vector<D>& devices) {
  Table table(
      {{"device", Align::left}, {"allocated"}, {"peak"}, {"reserved"}, {"peak"}, {"allocations"}, {"device free"}});
  for (const D& device : devices) {
    const auto stats = memory_stats(device);
    table.row({twill::to_string(device), format_bytes(memory_allocated(device)),
               format_bytes(max_memory_allocated(device)), format_bytes(memory_reserved(device)),
               format_bytes(max_memory_reserved(device)), std::to_string(stats.all.allocation.allocated),
               format_bytes(device_memory(device).free)});
  }
  return table;
}

}}} // namespace twill::v0::profile

#if TWILL_HEADER_ONLY
#include <twill/profile/device_table.ipp>
#endif
