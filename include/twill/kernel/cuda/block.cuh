#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Block of threads of a CUDA grid, in the form of kernel bodies, and the one `__global__` function of twill: its
// template argument is the body that it runs. Bodies are constexpr functions, which --expt-relaxed-constexpr compiles
// for the device. Read next: kernel/gpu/launch.hpp.

#include <twill/core/config.hpp>
#include <twill/device/cuda/runtime.cuh>
#include <twill/device/gpu/queue.hpp>
#include <twill/kernel/apply.hpp>
#include <twill/kernel/gpu/block.hpp>
#include <twill/kernel/primitive.hpp>

#include <cstddef>
#include <cstdint>

#include <cuda_runtime.h>

namespace twill { inline namespace v0 { namespace kernel { namespace gpu {

/// A block of a CUDA grid. A phase is a call, and a `Local` a register.
class CudaBlock {
public:
  [[nodiscard]] __device__ int block() const { return static_cast<int>(blockIdx.x); }
  [[nodiscard]] __device__ int blocks() const { return static_cast<int>(gridDim.x); }
  [[nodiscard]] __device__ int threads() const { return static_cast<int>(blockDim.x); }

  template <class T> struct Local {
    T value;
    [[nodiscard]] constexpr T& operator[](int) { return value; }
    [[nodiscard]] constexpr const T& operator[](int) const { return value; }
  };

  template <class F> __device__ void each(F&& f) const { f(static_cast<int>(threadIdx.x)); }

  __device__ void barrier() const { __syncthreads(); }

  template <class T> [[nodiscard]] __device__ T* shared(std::size_t offset_bytes = 0) const {
    extern __shared__ __align__(16) unsigned char twill_shared_memory[];
    return reinterpret_cast<T*>(twill_shared_memory + offset_bytes);
  }

  template <Reduction Op, class T> __device__ void all_reduce(Local<T>& values, int width) const {
    for (int step = width / 2; step > 0; step /= 2) {
      const T other = exchanged(values.value, step);
      // the lower thread's value comes first, so that both compute the same bits
      values.value = (static_cast<int>(threadIdx.x) & step) == 0 ? combine<Op>(values.value, other)
                                                                 : combine<Op>(other, values.value);
    }
    __syncwarp(); // shuffles do not order memory: a lane may overwrite values that another has yet to read
  }

  [[nodiscard]] __device__ bool is_last(unsigned* counter, unsigned count) const {
    __threadfence();
    __syncthreads();
    bool last = false;
    if (threadIdx.x == 0) {
      last = atomicAdd(counter, 1U) == count - 1;
      if (last) *counter = 0;
    }
    last = __syncthreads_or(last ? 1 : 0) != 0; // a flag in shared memory would use bytes that plans give to rows
    if (last) __threadfence();
    return last;
  }

private:
  template <class T> [[nodiscard]] static __device__ T exchanged(T value, int step) {
    if constexpr (sizeof(T) == 1)
      return static_cast<T>(__shfl_xor_sync(0xffffffffU, static_cast<int>(value), step));
    else
      return __shfl_xor_sync(0xffffffffU, value, step);
  }
};

/// The number of blocks of a body that a processor must have room for; 0: the compiler decides.
template <class Body> [[nodiscard]] constexpr int least_blocks() {
  if constexpr (requires { Body::least_blocks; })
    return Body::least_blocks;
  else
    return 0;
}

/// Runs a body. `Body` is an empty type with `operator()(block, parameters)`; `Body::most_threads` bounds the block.
/// With `Body::least_blocks = 1` the compiler does not spill registers to allow more blocks.
template <class Body, class Parameters>
__global__ void __launch_bounds__(Body::most_threads, least_blocks<Body>())
    run_body(Body body, const __grid_constant__ Parameters parameters) {
  static_assert(sizeof(Parameters) <= 32764, "twill: a kernel's parameters have at most 32,764 bytes");
  body(CudaBlock{}, parameters);
}

}}}} // namespace twill::v0::kernel::gpu

namespace twill { inline namespace v0 {

/// Starts a body on the queue's stream. The body's type is deduced, so that types of closures stay out of its name.
/// throws: GpuError
template <class Body, class Parameters>
void enqueue(const gpu::Queue<CudaRuntime>& queue, Body body, const gpu::LaunchShape& shape,
             const Parameters& parameters) {
  const auto function = reinterpret_cast<const void*>(&kernel::gpu::run_body<Body, Parameters>);
  if (shape.shared_bytes > (48U << 10))
    gpu::check<CudaRuntime>(CudaRuntime::allow_shared_bytes(function, shape.shared_bytes), "cudaFuncSetAttribute",
                            queue.device());
  void* arguments[] = {&body, const_cast<Parameters*>(&parameters)}; // the driver copies them
  gpu::check<CudaRuntime>(CudaRuntime::launch(function, shape, arguments, queue.stream()), "kernel launch",
                          queue.device());
}

}} // namespace twill::v0
