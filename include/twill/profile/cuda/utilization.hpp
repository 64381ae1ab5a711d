#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Utilization of GPUs as NVIDIA's management library sees it, by all processes, for `show_utilization` and for a table
// of the whole machine: the host devices of this process and every GPU, with load, memory and the processes on it.
// Asking uses no GPU, so it creates no context, and needs neither CUDA nor a driver: without one the text says why
// there are no figures. `examples/16_smi.cpp` prints the machine. Read next: profile/device_table.hpp,
// device/cuda/nvml.hpp.

#include <twill/device/cuda/nvml.hpp>
#include <twill/profile/device_table.hpp>
#include <twill/profile/format.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

namespace twill { inline namespace v0 { namespace profile {

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

[[nodiscard]] inline std::string load_text(const nvml::Gpu& gpu) {
  return gpu.load_percent < 0 ? "-" : percent(gpu.load_percent / 100.0, 0);
}

} // namespace detail

/// A GPU of this process, and what its pool holds.
struct GpuRow {
  std::string id{};                 ///< "cuda:0"
  std::string bus{};                ///< by which the library knows it
  std::string name{};               ///< the driver's
  std::int64_t pool_used_bytes = 0; ///< in use by tensors of this process
  std::int64_t pool_held_bytes = 0; ///< held by the pool of this process
};

/// Id, load, memory and name of each GPU; what is not known is "-".
[[nodiscard]] TWILL_COLD inline Table gpu_utilization_table(const std::vector<GpuRow>& rows,
                                                            const nvml::Library& library) {
  std::vector<nvml::Gpu> gpus{};
  try {
    gpus = library.gpus();
  } catch (const DeviceError&) { // the caller tells the reason under the table
  }
  Table table(
      {{"id", Align::left}, {"load"}, {"pool used"}, {"pool held"}, {"used"}, {"total"}, {"name", Align::left}});
  for (const GpuRow& row : rows) {
    const nvml::Gpu* const gpu = nvml::find_by_bus(gpus, row.bus);
    table.row({row.id, gpu == nullptr ? "-" : detail::load_text(*gpu), format_bytes(row.pool_used_bytes),
               format_bytes(row.pool_held_bytes), gpu == nullptr ? "-" : format_bytes(gpu->used_bytes),
               gpu == nullptr ? "-" : format_bytes(gpu->total_bytes), row.name});
  }
  return table;
}

/// The table as text, or the reason for its absence.
[[nodiscard]] TWILL_COLD inline std::string gpu_utilization_text(const std::vector<GpuRow>& rows,
                                                                 const nvml::Library& library) {
  const std::string problem = library.is_usable() ? std::string{} : library.problem() + "\n";
  if (rows.empty()) return "no cuda devices\n" + problem;
  return to_string(gpu_utilization_table(rows, library)) + problem;
}

/// Id, name, load and memory of some host devices, which share the machine's memory. Their load is measured over an
/// interval.
[[nodiscard]] inline Table host_table(const std::vector<Cpu>& devices, std::chrono::milliseconds interval) {
  const std::vector<double> loads = detail::loads(devices, interval);
  Table table({{"id", Align::left}, {"load"}, {"used"}, {"free"}, {"total"}, {"name", Align::left}});
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const DeviceMemory memory = device_memory(devices[i]);
    table.row({twill::to_string(devices[i]), percent(loads[i], 0), format_bytes(memory.used), format_bytes(memory.free),
               format_bytes(memory.total), device_name(devices[i])});
  }
  return table;
}

/// Id, name, load and memory of GPUs, in the order of their buses.
[[nodiscard]] TWILL_COLD inline Table gpu_table(const std::vector<nvml::Gpu>& gpus) {
  Table table({{"id", Align::left}, {"load"}, {"used"}, {"free"}, {"total"}, {"name", Align::left}});
  for (const nvml::Gpu& gpu : gpus)
    table.row({"gpu:" + std::to_string(gpu.index), detail::load_text(gpu), format_bytes(gpu.used_bytes),
               format_bytes(gpu.free_bytes), format_bytes(gpu.total_bytes), gpu.name});
  return table;
}

/// The processes on GPUs, and their shares of the memory of their GPU.
[[nodiscard]] TWILL_COLD inline Table process_table(const std::vector<nvml::Gpu>& gpus) {
  Table table({{"gpu", Align::left}, {"process"}, {"memory"}, {"share"}, {"name", Align::left}});
  for (const nvml::Gpu& gpu : gpus)
    for (const nvml::Process& process : gpu.processes)
      table.row({"gpu:" + std::to_string(gpu.index), std::to_string(process.pid),
                 process.used_bytes < 0 ? "-" : format_bytes(process.used_bytes),
                 percent(static_cast<double>(process.used_bytes) / static_cast<double>(gpu.total_bytes), 0),
                 detail::process_name(process.pid)});
  return table;
}

/// The tables of all devices of the machine, and where there are no GPUs the reason.
[[nodiscard]] TWILL_COLD inline std::string
machine_text(const nvml::Library& library = nvml::Library::of_driver(),
             std::chrono::milliseconds interval = std::chrono::milliseconds(100)) {
  std::string text = to_string(host_table(all_devices<Cpu>(), interval));
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

}}} // namespace twill::v0::profile
