#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// What the GPU benchmarks share: the groups of workloads that bench/gpu/main.cu runs, and the plain copy that is the
// reference of everything that the memory decides.

#include "bench/gpu/timing.cuh"

#include <twill/cuda.cuh>

#include <algorithm>
#include <cstddef>
#include <cstdint>

void bench_memory_bound(bench::Report& report);
void bench_products(bench::Report& report);
void bench_convolution(bench::Report& report);
void bench_attention(bench::Report& report);
void bench_steps(bench::Report& report);
void bench_resnet50(bench::Report& report);
void bench_gpt2(bench::Report& report);
void bench_allocation(bench::Report& report);

namespace bench {

/// A copy within the device that moves so many bytes, reads and writes counted.
class Copies {
public:
  explicit Copies(cudaStream_t stream) : stream_{stream} {}
  Copies(const Copies&) = delete;
  Copies& operator=(const Copies&) = delete;
  ~Copies() {
    cudaFree(from_);
    cudaFree(to_);
  }

  [[nodiscard]] Contender of(std::int64_t moved_bytes) {
    const auto bytes = static_cast<std::size_t>(moved_bytes / 2);
    if (bytes > room_) {
      require(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
      require(cudaFree(from_), "cudaFree");
      require(cudaFree(to_), "cudaFree");
      require(cudaMalloc(&from_, bytes), "cudaMalloc");
      require(cudaMalloc(&to_, bytes), "cudaMalloc");
      require(cudaMemset(from_, 1, bytes), "cudaMemset");
      room_ = bytes;
    }
    return {"reference",
            [this, bytes] {
              require(cudaMemcpyAsync(to_, from_, bytes, cudaMemcpyDeviceToDevice, stream_), "cudaMemcpyAsync");
            },
            {}};
  }

private:
  cudaStream_t stream_;
  void* from_ = nullptr;
  void* to_ = nullptr;
  std::size_t room_ = 0;
};

} // namespace bench
