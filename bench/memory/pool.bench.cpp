// SPDX-License-Identifier: Apache-2.0
//
// Allocation and release of one block again and again, as a step without a plan does, beside malloc and free. The block is
// first proved to be writable to its ends, and the timed part to ask the system for nothing.

#include <twill/device.hpp>
#include <twill/memory/buffer.hpp>
#include <twill/memory/statistics.hpp>

#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>

using namespace twill;

namespace {

void touch(void* block, std::size_t bytes) {
  auto* first = static_cast<volatile char*>(block);
  first[0] = 1;
  first[bytes - 1] = 2;
  if (first[0] != 1 || first[bytes - 1] != 2) std::exit(1);
}

void with_malloc(benchmark::State& state) {
  const auto bytes = static_cast<std::size_t>(state.range(0));
  for (int i = 0; i < 3; ++i) { // the library raises its threshold of mapping at the first release
    void* block = std::malloc(bytes);
    touch(block, bytes);
    std::free(block);
  }
  for (auto _ : state) {
    void* block = std::malloc(bytes);
    benchmark::DoNotOptimize(block);
    std::free(block);
  }
}

void with_pool(benchmark::State& state) {
  const auto bytes = static_cast<std::size_t>(state.range(0));
  const Cpu device{0};
  {
    const memory::Buffer<Cpu> block{device, bytes};
    touch(block.data(), bytes);
  }
  const auto reserved = memory_reserved(device);
  for (auto _ : state) {
    const memory::Buffer<Cpu> block{device, bytes};
    benchmark::DoNotOptimize(block.data());
  }
  if (memory_reserved(device) != reserved) {
    std::fprintf(stderr, "allocation/twill: the pool asked the system for memory\n");
    std::exit(1);
  }
}

} // namespace

BENCHMARK(with_malloc)->Name("allocation/reference")->Arg(4096)->Arg(1 << 20);
BENCHMARK(with_pool)->Name("allocation/twill")->Arg(4096)->Arg(1 << 20);

BENCHMARK_MAIN();
