// SPDX-License-Identifier: Apache-2.0
//
// The sum of the ranks' floats on all of them, ranks being processes: twill over MPI beside MPI_Allreduce, taking turns. The first
// process runs Google Benchmark and tells the others what to play, and how often.
//     mpirun -np 2 all_reduce_mpi --benchmark_out=result.json ...

#include "bench/support/all_reduce.hpp"

#include <twill/device.hpp>
#include <twill/parallel/group/collectives.hpp>
#include <twill/parallel/messages/mpi.hpp>

#include <benchmark/benchmark.h>
#include <mpi.h>

#include <array>
#include <cstdint>
#include <vector>

using namespace twill;

namespace {

enum Contender : std::int64_t { ends, by_twill, by_mpi };

using Member = parallel::MpiCommunicator<Cpu>;

void add_up(Contender who, Member& communicator, std::vector<float>& data) {
  if (who == by_twill)
    parallel::all_reduce(communicator, data.data(), static_cast<std::int64_t>(data.size()));
  else
    MPI_Allreduce(MPI_IN_PLACE, data.data(), static_cast<int>(data.size()), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
}

/// What every process plays before the timed part: one sum that is checked, and zeros that stay what they are.
std::vector<float> prepare(Contender who, Member& communicator, std::int64_t bytes) {
  std::vector<float> data = bench::rank_numbers(bytes / 4, communicator.rank());
  add_up(who, communicator, data);
  bench::require_sums(data, communicator.size(), who == by_twill ? "all_reduce/twill_mpi" : "all_reduce/mpi");
  data.assign(data.size(), 0.0F);
  add_up(who, communicator, data);
  return data;
}

/// Contender, bytes and iterations, from the first process to all.
std::array<std::int64_t, 3> announced(std::array<std::int64_t, 3> what) {
  MPI_Bcast(what.data(), 3, MPI_INT64_T, 0, MPI_COMM_WORLD);
  return what;
}

void measure(benchmark::State& state, Contender who, Member& communicator) {
  announced({who, state.range(0), static_cast<std::int64_t>(state.max_iterations)});
  std::vector<float> data = prepare(who, communicator, state.range(0));
  for (auto _ : state) add_up(who, communicator, data);
}

/// The other processes.
void follow(Member& communicator) {
  while (true) {
    const auto [who, bytes, iterations] = announced({});
    if (who == ends) return;
    std::vector<float> data = prepare(Contender{who}, communicator, bytes);
    for (std::int64_t i = 0; i < iterations; ++i) add_up(Contender{who}, communicator, data);
  }
}

} // namespace

int main(int count, char** arguments) {
  const parallel::MpiEnvironment environment{};
  configure_host({.devices = 1, .threads_per_device = 1});
  auto communicator = parallel::mpi_communicator<Cpu>();
  if (communicator.rank() > 0) {
    follow(communicator);
    return 0;
  }
  for (const std::int64_t bytes : bench::all_reduce_bytes)
    for (const Contender who : {by_twill, by_mpi})
      benchmark::RegisterBenchmark(who == by_twill ? "all_reduce/twill_mpi" : "all_reduce/mpi",
                                   [&communicator, who](benchmark::State& state) { measure(state, who, communicator); })
          ->Arg(bytes)
          ->UseRealTime();
  benchmark::Initialize(&count, arguments);
  benchmark::RunSpecifiedBenchmarks();
  announced({ends, 0, 0});
}
