#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Visible GPUs of the process, `cuda:0`, `cuda:1`, ...: those that CUDA_VISIBLE_DEVICES lists, in its order. A program
// may set the list itself until CUDA is first used, since CUDA reads it once; `gpus_by_free_memory` gives an order that
// makes the freest GPU the main device. Numbers are those of nvidia-smi, which CUDA uses when CUDA_DEVICE_ORDER is
// PCI_BUS_ID. Read next: device/cuda/nvml.hpp.

#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/core/text.hpp>
#include <twill/device/cuda/nvml.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace twill { inline namespace v0 {

namespace detail {
/// Whether CUDA has been asked for its devices; from then on their list is fixed.
TWILL_EXPORT inline constinit std::atomic<bool> cuda_was_asked{false};
} // namespace detail

/// The current list in CUDA_VISIBLE_DEVICES; "all" when there is none.
[[nodiscard]] inline std::string visible_devices() {
  const char* const list = std::getenv("CUDA_VISIBLE_DEVICES");
  return list == nullptr ? "all" : list;
}

/// Lets this process see only these GPUs, in this order: numbers as nvidia-smi shows them. An empty list hides all.
/// throws: DeviceError once CUDA was used, ValueError for a number that is negative or repeated
TWILL_COLD inline void set_visible_devices(const std::vector<int>& gpus) {
  std::string list{};
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    if (gpus[i] < 0) throw ValueError(join_text({"set_visible_devices: GPUs are numbered from 0; got ", gpus[i]}));
    if (std::find(gpus.begin(), gpus.begin() + static_cast<std::ptrdiff_t>(i), gpus[i]) !=
        gpus.begin() + static_cast<std::ptrdiff_t>(i))
      throw ValueError(join_text({"set_visible_devices: GPU ", gpus[i], " is listed twice; list each once"}));
    list += join_text({i == 0 ? "" : ",", gpus[i]});
  }
  if (detail::cuda_was_asked) {
    if (list == visible_devices()) return;
    throw DeviceError(join_text({"set_visible_devices: CUDA has read CUDA_VISIBLE_DEVICES already (", visible_devices(),
                                 "); call it before anything asks for a CUDA device"}));
  }
  setenv("CUDA_DEVICE_ORDER", "PCI_BUS_ID", 1);
  setenv("CUDA_VISIBLE_DEVICES", list.c_str(), 1);
}

/// The numbers of the machine's GPUs, the one with the most free memory first, for `set_visible_devices`.
/// throws: DeviceError without NVIDIA's driver
[[nodiscard]] TWILL_COLD inline std::vector<int>
gpus_by_free_memory(const nvml::Library& library = nvml::Library::of_driver()) {
  std::vector<nvml::Gpu> gpus = library.gpus();
  std::stable_sort(gpus.begin(), gpus.end(),
                   [](const nvml::Gpu& left, const nvml::Gpu& right) { return left.free_bytes > right.free_bytes; });
  std::vector<int> numbers{};
  for (const nvml::Gpu& gpu : gpus) numbers.push_back(gpu.index);
  return numbers;
}

/// "cuda:0 is GPU 2, NVIDIA H200 at 0000:1b:00.0", a line for each device of this process, from their buses. Without
/// NVIDIA's management library the lines have only the buses, and a last one the reason.
[[nodiscard]] TWILL_COLD inline std::string
describe_visible_devices(const std::vector<std::string>& buses,
                         const nvml::Library& library = nvml::Library::of_driver()) {
  if (buses.empty())
    return join_text({"no cuda devices (CUDA_VISIBLE_DEVICES: ", visible_devices(), ")\n",
                      library.is_usable() ? "" : library.problem(), library.is_usable() ? "" : "\n"});
  std::vector<nvml::Gpu> gpus{};
  std::string problem{};
  try {
    gpus = library.gpus();
  } catch (const DeviceError& error) {
    problem = join_text({error.what(), "\n"});
  }
  std::string text{};
  for (std::size_t i = 0; i < buses.size(); ++i) {
    const nvml::Gpu* const gpu = nvml::find_by_bus(gpus, buses[i]);
    text += gpu == nullptr ? join_text({"cuda:", i, " is at ", buses[i], "\n"})
                           : join_text({"cuda:", i, " is GPU ", gpu->index, ", ", gpu->name, " at ", buses[i], "\n"});
  }
  return text + problem;
}

}} // namespace twill::v0
