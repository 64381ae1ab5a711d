#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Long sorts on CUDA devices by CUB's radix sort. Its working memory comes from the caller, so compiled steps and
// recorded graphs sort with it. It is stable, and keys are integers, so the order is that of hosts.
// Not in expr.cuh: CUB takes longer to compile than a chain of operations. Read next: kernel/gpu/queue_sort.hpp.

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
  std::size_t bytes = room.bytes; // CUB refuses too few: it takes about a quarter of them
  twill::gpu::check<CudaRuntime>(cub::DeviceRadixSort::SortPairs(room.memory, bytes, keys, values,
                                                                 static_cast<std::uint32_t>(count), 0, bits,
                                                                 queue.stream()),
                                 "cub::DeviceRadixSort::SortPairs", queue.device());
  return keys.selector == 0 ? from : 1 - from;
}

}}}} // namespace twill::v0::kernel::gpu
