// SPDX-License-Identifier: Apache-2.0
//
// The sum of two ranks' floats on both of them, ranks being threads of this process on a core each. `reference` is written by
// hand: two threads that never sleep add and write back half of the elements each. Sizes are bytes of each rank. Processes
// do the same in all_reduce.mpi.cpp, beside MPI, and in gloo.py.

#include "bench/support/all_reduce.hpp"
#include "bench/support/halves.hpp"

#include <twill/device.hpp>
#include <twill/parallel/group/collectives.hpp>
#include <twill/parallel/threads/communicator.hpp>
#include <twill/parallel/threads/ranks.hpp>

#include <benchmark/benchmark.h>

#include <array>
#include <cstdint>
#include <vector>

using namespace twill;

namespace {

void by_twill(benchmark::State& state) {
  const std::int64_t n = state.range(0) / 4;
  std::array data{bench::rank_numbers(n, 0), bench::rank_numbers(n, 1)};
  auto communicators = parallel::thread_communicators(std::vector<Cpu>{Cpu{0}, Cpu{1}});
  const auto add_up = [&](auto& communicator) {
    parallel::all_reduce(communicator, data[static_cast<std::size_t>(communicator.rank())].data(), n);
  };
  parallel::run_ranks(communicators, add_up);
  for (const auto& each : data) bench::require_sums(each, 2, "all_reduce/twill");
  for (auto& each : data) each.assign(each.size(), 0.0F); // which stay what they are
  const benchmark::IterationCount iterations = state.max_iterations;
  parallel::run_ranks(communicators, [&](auto& communicator) { // the first rank in this thread
    if (communicator.rank() == 0)
      for (auto _ : state) add_up(communicator);
    else
      for (benchmark::IterationCount i = 0; i < iterations; ++i) add_up(communicator);
  });
}

void by_hand(benchmark::State& state) {
  const std::int64_t n = state.range(0) / 4;
  std::array data{bench::rank_numbers(n, 0), bench::rank_numbers(n, 1)};
  bench::Halves halves{2};
  const auto add_up = [&] {
    halves.run(n, 16, [a = data[0].data(), b = data[1].data()](std::int64_t begin, std::int64_t end) {
#pragma GCC ivdep
      for (std::int64_t i = begin; i < end; ++i) a[i] = b[i] = a[i] + b[i];
    });
  };
  add_up();
  for (const auto& each : data) bench::require_sums(each, 2, "all_reduce/reference");
  for (auto& each : data) each.assign(each.size(), 0.0F);
  for (auto _ : state) {
    add_up();
    benchmark::ClobberMemory();
  }
}

} // namespace

int main(int count, char** arguments) {
  if (host_cores() < 2) return 0; // the table has no such row
  configure_host({.devices = 2, .threads_per_device = 1});
  for (const std::int64_t bytes : bench::all_reduce_bytes) {
    benchmark::RegisterBenchmark("all_reduce/twill", by_twill)->Arg(bytes)->UseRealTime();
    benchmark::RegisterBenchmark("all_reduce/reference", by_hand)->Arg(bytes)->UseRealTime();
  }
  benchmark::Initialize(&count, arguments);
  benchmark::RunSpecifiedBenchmarks();
}
