// SPDX-License-Identifier: Apache-2.0
//
// Communicators over packets in a simulation that decides the order of all steps and how long each packet takes.

#include "tests/parallel/group/collectives.suite.hpp"
#include "tests/parallel/group/failures.suite.hpp"
#include "tests/parallel/group/fake_endpoint.hpp"
#include "tests/parallel/group/mesh.suite.hpp"
#include "tests/support/simulation.hpp"

#include <twill/parallel/threads/ranks.hpp>

#include <catch2/catch.hpp>

#include <cstdint>
#include <string>
#include <vector>

using namespace twill;
using namespace twill::parallel;
using test::Simulation;

namespace {

std::vector<Cpu> devices(int ranks) { return std::vector<Cpu>(static_cast<std::size_t>(ranks)); }

} // namespace

TEST_CASE("collectives over packets are right in any order of steps and packets", "[parallel][PAR-4]") {
  const std::int64_t steps = test::simulate(1, 300, [] {
    const std::uint64_t seed = Simulation::current()->seed();
    const int ranks = 2 + static_cast<int>(seed % 3);
    auto group = test::fake_communicators(devices(ranks), 60'000, 1 << (seed % 12), static_cast<unsigned>(seed));
    run_ranks(group, [&](auto& rank) {
      test::check_operations<float>(rank, 10, 1);
      test::check_messages(rank);
      test::check_handles(rank);
      test::check_sub_groups(rank);
    });
  });
  WARN(steps);
}
