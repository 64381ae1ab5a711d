#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of profile/device_table.hpp.

#include <twill/profile/device_table.hpp>

namespace twill { inline namespace v0 { namespace profile {

TWILL_BODY CoreTimes core_times_from(std::istream& stat, const std::vector<int>& cores) {
  CoreTimes times;
  for (std::string line; std::getline(stat, line);) {
    // cpuN user nice system idle iowait irq softirq steal ...; guest time is part of user time already
    int core = -1;
    long long ticks[8] = {};
    const int read = std::sscanf(line.c_str(), "cpu%d %lld %lld %lld %lld %lld %lld %lld %lld", &core, &ticks[0],
                                 &ticks[1], &ticks[2], &ticks[3], &ticks[4], &ticks[5], &ticks[6], &ticks[7]);
    if (read < 1 || std::find(cores.begin(), cores.end(), core) == cores.end()) continue;
    for (int field = 0; field < 8; ++field) {
      const bool is_idle = field == 3 || field == 4;
      times.all += ticks[field];
      if (!is_idle) times.busy += ticks[field];
    }
  }
  return times;
}

TWILL_BODY CoreTimes core_times(Cpu device) {
  std::ifstream stat("/proc/stat");
  return core_times_from(stat, cores_of(device));
}

TWILL_BODY double load_between(const CoreTimes& before, const CoreTimes& after) {
  const std::int64_t all = after.all - before.all;
  return all > 0 ? static_cast<double>(after.busy - before.busy) / static_cast<double>(all) : -1.0;
}

}}} // namespace twill::v0::profile
