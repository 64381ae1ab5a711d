#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// GPU information from NVIDIA's management library (NVML): load, memory, names, without a CUDA context and for all
// processes. The library comes with the driver and is loaded at first use, so no program needs it; without a driver
// there is a reason instead of figures. The prototypes are declared here, and tests supply their own functions.
// Read next: device/cuda/visible_devices.hpp.

#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/core/text.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <dlfcn.h>

namespace twill { inline namespace v0 { namespace nvml {

using Device = void*;
using Status = int;

struct Memory {
  unsigned long long total = 0;
  unsigned long long free = 0;
  unsigned long long used = 0;
};

struct Utilization {
  unsigned gpu = 0;
  unsigned memory = 0;
};

struct PciInfo {
  std::array<char, 16> legacy_bus_id{};
  unsigned domain = 0;
  unsigned bus = 0;
  unsigned device = 0;
  unsigned device_id = 0;
  unsigned subsystem_id = 0;
  std::array<char, 32> bus_id{};
};

/// A process on a GPU, in the third version of the call.
struct ProcessInfo {
  unsigned pid = 0;
  unsigned long long used_bytes = 0; ///< all bits set where the driver does not report it
  unsigned gpu_instance = 0;
  unsigned compute_instance = 0;
};

/// The library's functions that are used.
struct Functions {
  Status (*init)() = nullptr;
  Status (*count)(unsigned* count) = nullptr;
  Status (*device)(unsigned index, Device* device) = nullptr;
  Status (*name)(Device device, char* name, unsigned length) = nullptr;
  Status (*uuid)(Device device, char* uuid, unsigned length) = nullptr;
  Status (*pci_info)(Device device, PciInfo* info) = nullptr;
  Status (*memory)(Device device, Memory* memory) = nullptr;
  Status (*utilization)(Device device, Utilization* utilization) = nullptr;
  const char* (*error_text)(Status status) = nullptr;
  Status (*processes)(Device device, unsigned* count, ProcessInfo* infos) = nullptr; ///< null in old drivers
};

/// A process that computes on a GPU.
struct Process {
  int pid = 0;
  std::int64_t used_bytes = -1; ///< of the GPU's memory; -1 where the driver does not report it
};

/// A GPU of the machine.
struct Gpu {
  int index = 0; ///< in the order of the buses, as in nvidia-smi
  std::string name{};
  std::string uuid{}; ///< "GPU-..."
  std::string bus{};  ///< "00000000:1b:00.0", in lower case
  std::size_t total_bytes = 0;
  std::size_t used_bytes = 0;
  std::size_t free_bytes = 0;
  int load_percent = -1; ///< of the last moments; -1 where the GPU does not report it
  std::vector<Process> processes{};
};

/// The library, or the reason why it cannot be used.
class Library {
public:
  /// Uses functions that are loaded already, and initialises them.
  explicit Library(const Functions& functions) : functions_{functions} { begin(); }
  /// A library that cannot be used, with the reason.
  explicit Library(std::string problem) : problem_{std::move(problem)} {}

  /// The driver's library, loaded at the first call and kept.
  [[nodiscard]] TWILL_EXPORT static const Library& of_driver() {
    static const auto* const library = new Library{load("libnvidia-ml.so.1")};
    return *library;
  }

  /// Opens a shared library that has NVML's functions.
  [[nodiscard]] TWILL_COLD static Library load(const char* file) {
    void* const opened = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (opened == nullptr)
      return Library{join_text({"nvml: ", file, " cannot be loaded, it comes with NVIDIA's driver: ", dlerror()})};
    Functions found{};
    std::string missing{};
    const auto find = [&](auto*& function, const char* symbol) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(opened, symbol));
      if (function == nullptr && missing.empty()) missing = symbol;
    };
    find(found.init, "nvmlInit_v2");
    find(found.count, "nvmlDeviceGetCount_v2");
    find(found.device, "nvmlDeviceGetHandleByIndex_v2");
    find(found.name, "nvmlDeviceGetName");
    find(found.uuid, "nvmlDeviceGetUUID");
    find(found.pci_info, "nvmlDeviceGetPciInfo_v3");
    find(found.memory, "nvmlDeviceGetMemoryInfo");
    find(found.utilization, "nvmlDeviceGetUtilizationRates");
    find(found.error_text, "nvmlErrorString");
    found.processes =
        reinterpret_cast<decltype(found.processes)>(dlsym(opened, "nvmlDeviceGetComputeRunningProcesses_v3"));
    if (!missing.empty())
      return Library{join_text({"nvml: ", file, " has no function ", missing, "; update NVIDIA's driver"})};
    return Library{found};
  }

