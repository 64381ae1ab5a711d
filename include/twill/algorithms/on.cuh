#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Thrust's algorithms on a CUDA device: `thrust::sort(on(Cuda{0}), ...)` runs in the order of the device's stream,
// takes working memory from its pool, and makes the caller wait only if it returns a value. They run on the driver's
// current device, which has to be the named one (`set_device`, `DeviceGuard`). CUB takes `stream_of(device)` and
// `working_memory(device, bytes)`. Read next: algorithms/device_iterator.hpp.

#include <twill/algorithms/on.hpp>
#include <twill/core/error.hpp>
#include <twill/core/text.hpp>
#include <twill/device/cuda/cuda.cuh>
#include <twill/memory/buffer.hpp>

#include <thrust/system/cuda/execution_policy.h>

#include <cstddef>
#include <vector>

#include <cuda_runtime.h>

namespace twill { inline namespace v0 {
namespace algorithms {

/// Working memory for Thrust, from the pool of a device. A plain value, because Thrust copies it in functions of any
/// kind; its allocations are recorded in the thread, which takes them back.
template <class D> class PoolAllocator {
public:
  using value_type = char;

  /// Takes scratch memory of algorithms from the pool of this device.
  explicit PoolAllocator(const D& device) : device_{device} {}

  /// throws: OutOfMemoryError
  [[nodiscard]] char* allocate(std::ptrdiff_t bytes) {
    given().emplace_back(device_, static_cast<std::size_t>(bytes));
    return static_cast<char*>(given().back().data());
  }
  /// Keeps the memory until the stream has passed; then the pool takes it back.
  void deallocate(char* memory, std::size_t) noexcept {
    auto& buffers = given();
    for (auto& buffer : buffers)
      if (buffer.data() == memory) {
        buffer.swap(buffers.back());
        buffers.pop_back();
        return;
      }
  }

private:
  [[nodiscard]] static std::vector<memory::Buffer<D>>& given() {
    static thread_local std::vector<memory::Buffer<D>> buffers;
    return buffers;
  }

  D device_;
};

} // namespace algorithms

/// The stream of this thread's work on a device. throws: GpuError
[[nodiscard]] inline cudaStream_t stream_of(Cuda device) { return current_queue(device).stream(); }

/// Memory for an algorithm on the device's stream; it may be released as soon as the algorithm was started.
/// throws: OutOfMemoryError
[[nodiscard]] inline memory::Buffer<Cuda> working_memory(Cuda device, std::size_t bytes) { return {device, bytes}; }

/// Thrust's execution policy for a device. throws: DeviceError when another device is the driver's current one
[[nodiscard]] inline auto on(Cuda device) {
  int current = 0;
  gpu::check<CudaRuntime>(CudaRuntime::device_in_use(&current), "cudaGetDevice", device.index);
  if (current != device.index)
    throw DeviceError(join_text({"on: the policy is for cuda:", device.index,
                                 ", the driver's current device is cuda:", current, "; call set_device first"}));
  return thrust::cuda::par_nosync(algorithms::PoolAllocator<Cuda>{device}).on(stream_of(device));
}

}} // namespace twill::v0
