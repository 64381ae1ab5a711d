// SPDX-License-Identifier: Apache-2.0
//
// Simulations themselves: a seed repeats its run, and a run in which no thread can go on says so.

#include "tests/support/simulation.hpp"
#include "tests/parallel/group/collectives.suite.hpp"

#include <twill/parallel/threads/communicator.hpp>
#include <twill/parallel/threads/ranks.hpp>

#include <catch2/catch.hpp>

#include <cstdint>
#include <string>
#include <vector>

using namespace twill;
using namespace twill::parallel;
using test::Simulation;

namespace {

auto group_of(int ranks, std::int64_t timeout_ms = 60'000) {
  return thread_communicators(std::vector<Cpu>(static_cast<std::size_t>(ranks)), {.timeout_ms = timeout_ms});
}

} // namespace

TEST_CASE("a seed repeats its simulation to the last step", "[parallel][PAR-9]") {
  const auto trace_of = [](std::uint64_t seed) {
    Simulation simulation{seed};
    simulation.run([] {
      auto group = group_of(3);
      run_ranks(group, [](auto& rank) {
        test::check_operations<float>(rank, 10, 1);
        test::check_handles(rank);
      });
    });
    return std::pair{simulation.steps(), simulation.trace()};
  };
  const auto first = trace_of(1);
  CHECK(first.first > 100);
  for (int repeat = 0; repeat < 5; ++repeat) CHECK(trace_of(1) == first);
  CHECK(trace_of(2) != first);
}

TEST_CASE("a simulation in which no thread can go on says what each waits for", "[parallel][PAR-9]") {
  parallel::detail::Mutex mutex;
  parallel::detail::Condition never{"what never comes"};
  Simulation simulation{7};
  std::string text;
  simulation.run([&] {
    auto group = group_of(2);
    try {
      run_ranks(group, [&](auto&) {
        std::unique_lock lock(mutex);
        never.wait(lock);
      });
    } catch (const test::Stuck& error) {
      text = error.what();
    }
  });
  CHECK(text.find("simulation of seed 7, step ") == 0);
  CHECK(text.find("thread 0 waits for what never comes; thread 1 waits for what never comes") != std::string::npos);
}
