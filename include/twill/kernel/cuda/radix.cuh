#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Long sorts on CUDA devices by CUB's radix sort, which reads memory half as often as twill's own and in fewer
// launches. Its working memory comes from the caller, so compiled steps and recorded graphs sort with it, and its order
// is that of twill's sort, bit for bit: the keys are equal integers and both sorts are stable. This overload is more
// special than that of kernel/gpu/radix.hpp. Not in expr.cuh: CUB takes longer to compile than a chain of operations.
// Read next: kernel/gpu/queue_sort.hpp.

#include <twill/device/cuda/runtime.cuh>
#include <twill/device/gpu/queue.hpp>
#include <twill/kernel/cuda/block.cuh>
#include <twill/kernel/gpu/radix.hpp>

#include <cub/device/device_radix_sort.cuh>

#include <cstddef>
#include <cstdint>

namespace twill { inline namespace v0 { namespace kernel { namespace gpu {

/// throws: GpuError
template <class Key>
int enqueue_radix_sort(const twill::gpu::Queue<CudaRuntime>& queue, const RadixBuffers<Key>& buffers,
                       const RadixRoom& room, std::int64_t count, int bits, int from) {
  if (bits == 0) return from;
  cub::DoubleBuffer<Key> keys(buffers.keys[from], buffers.keys[1 - from]);
  cub::DoubleBuffer<std::uint32_t> values(buffers.values[from], buffers.values[1 - from]);
  const auto sort = [&](void* memory, std::size_t& bytes) {
    twill::gpu::check<CudaRuntime>(cub::DeviceRadixSort::SortPairs(memory, bytes, keys, values,
                                                                   static_cast<std::uint32_t>(count), 0, bits,
                                                                   queue.stream()),
                                   "cub::DeviceRadixSort::SortPairs", queue.device());
  };
  std::size_t bytes = 0;
  sort(nullptr, bytes); // returns how much memory it needs
  if (bytes > room.bytes) return enqueue_own_radix_sort(queue, buffers, room, count, bits, from);
  bytes = room.bytes;
  sort(room.memory, bytes);
  return keys.selector == 0 ? from : 1 - from;
}

}}}} // namespace twill::v0::kernel::gpu
