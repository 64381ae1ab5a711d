#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Utilization tables for programs with CUDA: `show_utilization()` prints that of the host devices and that of the GPUs.
// Read next: profile/cuda/utilization.hpp.

#include <twill/device/cuda/cuda.cuh>
#include <twill/device/cuda/visible_devices.hpp>
#include <twill/memory/statistics.hpp>
#include <twill/profile/cuda/utilization.hpp>
#include <twill/profile/device_table.hpp>

#include <iostream>
#include <ostream>
#include <string>
#include <vector>

namespace twill { inline namespace v0 { namespace profile {

/// The rows of some GPUs. Asking uses none of them.
[[nodiscard]] inline std::vector<GpuRow> gpu_rows(const std::vector<Cuda>& devices) {
  std::vector<GpuRow> rows{};
  for (const Cuda& device : devices) {
    gpu::Properties properties{};
    gpu::check<CudaRuntime>(CudaRuntime::read_properties(device.index, &properties), "read_properties", device.index);
    rows.push_back(
        {twill::to_string(device), properties.bus, properties.name, memory_allocated(device), memory_reserved(device)});
  }
  return rows;
}

/// Prints the tables of all host devices and of all GPUs.
inline void show_utilization(std::ostream& stream = std::cout) {
  stream << utilization_table(all_devices<Cpu>())
         << gpu_utilization_text(gpu_rows(all_devices<Cuda>()), nvml::Library::of_driver());
}

}}} // namespace twill::v0::profile

namespace twill { inline namespace v0 {

/// The GPUs of the machine that this process's devices are, a line for each.
[[nodiscard]] inline std::string describe_visible_devices() {
  std::vector<std::string> buses{};
  for (const auto& row : profile::gpu_rows(all_devices<Cuda>())) buses.push_back(row.bus);
  return describe_visible_devices(buses);
}

}} // namespace twill::v0
