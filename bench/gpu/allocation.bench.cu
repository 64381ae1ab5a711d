// SPDX-License-Identifier: Apache-2.0
//
// One allocation and its release: twill's pool beside the driver's own stream-ordered allocator. PyTorch's caching allocator
// is measured by bench/gpu/peers.py.

#include "bench/gpu/programs.cuh"

#include <cstddef>
#include <string>

using namespace twill;

void bench_allocation(bench::Report& report) {
  for (const std::size_t bytes : {std::size_t{4096}, std::size_t{1} << 20}) {
    const cudaStream_t stream = report.stream();
    report.compare("gpu_allocation", std::to_string(bytes),
                   {{"twill", [bytes] { memory::Buffer<Cuda> buffer(Cuda{0}, bytes); }, {}, true},
                    {"cudaMallocAsync",
                     [bytes, stream] {
                       void* memory = nullptr;
                       bench::require(cudaMallocAsync(&memory, bytes, stream), "cudaMallocAsync");
                       bench::require(cudaFreeAsync(memory, stream), "cudaFreeAsync");
                     },
                     {},
                     true}});
  }
}
