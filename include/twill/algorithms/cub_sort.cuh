#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Long sorts on CUDA devices by CUB's radix sort, on twill's stream, with working memory from its pool. The keys and their
// order are those of twill's own kernels, so the results are the same. Read next: kernel/gpu/sort.hpp.

#include <twill/algorithms/sort.hpp>
#include <twill/device/cuda/cuda.cuh>
#include <twill/kernel/gpu/sort.hpp>
#include <twill/memory/buffer.hpp>

#include <cub/device/device_radix_sort.cuh>

#include <cstddef>
#include <cstdint>

namespace twill::inline v0::algorithms::inline TWILL_ISA {

/// The members are explained at `kernel::gpu::OwnSort`.
struct CubSort {
  [[nodiscard]] static constexpr int first(int) { return 1; }

  /// throws: OutOfMemoryError, GpuError
  template <class Key, class D>
  static void sort(const D& device, const kernel::gpu::RadixBuffers<Key>& buffers, std::int64_t count, int bits) {
    std::size_t bytes = 0;
    const auto run = [&](void* memory) {
      launch(device, [&](const auto& queue) {
        gpu::check<CudaRuntime>(cub::DeviceRadixSort::SortPairs(memory, bytes, buffers.keys[1], buffers.keys[0],
                                                                buffers.values[1], buffers.values[0], count, 0, bits,
                                                                queue.stream()),
                                "cub::DeviceRadixSort::SortPairs", device.index);
      });
    };
    run(nullptr); // says how much memory it needs
    const memory::Buffer<D> working(device, bytes);
    run(working.data());
  }
};

template <> struct LongSort<CudaRuntime> { using type = CubSort; };

} // namespace twill::inline v0::algorithms::inline TWILL_ISA
