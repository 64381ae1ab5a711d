// SPDX-License-Identifier: Apache-2.0
//
// bench_gpu OUT.json: runs the GPU benchmarks and writes their times. Ends with 4 where there is no GPU.

#include "bench/gpu/programs.cuh"

#include <cstdio>
#include <cstdlib>
#include <string>

int main(int count, char** arguments) {
  using twill::Cuda;
  if (count != 2) {
    std::fprintf(stderr, "usage: %s OUT.json\n", arguments[0]);
    return 2;
  }
  if (Cuda::count() == 0) {
    std::printf("skipped: this machine has no GPU\n");
    return 4;
  }
  cudaStream_t stream = nullptr;
  launch(Cuda{0}, [&](const auto& queue) { stream = queue.stream(); });
  bench::Report report{stream};
  bench_memory_bound(report);
  bench_products(report);
  bench_steps(report);
  bench_allocation(report);
  const auto text = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string{value != nullptr ? value : "unknown"};
  };
  int driver = 0;
  bench::require(cudaDriverGetVersion(&driver), "cudaDriverGetVersion");
  report.write(arguments[1], {{"machine", device_name(Cuda{0}) + ", CUDA " + std::to_string(driver / 1000) + "." +
                                              std::to_string(driver % 1000 / 10) + " driver"},
                              {"compiler", "nvcc " + std::to_string(__CUDACC_VER_MAJOR__) + "." +
                                               std::to_string(__CUDACC_VER_MINOR__)},
                              {"commit", text("TWILL_COMMIT")}});
}
