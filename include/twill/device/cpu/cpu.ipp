#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of device/cpu/cpu.hpp.

#include <twill/device/cpu/cpu.hpp>

namespace twill { inline namespace v0 {

TWILL_BODY const std::vector<int>& cores_of(Cpu device) {
  require_exists(device, "cores_of");
  return detail::host_partition().cores[static_cast<std::size_t>(device.index)];
}

TWILL_COLD TWILL_BODY std::string device_name(Cpu device) {
  std::string name = "processor";
  if (std::FILE* file = std::fopen("/proc/cpuinfo", "r")) {
    char line[256];
    while (std::fgets(line, sizeof(line), file) != nullptr) {
      if (std::strncmp(line, "model name", 10) != 0) continue;
      if (const char* colon = std::strchr(line, ':')) name = colon + 2;
      while (!name.empty() && (name.back() == '\n' || name.back() == ' ')) name.pop_back();
      break;
    }
    std::fclose(file);
  }
  const auto& cores = cores_of(device);
  name += cores.size() == 1 ? ", core " : ", cores ";
  for (std::size_t i = 0; i < cores.size(); ++i) name += join_text({i > 0 ? "," : "", cores[i]});
  return name;
}

namespace detail {

TWILL_COLD TWILL_BODY CpuState::CpuState(Cpu device)
    : worker{cores_of(device), to_string(device), [](int index) { current_index<Cpu> = index; }, device.index},
      threads{cores_of(device), to_string(device)},
      team{threads} {}

TWILL_COLD TWILL_BODY CpuState& make_cpu_state(Cpu device) {
  require_exists(device, "device");
  const std::lock_guard lock{host_mutex};
  auto& slot = cpu_states[static_cast<std::size_t>(device.index)];
  CpuState* state = slot.load(std::memory_order_acquire);
  if (state == nullptr) {
    state = new CpuState{device};
    slot.store(state, std::memory_order_release);
  }
  return *state;
}

} // namespace detail
}} // namespace twill::v0
