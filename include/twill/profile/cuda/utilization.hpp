#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// The rows of `show_utilization` for GPUs: load and memory as NVIDIA's management library sees them, whoever causes them, beside
// what twill's pools hold. Asking uses no GPU, so it creates no context. Where the library is missing the table says so. Read
// next: profile/device_table.hpp, device/cuda/nvml.hpp.

#include <twill/device/cuda/nvml.hpp>
#include <twill/memory/out_of_memory.hpp>
#include <twill/profile/device_table.hpp>
#include <twill/profile/table.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace twill::inline v0::profile {

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
    const bool has_load = gpu != nullptr && gpu->load_percent >= 0;
    table.row({row.id, detail::percent_text(has_load ? gpu->load_percent / 100.0 : -1.0),
               detail::bytes_text(row.pool_used_bytes), detail::bytes_text(row.pool_held_bytes),
               gpu == nullptr ? std::string{"-"} : detail::bytes_text(gpu->used_bytes),
               gpu == nullptr ? std::string{"-"} : detail::bytes_text(gpu->total_bytes), row.name});
  }
  return table;
}

/// The table as text, or the reason why there is none.
[[nodiscard]] TWILL_COLD inline std::string gpu_utilization_text(const std::vector<GpuRow>& rows,
                                                                 const nvml::Library& library) {
  const std::string problem = library.is_usable() ? std::string{} : library.problem() + "\n";
  if (rows.empty()) return "no cuda devices\n" + problem;
  return to_string(gpu_utilization_table(rows, library)) + problem;
}

} // namespace twill::inline v0::profile
