#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// A management library without a driver: functions that tell of a machine that a test has described. The functions are plain
// ones, as in the real library, so the machine is one of the program.

#include <twill/device/cuda/nvml.hpp>

#include <cstddef>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

namespace twill::test {

struct FakeGpu {
  std::string name{};
  std::string bus{}; ///< as NVML writes it: "00000000:1B:00.0"
  unsigned long long used = 0;
  unsigned long long total = 0;
  int load = -1; ///< -1: the GPU does not tell
  std::vector<nvml::ProcessInfo> processes{};
};

struct FakeMachine {
  std::vector<FakeGpu> gpus{};
  int init_status = 0;
  int memory_status = 0;
};

inline FakeMachine& fake_machine() {
  static FakeMachine machine{};
  return machine;
}

[[nodiscard]] inline nvml::Functions fake_nvml() {
  return {
      .init = [] { return fake_machine().init_status; },
      .count =
          [](unsigned* count) {
            *count = static_cast<unsigned>(fake_machine().gpus.size());
            return 0;
          },
      .device =
          [](unsigned index, nvml::Device* device) {
            *device = &fake_machine().gpus[index];
            return 0;
          },
      .name =
          [](nvml::Device device, char* name, unsigned length) {
            std::snprintf(name, length, "%s", static_cast<const FakeGpu*>(device)->name.c_str());
            return 0;
          },
      .uuid =
          [](nvml::Device device, char* uuid, unsigned length) {
            std::snprintf(uuid, length, "GPU-of-%s", static_cast<const FakeGpu*>(device)->bus.c_str());
            return 0;
          },
      .pci_info =
          [](nvml::Device device, nvml::PciInfo* info) {
            std::snprintf(info->bus_id.data(), info->bus_id.size(), "%s",
                          static_cast<const FakeGpu*>(device)->bus.c_str());
            return 0;
          },
      .memory =
          [](nvml::Device device, nvml::Memory* memory) {
            const auto& gpu = *static_cast<const FakeGpu*>(device);
            *memory = {gpu.total, gpu.total - gpu.used, gpu.used};
            return fake_machine().memory_status;
          },
      .utilization =
          [](nvml::Device device, nvml::Utilization* utilization) {
            const auto& gpu = *static_cast<const FakeGpu*>(device);
            if (gpu.load < 0) return 3;
            *utilization = {static_cast<unsigned>(gpu.load), 0};
            return 0;
          },
      .error_text = [](nvml::Status status) { return status == 9 ? "driver not loaded" : "not supported"; },
      .processes =
          [](nvml::Device device, unsigned* count, nvml::ProcessInfo* infos) {
            const auto& gpu = *static_cast<const FakeGpu*>(device);
            for (std::size_t i = 0; i < gpu.processes.size() && i < *count; ++i) infos[i] = gpu.processes[i];
            *count = static_cast<unsigned>(gpu.processes.size());
            return 0;
          },
  };
}

} // namespace twill::test