  [[nodiscard]] bool is_usable() const { return problem_.empty(); }
  /// The reason why it cannot be used; empty when it can.
  [[nodiscard]] const std::string& problem() const { return problem_; }

  /// All GPUs of the machine, in the order of their buses. throws: DeviceError when the library is missing, or fails
  [[nodiscard]] TWILL_COLD std::vector<Gpu> gpus() const {
    if (!is_usable()) throw DeviceError(problem_);
    unsigned count = 0;
    require(functions_.count(&count), "nvmlDeviceGetCount");
    std::vector<Gpu> all{};
    for (unsigned index = 0; index < count; ++index) {
      Device device = nullptr;
      require(functions_.device(index, &device), "nvmlDeviceGetHandleByIndex");
      Gpu& gpu = all.emplace_back();
      gpu.index = static_cast<int>(index);
      std::array<char, 96> text{};
      if (functions_.name(device, text.data(), static_cast<unsigned>(text.size())) == 0) gpu.name = text.data();
      if (functions_.uuid(device, text.data(), static_cast<unsigned>(text.size())) == 0) gpu.uuid = text.data();
      PciInfo pci{};
      require(functions_.pci_info(device, &pci), "nvmlDeviceGetPciInfo");
      gpu.bus = lower_case(pci.bus_id.data());
      Memory memory{};
      require(functions_.memory(device, &memory), "nvmlDeviceGetMemoryInfo");
      gpu.total_bytes = memory.total;
      gpu.used_bytes = memory.used;
      gpu.free_bytes = memory.free;
      Utilization load{};
      if (functions_.utilization(device, &load) == 0) gpu.load_percent = static_cast<int>(load.gpu);
      gpu.processes = processes_of(device);
    }
    return all;
  }

  [[nodiscard]] static std::string lower_case(std::string_view text) {
    std::string result{text};
    for (char& letter : result)
      if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
    return result;
  }

private:
  /// The processes that the library reports; none if it reports none.
  [[nodiscard]] std::vector<Process> processes_of(Device device) const {
    std::vector<ProcessInfo> infos(64);
    auto count = static_cast<unsigned>(infos.size());
    if (functions_.processes == nullptr) return {};
    Status status = functions_.processes(device, &count, infos.data());
    if (status != 0 && count > infos.size()) { // there are more: retry, with room for some that begin meanwhile
      infos.resize(count + std::size_t{16});
      count = static_cast<unsigned>(infos.size());
      status = functions_.processes(device, &count, infos.data());
    }
    if (status != 0) return {};
    std::vector<Process> found{};
    for (unsigned i = 0; i < count && i < infos.size(); ++i)
      found.push_back({static_cast<int>(infos[i].pid),
                       infos[i].used_bytes == ~0ULL ? -1 : static_cast<std::int64_t>(infos[i].used_bytes)});
    return found;
  }
  TWILL_COLD void begin() {
    if (const Status status = functions_.init(); status != 0)
      problem_ = join_text({"nvml: nvmlInit failed: ", functions_.error_text(status)});
  }
  void require(Status status, std::string_view call) const {
    if (status != 0) throw DeviceError(join_text({"nvml: ", call, " failed: ", functions_.error_text(status)}));
  }

  Functions functions_{};
  std::string problem_{};
};

/// Whether two texts name one place on the buses: CUDA writes four digits of the domain, NVML eight.
[[nodiscard]] inline bool is_same_bus(std::string_view left, std::string_view right) {
  const auto tail = [](std::string_view bus) {
    const auto colon = bus.find(':');
    return Library::lower_case(colon == std::string_view::npos || colon < 4 ? bus : bus.substr(colon - 4));
  };
  return tail(left) == tail(right);
}

/// The GPU at a place on the buses, or null.
[[nodiscard]] inline const Gpu* find_by_bus(const std::vector<Gpu>& gpus, std::string_view bus) {
  for (const Gpu& gpu : gpus)
    if (is_same_bus(gpu.bus, bus)) return &gpu;
  return nullptr;
}

}}} // namespace twill::v0::nvml
