#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of device/cpu/memory.hpp.

#include <twill/device/cpu/memory.hpp>

namespace twill { inline namespace v0 {

TWILL_BODY void* Cpu::Upstream::allocate(std::size_t bytes) {
  const std::size_t alignment = bytes >= huge_page ? huge_page : small_alignment;
  if (bytes > static_cast<std::size_t>(-1) / 2) throw std::bad_alloc{};
  const std::size_t rounded = (std::max<std::size_t>(bytes, 1) + alignment - 1) / alignment * alignment;
  void* const memory = std::aligned_alloc(alignment, rounded);
  if (memory == nullptr) throw std::bad_alloc{};
  if (alignment == huge_page) madvise(memory, rounded, MADV_HUGEPAGE); // advice: a refusal changes nothing
  return memory;
}

TWILL_BODY std::size_t Cpu::Upstream::total_bytes() const {
  return std::min(meminfo("MemTotal: %zu kB"), number_in("/sys/fs/cgroup/memory.max"));
}

TWILL_BODY std::size_t Cpu::Upstream::free_bytes() const {
  const std::size_t limit = number_in("/sys/fs/cgroup/memory.max");
  const std::size_t machine = meminfo("MemAvailable: %zu kB");
  if (limit == unlimited) return machine;
  const std::size_t used = number_in("/sys/fs/cgroup/memory.current");
  return std::min(machine, used < limit ? limit - used : 0);
}

TWILL_BODY std::size_t Cpu::Upstream::meminfo(const char* pattern) {
  std::size_t kilobytes = 0;
  if (std::FILE* file = std::fopen("/proc/meminfo", "r")) {
    char line[256];
    while (std::fgets(line, sizeof(line), file) != nullptr)
      if (std::sscanf(line, pattern, &kilobytes) == 1) break;
    std::fclose(file);
  }
  return kilobytes * 1024;
}

TWILL_BODY std::size_t Cpu::Upstream::number_in(const char* path) {
  std::size_t number = unlimited;
  if (std::FILE* file = std::fopen(path, "r")) {
    if (std::fscanf(file, "%zu", &number) != 1) number = unlimited;
    std::fclose(file);
  }
  return number;
}

}} // namespace twill::v0
