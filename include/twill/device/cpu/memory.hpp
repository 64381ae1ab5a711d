#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Memory source of host devices: the C library, with huge pages requested for large blocks, because touching fresh
// small pages costs three times a whole fused kernel (measured). The pool keeps and reuses the memory that it gets
// here. Read next: memory/pool.hpp.

#include <twill/core/config.hpp>
#include <twill/device/cpu/cpu.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <new>

#include <sys/mman.h>

namespace twill { inline namespace v0 {

/// Memory of the host, in blocks of any size.
class Cpu::Upstream {
public:
  /// The memory of one host device; all of them share the process's heap.
  explicit Upstream(Cpu) {}

  /// Uninitialised memory, 64-byte aligned; from 2 MiB on aligned to 2 MiB, with huge pages where the system has them.
  /// throws: std::bad_alloc
  [[nodiscard]] void* allocate(std::size_t bytes);

  /// Returns memory of `allocate`.
  void release(void* memory, std::size_t) noexcept { std::free(memory); }

  /// The memory of the machine, or of the control group in which the process runs.
  [[nodiscard]] std::size_t total_bytes() const;

  /// The memory that is available without swapping.
  [[nodiscard]] std::size_t free_bytes() const;

private:
  static constexpr std::size_t small_alignment = 64;
  static constexpr std::size_t huge_page = std::size_t{2} << 20;
  static constexpr std::size_t unlimited = static_cast<std::size_t>(-1);

  [[nodiscard]] static std::size_t meminfo(const char* pattern);

  // "max" and a missing file both mean no limit.
  [[nodiscard]] static std::size_t number_in(const char* path);
};

}} // namespace twill::v0

#if TWILL_HEADER_ONLY
#include <twill/device/cpu/memory.ipp>
#endif
