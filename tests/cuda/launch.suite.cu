// SPDX-License-Identifier: Apache-2.0
//
// Launches in a program that makes calls to CUDA of its own, some of which fail.

#include <tests/support/suite.hpp>

#include <twill/device/cuda/cuda.cuh>
#include <twill/kernel/cuda/block.cuh>
#include <twill/memory/buffer.hpp>

#include <string>

#include <cuda_runtime.h>

namespace {

using namespace twill;
using test::Case;
using test::require_equal;
using test::require_throws;

constexpr Cuda device{0};

struct Number {
  int* to = nullptr;
};
struct WriteNumber {
  static constexpr int most_threads = 32;
  template <class Block> constexpr void operator()(const Block& block, const Number& p) const {
    block.each([&](int thread) { p.to[thread] = 7 + thread; });
  }
};

void errors_of_the_program_stay_its_own() {
  const memory::Buffer<Cuda> there(device, 32 * sizeof(int));
  int here[32] = {};
  require_equal(int{cudaSetDevice(1000)}, int{cudaErrorInvalidDevice});
  launch(device, [&](const auto& queue) {
    enqueue(queue, WriteNumber{}, gpu::LaunchShape{}, Number{static_cast<int*>(there.data())});
  });
  require_equal(int{cudaGetLastError()}, int{cudaErrorInvalidDevice}); // for the program to ask for
  copy_bytes(Cpu{0}, here, device, there.data(), sizeof here);
  require_equal(here[31], 38);
}
const Case own_status{"a launch is not blamed for an earlier error of the program's",
                      &errors_of_the_program_stay_its_own};

void a_launch_that_fails_is_told() {
  const auto start = [] {
    launch(device, [](const auto& queue) {
      enqueue(queue, WriteNumber{}, gpu::LaunchShape{.blocks = 1, .threads = 2048}, Number{});
    });
  };
  require_throws<GpuError>(start, "kernel launch on cuda:0");
  require_equal(int{cudaGetLastError()}, int{cudaSuccess}); // it is in the exception
}
const Case refused{"a launch that CUDA refuses is an exception, and leaves no error behind",
                   &a_launch_that_fails_is_told};

} // namespace
