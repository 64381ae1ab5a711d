#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Working memory for library engines that need more than a stream's allowance: an engine that pads or reorders images
// needs copies of them. A stream gets a piece of the needed size, doubled up from 64 MiB, and keeps it for the life of
// the process, so that a captured graph keeps its address and nothing is allocated in a steady step. It is not part of
// the pool; `device_memory` tells its size. Read next: device/cuda/plan_choice.hpp.

#include <twill/core/config.hpp>
#include <twill/device/gpu/gpu.hpp>
#include <twill/device/gpu/queue.hpp>
#include <twill/device/gpu/runtime.hpp>

#include <algorithm>
#include <cstddef>

namespace twill { inline namespace v0 { namespace gpu {

/// The most memory of an engine: an eighth of the device's memory, at least twice the allowance and at most 2 GiB,
/// which is more than the tensor cores need for batches of 256 images of 224 x 224.
[[nodiscard]] constexpr std::size_t library_bytes_of(std::size_t device_bytes) {
  constexpr std::size_t page = std::size_t{2} << 20;
  return std::clamp(device_bytes / 8, 2 * allowance_bytes, (2 * allowance_bytes) << (library_pieces - 1)) / page * page;
}
/// The most memory of an engine on a queue's device.
template <Runtime R> [[nodiscard]] std::size_t library_bytes(const Queue<R>& queue) {
  return library_bytes_of(queue.properties().total_bytes);
}

/// Memory of `bytes` for one engine at a time on the queue's stream, also while the stream is captured: the allowance
/// if it is enough, else the stream's smallest piece that is large enough, made if missing; null without room.
/// requires: bytes <= library_bytes(queue), and the queue's working memory, held until the engine's launches are
/// submitted
template <Runtime R>
[[nodiscard]] void* library_memory(const Queue<R>& queue, const WorkingMemory& working, std::size_t bytes) {
  if (bytes <= working.size().bytes) return working.memory();
  auto& pieces = working.library_memory();
  std::size_t wanted = 0;
  while ((2 * allowance_bytes) << wanted < bytes) ++wanted;
  for (std::size_t i = wanted; i < pieces.size(); ++i)
    if (pieces[i] != nullptr) return pieces[i];
  const Using<R> scope{queue.device()};
  const std::size_t piece_bytes = std::min((2 * allowance_bytes) << wanted, library_bytes(queue));
  void* piece = nullptr;
  if (R::allocate_while_capturing(&piece, piece_bytes) != 0) return nullptr;
  working.count_library_memory(piece_bytes);
  return pieces[wanted] = piece;
}

}}} // namespace twill::v0::gpu
