#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// All devices of the machine, whoever uses them: the host devices of this process and every GPU that NVIDIA's management library
// knows, with their load, their memory and the processes on them. It needs neither CUDA nor a GPU; without a driver the text
// says why there are no figures. `examples/16_smi.cpp` prints it. Read next: profile/cuda/utilization.hpp.

#include <twill/device/cuda/nvml.hpp>
#include <twill/profile/device_table.hpp>
#include <twill/profile/table.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

namespace twill::inline v0::profile {

namespace detail {
/// The name of a process of this machine, "-" where the system does not tell.
[[nodiscard]] inline std::string process_name(int pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/comm");
  std::string name{};
  if (!std::getline(file, name)) return "-";
  for (char& letter : name) // a process may call itself anything
    if (static_cast<unsigned char>(letter) < 0x20 || letter == 0x7f) letter = '?';
  return name;
}
[[nodiscard]] inline std::string memory_share_text(std::int64_t bytes, std::size_t total) {
  if (bytes < 0 || total == 0) return "-";
  return percent_text(static_cast<double>(bytes) / static_cast<double>(total));
}
} // namespace detail

/// Id, name, load and memory of some host devices, which share the machine's memory. Their load is measured over an interval.
[[nodiscard]] inline Table host_table(const std::vector<Cpu>& devices, std::chrono::milliseconds interval) {
  std::vector<CoreTimes> before{};
  for (const Cpu& device : devices) before.push_back(core_times(device));
  std::this_thread::sleep_for(interval);
  Table table({{"id", Align::left}, {"load"}, {"used"}, {"free"}, {"total"}, {"name", Align::left}});
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const DeviceMemory memory = device_memory(devices[i]);
    table.row({twill::to_string(devices[i]), detail::percent_text(load_between(before[i], core_times(devices[i]))),
               detail::bytes_text(memory.used), detail::bytes_text(memory.free), detail::bytes_text(memory.total),
               device_name(devices[i])});
  }
  return table;
}

/// The same of GPUs, in the order of their buses.
[[nodiscard]] TWILL_COLD inline Table gpu_table(const std::vector<nvml::Gpu>& gpus) {
  Table table({{"id", Align::left}, {"load"}, {"used"}, {"free"}, {"total"}, {"name", Align::left}});
  for (const nvml::Gpu& gpu : gpus)
    table.row({"gpu:" + std::to_string(gpu.index),
               detail::percent_text(gpu.load_percent >= 0 ? gpu.load_percent / 100.0 : -1.0),
               detail::bytes_text(gpu.used_bytes), detail::bytes_text(gpu.free_bytes),
               detail::bytes_text(gpu.total_bytes), gpu.name});
  return table;
}

/// The processes on GPUs: their share of the memory of theirs.
[[nodiscard]] TWILL_COLD inline Table process_table(const std::vector<nvml::Gpu>& gpus) {
  Table table({{"gpu", Align::left}, {"process"}, {"memory"}, {"share"}, {"name", Align::left}});
  for (const nvml::Gpu& gpu : gpus)
    for (const nvml::Process& process : gpu.processes)
      table.row({"gpu:" + std::to_string(gpu.index), std::to_string(process.pid),
                 process.used_bytes < 0 ? std::string{"-"} : detail::bytes_text(process.used_bytes),
                 detail::memory_share_text(process.used_bytes, gpu.total_bytes), detail::process_name(process.pid)});
  return table;
}

/// The tables of all devices of the machine, and where there are no GPUs the reason.
[[nodiscard]] TWILL_COLD inline std::string
machine_text(const nvml::Library& library = nvml::Library::of_driver(),
             std::chrono::milliseconds interval = std::chrono::milliseconds(100)) {
  std::string text = to_string(host_table(detail::all_devices<Cpu>(), interval));
  std::vector<nvml::Gpu> gpus{};
  try {
    gpus = library.gpus();
  } catch (const DeviceError& error) {
    return text + "\nno GPUs: " + error.what() + "\n";
  }
  if (gpus.empty()) return text + "\nno GPUs\n";
  text += "\n" + to_string(gpu_table(gpus));
  bool has_processes = false;
  for (const nvml::Gpu& gpu : gpus) has_processes = has_processes || !gpu.processes.empty();
  return has_processes ? text + "\n" + to_string(process_table(gpus)) : text;
}

} // namespace twill::inline v0::profile
