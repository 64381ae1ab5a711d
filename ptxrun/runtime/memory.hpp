#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Device and pinned memory of the CUDA runtime stand-in. Each allocation lies between two pages that trap, is filled with a
// pattern that is NaN in every floating-point type, and is registered with the interpreter, which refuses all other
// addresses to kernels.

#include <ptxrun/runtime/state.hpp>

#include <cstddef>

namespace ptxrun::runtime {

enum class Where : bool { device, host };

[[nodiscard]] cudaError_t allocate(void** to, std::size_t bytes, Where where);
/// The caller has waited for all work that may use the memory.
[[nodiscard]] cudaError_t release(void* memory, Where where);

/// What was allocated on a device and not released.
[[nodiscard]] std::size_t used_bytes(int device);

/// Which memory of the runtime's an address lies in. What lies in none is the program's own, which kernels cannot reach.
struct Found {
  bool is_known = false;
  Where where = Where::host;
  int device = 0;
};
[[nodiscard]] Found find(const void* address);

/// Reports a finding where `bytes` from the address on leave the allocation that it lies in.
void check_range(const char* call, const void* address, std::size_t bytes);

} // namespace ptxrun::runtime
