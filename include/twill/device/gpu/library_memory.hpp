#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Working memory for a library's engine that wants more than a stream's allowance: one that pads or reorders images wants
// copies of them. A stream gets it when it is first needed, always of the same size, and keeps it with the process, so a
// captured graph keeps its address and nothing is allocated in a steady step. Like the allowance it is no part of the pool.
// Read next: device/cuda/plan_choice.hpp.

#include <twill/core/config.hpp>
#include <twill/device/gpu/gpu.hpp>
#include <twill/device/gpu/queue.hpp>
#include <twill/device/gpu/runtime.hpp>

#include <algorithm>
#include <cstddef>

namespace twill::inline v0::gpu {

/// How much that is: a 512th of the device's memory, at least twice the allowance.
[[nodiscard]] constexpr std::size_t library_bytes_of(std::size_t device_bytes) {
  constexpr std::size_t page = std::size_t{2} << 20;
  return std::clamp(device_bytes / 512, 2 * allowance_bytes, 16 * allowance_bytes) / page * page;
}
/// The same of a queue's device.
template <Runtime R> [[nodiscard]] std::size_t library_bytes(const Queue<R>& queue) {
  return library_bytes_of(queue.properties().total_bytes);
}

/// Memory of `bytes` for one engine at a time on the queue's stream, also while the stream is captured: the allowance where
/// that is enough, else the stream's own for libraries, which is made when it is missing; null when there is no room.
/// requires: bytes <= library_bytes(queue), and the queue's working memory, held until the engine's launches are submitted
template <Runtime R>
[[nodiscard]] void* library_memory(const Queue<R>& queue, const WorkingMemory& working, std::size_t bytes) {
  if (bytes <= working.size().bytes) return working.memory();
  void*& kept = working.library_memory();
  if (kept != nullptr) return kept;
  const Using<R> scope{queue.device()};
  if (R::allocate_while_capturing(&kept, library_bytes(queue)) != 0) kept = nullptr;
  return kept;
}

} // namespace twill::inline v0::gpu
