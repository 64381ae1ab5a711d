#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of memory/out_of_memory.hpp.

#include <twill/memory/out_of_memory.hpp>

namespace twill { inline namespace v0 {
namespace memory {

TWILL_COLD TWILL_BODY std::string format_bytes(std::int64_t bytes) {
  constexpr const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes);
  int unit = 0;
  while (unit < 4 && (value >= 1024.0 || value <= -1024.0)) {
    value /= 1024.0;
    ++unit;
  }
  char text[48];
  std::snprintf(text, sizeof text, unit == 0 ? "%.0f %s" : "%.2f %s", value, units[unit]);
  return text;
}

} // namespace memory
TWILL_COLD TWILL_BODY std::string OutOfMemoryError::text(const std::string& device,
                                                         const memory::OutOfMemoryFigures& figures) {
  const bool limited = figures.limit != static_cast<std::size_t>(-1);
  const std::string limit = limited ? join_text({", limit ", memory::format_bytes(figures.limit)}) : std::string{};
  return join_text({"memory: ", device, " has no room for ", memory::format_bytes(figures.asked), " (", figures.asked,
                    " bytes): ", memory::format_bytes(figures.allocated), " allocated, ",
                    memory::format_bytes(figures.reserved), " reserved, ", memory::format_bytes(figures.cached),
                    " cached, ", memory::format_bytes(figures.free), " free of ", memory::format_bytes(figures.total),
                    " in total", limit,
                    "; release tensors, use a smaller batch, or raise the limit with set_memory_limit"});
}

}} // namespace twill::v0
