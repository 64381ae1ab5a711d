#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Where the memory of host devices comes from: the C library, with huge pages asked for large blocks, because touching
// fresh small pages costs three times a whole fused kernel (measured). The pool above keeps and reuses what it gets from
// here. Read next: memory/pool.hpp.

#include <twill/device/cpu/cpu.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <new>

#include <sys/mman.h>

namespace twill::inline v0 {

/// Memory of the host, in blocks of any size.
class Cpu::Upstream {
public:
  /// The memory of one host device; all of them share the process's heap.
  explicit Upstream(Cpu) {}

  /// Uninitialised memory, 64-byte aligned; from 2 MiB on aligned to 2 MiB, with huge pages where the system has them.
  /// throws: std::bad_alloc
  [[nodiscard]] void* allocate(std::size_t bytes) {
    const std::size_t alignment = bytes >= huge_page ? huge_page : small_alignment;
    if (bytes > static_cast<std::size_t>(-1) / 2) throw std::bad_alloc{};
    const std::size_t rounded = (std::max<std::size_t>(bytes, 1) + alignment - 1) / alignment * alignment;
    void* const memory = std::aligned_alloc(alignment, rounded);
    if (memory == nullptr) throw std::bad_alloc{};
    if (alignment == huge_page) madvise(memory, rounded, MADV_HUGEPAGE); // advice: a refusal changes nothing
    return memory;
  }

  /// Gives back what `allocate` returned.
  void release(void* memory, std::size_t) noexcept { std::free(memory); }

  /// What the machine, or the control group the process runs in, has in all.
  [[nodiscard]] std::size_t total_bytes() const {
    return std::min(meminfo("MemTotal: %zu kB"), number_in("/sys/fs/cgroup/memory.max"));
  }

  /// What can still be had without swapping.
  [[nodiscard]] std::size_t free_bytes() const {
    const std::size_t limit = number_in("/sys/fs/cgroup/memory.max");
    const std::size_t machine = meminfo("MemAvailable: %zu kB");
    if (limit == unlimited) return machine;
    const std::size_t used = number_in("/sys/fs/cgroup/memory.current");
    return std::min(machine, used < limit ? limit - used : 0);
  }

private:
  static constexpr std::size_t small_alignment = 64;
  static constexpr std::size_t huge_page = std::size_t{2} << 20;
  static constexpr std::size_t unlimited = static_cast<std::size_t>(-1);

  [[nodiscard]] static std::size_t meminfo(const char* pattern) {
    std::size_t kilobytes = 0;
    if (std::FILE* file = std::fopen("/proc/meminfo", "r")) {
      char line[256];
      while (std::fgets(line, sizeof(line), file) != nullptr)
        if (std::sscanf(line, pattern, &kilobytes) == 1) break;
      std::fclose(file);
    }
    return kilobytes * 1024;
  }

  // "max" and a missing file both mean that there is no limit.
  [[nodiscard]] static std::size_t number_in(const char* path) {
    std::size_t number = unlimited;
    if (std::FILE* file = std::fopen(path, "r")) {
      if (std::fscanf(file, "%zu", &number) != 1) number = unlimited;
      std::fclose(file);
    }
    return number;
  }
};

} // namespace twill::inline v0
