// SPDX-License-Identifier: Apache-2.0
//
// Kernels that are wrong on purpose, each beside a twin that is right. `test_ptxrun_kernels <name>` runs one of them on the
// PTX interpreter; check_findings.py compares what is reported with the comment `// finds: ...` above the kernel, and expects
// the place to lie within the kernel.

#include <cassert>
#include <cstdio>
#include <string_view>

#include <cuda_runtime.h>

namespace {

constexpr int threads = 64;

// finds: shared write-read race
__global__ void missing_barrier(float* p) {
  __shared__ float s[threads];
  s[threadIdx.x] = p[threadIdx.x];
  p[threadIdx.x] = s[threads - 1 - threadIdx.x];
}
// finds: nothing
__global__ void with_barrier(float* p) {
  __shared__ float s[threads];
  s[threadIdx.x] = p[threadIdx.x];
  __syncthreads();
  p[threadIdx.x] = s[threads - 1 - threadIdx.x];
}

// The second round writes what others may still read.
// finds: shared read-write race
__global__ void missing_second_barrier(float* p) {
  __shared__ float s[threads];
  for (int i = 0; i < 2; ++i) {
    s[threadIdx.x] = p[threadIdx.x] + static_cast<float>(i);
    __syncthreads();
    p[threadIdx.x] = s[threads - 1 - threadIdx.x];
  }
}
// finds: nothing
__global__ void with_second_barrier(float* p) {
  __shared__ float s[threads];
  for (int i = 0; i < 2; ++i) {
    s[threadIdx.x] = p[threadIdx.x] + static_cast<float>(i);
    __syncthreads();
    p[threadIdx.x] = s[threads - 1 - threadIdx.x];
    __syncthreads();
  }
}

// finds: uninitialised shared read
__global__ void uninitialised(float* p) {
  __shared__ float s[threads];
  if (threadIdx.x < 32) s[threadIdx.x] = 1;
  __syncthreads();
  p[threadIdx.x] = s[threadIdx.x];
}
// finds: nothing
__global__ void initialised(float* p) {
  __shared__ float s[threads];
  if (threadIdx.x < 32) s[threadIdx.x] = s[threadIdx.x + 32] = 1;
  __syncthreads();
  p[threadIdx.x] = s[threadIdx.x];
}

// finds: out of bounds
__global__ void one_past_the_end(float* p) { p[2 * threads * gridDim.x + threadIdx.x - 63] = 1; }
// finds: nothing
__global__ void up_to_the_end(float* p) { p[2 * threads * gridDim.x + threadIdx.x - 64] = 1; }

// finds: misaligned
__global__ void misaligned_vector(float* p) { *reinterpret_cast<float4*>(p + 1) = float4{1, 2, 3, 4}; }
// finds: nothing
__global__ void aligned_vector(float* p) { *reinterpret_cast<float4*>(p + 4) = float4{1, 2, 3, 4}; }

// finds: out of bounds
__global__ void past_dynamic_shared(float* p) {
  extern __shared__ float d[];
  d[threadIdx.x + 1] = 1;
  __syncthreads();
  p[threadIdx.x] = d[threads - threadIdx.x];
}
// finds: nothing
__global__ void within_dynamic_shared(float* p) {
  extern __shared__ float d[];
  d[threadIdx.x] = 1;
  __syncthreads();
  p[threadIdx.x] = d[threads - 1 - threadIdx.x];
}

// finds: not reached by all
__global__ void shuffle_in_a_branch(float* p) {
  float x = p[threadIdx.x];
  if (threadIdx.x % 2 != 0) x += __shfl_xor_sync(0xffffffffU, x, 1);
  p[threadIdx.x] = x;
}
// finds: nothing
__global__ void shuffle_of_all(float* p) {
  float x = p[threadIdx.x];
  x += __shfl_xor_sync(0xffffffffU, x, 1);
  p[threadIdx.x] = x;
}

// Launched with 16 threads.
// finds: shuffle reads a lane that does not exist
__global__ void shuffle_of_a_partial_warp(float* p) {
  float x = p[threadIdx.x];
  x += __shfl_xor_sync(0xffffffffU, x, 16);
  p[threadIdx.x] = x;
}
// finds: nothing
__global__ void shuffle_within_a_partial_warp(float* p) {
  float x = p[threadIdx.x];
  x += __shfl_xor_sync(0x0000ffffU, x, 8);
  p[threadIdx.x] = x;
}

// finds: barrier in divergent code
__global__ void divergent_barrier(float* p) {
  __shared__ float s[threads];
  s[threadIdx.x] = p[threadIdx.x];
  if (threadIdx.x % 3 != 0) {
    __syncthreads();
    p[threadIdx.x] = s[threads - 1 - threadIdx.x];
  }
}

// Each block changes the same number.
// finds: global write-write race between blocks
__global__ void race_between_blocks(float* p) {
  if (threadIdx.x == 0) p[0] = p[0] + static_cast<float>(blockIdx.x);
}
// finds: nothing
__global__ void sum_between_blocks(float* p) {
  if (threadIdx.x == 0) atomicAdd(p, static_cast<float>(blockIdx.x));
}

// finds: global write-read race within a block
__global__ void race_within_a_block(float* p) {
  p[threadIdx.x] = 1;
  p[threads + threadIdx.x] = p[threads - 1 - threadIdx.x];
}
// finds: nothing
__global__ void ordered_within_a_block(float* p) {
  p[threadIdx.x] = 1;
  __syncthreads();
  p[threads + threadIdx.x] = p[threads - 1 - threadIdx.x];
}

/// The last block that comes adds what all have written.
__device__ void add_up(float* p, unsigned* counter, bool fences) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    p[1 + blockIdx.x] = static_cast<float>(blockIdx.x);
    if (fences) __threadfence();
    last = atomicAdd(counter, 1U) == gridDim.x - 1;
    if (last) *counter = 0;
  }
  __syncthreads();
  if (!last || threadIdx.x != 0) return;
  if (fences) __threadfence();
  float sum = 0;
  for (unsigned i = 0; i < gridDim.x; ++i) sum += p[1 + i];
  p[0] = sum;
}
// finds: global write-read race between blocks
__global__ void last_block_without_fence(float* p, unsigned* counter) { add_up(p, counter, false); }
// finds: nothing
__global__ void last_block_with_fence(float* p, unsigned* counter) { add_up(p, counter, true); }

