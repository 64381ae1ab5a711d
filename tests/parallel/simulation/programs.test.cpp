// SPDX-License-Identifier: Apache-2.0
//
// Random programs of ranks, on threads and on a network, in random orders of all steps: each ends in the right numbers, or, where
// a rank throws, hangs, leaves or dies somewhere, in an error on every rank that names it; and a fresh group works.

#include "tests/parallel/simulation/programs.hpp"
#include "tests/parallel/group/fake_endpoint.hpp"

#include <twill/parallel/threads/communicator.hpp>

#include <catch2/catch.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <random>
#include <vector>

using namespace twill;
using namespace twill::test;

namespace {

std::vector<Cpu> devices(int ranks) { return std::vector<Cpu>(static_cast<std::size_t>(ranks)); }

/// `make(ranks, seed, trouble)` returns a group and what takes a rank off its network.
template <class Make> void check_program(std::uint64_t seed, int kinds, const Make& make) {
  std::mt19937_64 random{seed};
  const int ranks = 1 + static_cast<int>(random() % 4);
  const RandomProgram program{random(), ranks};
  Trouble trouble{static_cast<Wrong>(random() % static_cast<std::uint64_t>(kinds)),
                  static_cast<int>(random() % static_cast<std::uint64_t>(ranks)),
                  static_cast<int>(random() % static_cast<std::uint64_t>(program.length())),
                  static_cast<std::int64_t>(random() % 1000 * (random() % 20))};
  if (ranks == 1) trouble.wrong = Wrong::nothing;
  {
    auto [group, kill] = make(ranks, random(), trouble);
    check_ends(run_program(program, group, trouble, kill), trouble);
  }
  auto [group, kill] = make(ranks, random(), Trouble{}); // the next start
  check_ends(run_program(program, group, {}, kill), {});
}

} // namespace

TEST_CASE("random programs on threads are right or name the rank at fault", "[parallel][PAR-4][PAR-9]") {
  const std::int64_t steps = simulate(200, [](std::uint64_t seed) {
    check_program(seed, static_cast<int>(Wrong::dies), [](int ranks, std::uint64_t, const Trouble&) {
      return std::pair{parallel::thread_communicators(devices(ranks), {.timeout_ms = RandomProgram::timeout_ms}),
                       [](int) {}};
    });
  });
  CHECK(steps > 10'000);
}

TEST_CASE("random programs on a network are right or name the rank at fault", "[parallel][PAR-4][PAR-9]") {
  const std::int64_t steps = simulate(200, [](std::uint64_t seed) {
    check_program(seed, static_cast<int>(Wrong::count), [](int ranks, std::uint64_t number, const Trouble& trouble) {
      const auto dead = std::make_shared<std::atomic<int>>(-1);
      const Moment begin = parallel::detail::now();
      const auto is_lost = [dead, begin, trouble, packet = std::int64_t{0}](int from, int to) mutable {
        if (trouble.wrong == Wrong::loses) return from == trouble.rank && packet++ == trouble.number % 64;
        if (trouble.wrong == Wrong::is_cut &&
            parallel::detail::now() > begin + std::chrono::microseconds(trouble.number))
          *dead = trouble.rank;
        return from == *dead || to == *dead;
      };
      return std::pair{fake_communicators(devices(ranks), RandomProgram::timeout_ms, 1 << (number % 12),
                                          static_cast<unsigned>(number), is_lost),
                       [dead](int rank) { *dead = rank; }};
    });
  });
  CHECK(steps > 10'000);
}