// finds: trap
__global__ void traps(float* p) {
  if (p[threadIdx.x] == 0) __trap();
}

// finds: assert
__global__ void asserts(float* p) { assert(p[threadIdx.x] != 0); }

// finds: endless loop
__global__ void spins(float* p) {
  while (static_cast<volatile float*>(p)[0] == 0) {
  }
}

struct Run {
  std::string_view name;
  void (*launch)(float* p, unsigned* counter);
};
#define PTXRUN_RUN(kernel, blocks, block, shared)                                                                      \
  Run {                                                                                                                \
#kernel, [](float* p, unsigned*) { kernel<<<blocks, block, shared>>>(p); }                                         \
  }
constexpr Run runs[] = {
    PTXRUN_RUN(missing_barrier, 1, threads, 0),
    PTXRUN_RUN(with_barrier, 1, threads, 0),
    PTXRUN_RUN(missing_second_barrier, 1, threads, 0),
    PTXRUN_RUN(with_second_barrier, 1, threads, 0),
    PTXRUN_RUN(uninitialised, 1, threads, 0),
    PTXRUN_RUN(initialised, 1, threads, 0),
    PTXRUN_RUN(one_past_the_end, 1, threads, 0),
    PTXRUN_RUN(up_to_the_end, 1, threads, 0),
    PTXRUN_RUN(misaligned_vector, 1, 1, 0),
    PTXRUN_RUN(aligned_vector, 1, 1, 0),
    PTXRUN_RUN(past_dynamic_shared, 1, threads, threads * sizeof(float)),
    PTXRUN_RUN(within_dynamic_shared, 1, threads, threads * sizeof(float)),
    PTXRUN_RUN(shuffle_in_a_branch, 1, 32, 0),
    PTXRUN_RUN(shuffle_of_all, 1, 32, 0),
    PTXRUN_RUN(shuffle_of_a_partial_warp, 1, 16, 0),
    PTXRUN_RUN(shuffle_within_a_partial_warp, 1, 16, 0),
    PTXRUN_RUN(divergent_barrier, 1, threads, 0),
    PTXRUN_RUN(race_between_blocks, 4, 32, 0),
    PTXRUN_RUN(sum_between_blocks, 4, 32, 0),
    PTXRUN_RUN(race_within_a_block, 1, threads, 0),
    PTXRUN_RUN(ordered_within_a_block, 1, threads, 0),
    Run{"last_block_without_fence", [](float* p, unsigned* c) { last_block_without_fence<<<8, threads>>>(p, c); }},
    Run{"last_block_with_fence", [](float* p, unsigned* c) { last_block_with_fence<<<8, threads>>>(p, c); }},
    PTXRUN_RUN(traps, 1, 1, 0),
    PTXRUN_RUN(asserts, 1, 1, 0),
    PTXRUN_RUN(spins, 1, 1, 0),
};

} // namespace

int main(int count, char** arguments) {
  float* p = nullptr;
  unsigned* counter = nullptr;
  if (cudaMalloc(&p, 2 * threads * sizeof(float)) != cudaSuccess) return 1;
  if (cudaMalloc(&counter, sizeof(unsigned)) != cudaSuccess) return 1;
  cudaMemset(p, 0, 2 * threads * sizeof(float));
  cudaMemset(counter, 0, sizeof(unsigned));
  for (const Run& run : runs) {
    if (count < 2) {
      std::printf("%.*s\n", static_cast<int>(run.name.size()), run.name.data());
    } else if (run.name == arguments[1]) {
      run.launch(p, counter);
      return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
    }
  }
  return count < 2 ? 0 : 2;
}
