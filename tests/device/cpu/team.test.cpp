// SPDX-License-Identifier: Apache-2.0

#include "tests/device/four_devices.hpp"

#include <atomic>
#include <chrono>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <sched.h>

using namespace twill;

namespace {

/// How often each rank ran.
std::vector<int> ranks_of(const Team& team) {
  std::vector<int> runs(static_cast<std::size_t>(team.size()));
  team.parallel([&](int rank, int size) {
    if (size == team.size()) ++runs[static_cast<std::size_t>(rank)];
  });
  return runs;
}

/// A team of any size, on whatever cores there are; never destroyed, like those of devices.
const Team& team_of(int size) {
  static auto* const teams = new std::map<int, std::pair<detail::ForkJoin*, Team>>;
  const auto all = cpu::cores_of_process();
  std::vector<int> cores;
  for (int rank = 0; rank < size; ++rank) cores.push_back(all[static_cast<std::size_t>(rank) % all.size()]);
  auto& [threads, team] = (*teams)[size];
  if (threads == nullptr) {
    threads = new detail::ForkJoin{cores, "team"};
    team = Team{*threads};
  }
  return team;
}

} // namespace

TEST_CASE("every rank of a team runs exactly once", "[device][cpu]") {
  CHECK(ranks_of(Team::serial()) == std::vector<int>{1});
  CHECK(ranks_of(Team{}) == std::vector<int>{1});
  for (const int size : {1, 2, 3, 7}) {
    const Team& team = team_of(size);
    CHECK(team.size() == size);
    for (int repeat = 0; repeat < 50; ++repeat)
      REQUIRE(ranks_of(team) == std::vector<int>(static_cast<std::size_t>(size), 1));
  }
}

TEST_CASE("what a team wrote is visible to the caller, and the caller's writes to the team", "[device][cpu]") {
  const Team& team = team_of(3);
  std::vector<int> values(3);
  for (int round = 0; round < 300; ++round) {
    for (auto& value : values) value += 1;
    team.parallel([&](int rank, int) { values[static_cast<std::size_t>(rank)] += rank; });
  }
  CHECK(values == std::vector<int>{300, 600, 900});
}

TEST_CASE("a sleeping team wakes up", "[device][cpu]") {
  const Team& team = team_of(2);
  for (int repeat = 0; repeat < 3; ++repeat) {
    CHECK(ranks_of(team) == std::vector<int>{1, 1});
    std::this_thread::sleep_for(std::chrono::milliseconds{5});
  }
}

TEST_CASE("a team carries exceptions out, the lowest rank's first, and works on afterwards", "[device][cpu]") {
  const Team& team = team_of(3);
  for (int repeat = 0; repeat < 20; ++repeat) {
    for (int failing = 0; failing < 3; ++failing) {
      const auto message = test::message_of<std::domain_error>([&] {
        team.parallel([&](int rank, int) {
          if (rank >= failing) throw std::domain_error("rank " + std::to_string(rank));
        });
      });
      REQUIRE(message == "rank " + std::to_string(failing));
    }
    REQUIRE(ranks_of(team) == std::vector<int>{1, 1, 1});
  }
  CHECK_THROWS_AS(Team::serial().parallel([](int, int) { throw 5; }), int);
}

TEST_CASE("a team inside a team runs its ranks one after the other", "[device][cpu]") {
  const Team& outer = team_of(2);
  const Team& inner = team_of(3);
  std::atomic<int> wrong{0};
  outer.parallel([&](int, int) {
    const auto here = std::this_thread::get_id();
    std::vector<int> order; // no lock: it must be one thread
    inner.parallel([&](int rank, int size) {
      if (size != 3 || std::this_thread::get_id() != here) ++wrong;
      order.push_back(rank);
    });
    if (order != std::vector<int>{0, 1, 2}) ++wrong;
    if (ranks_of(outer) != std::vector<int>{1, 1}) ++wrong;
  });
  CHECK(wrong == 0);
  CHECK(ranks_of(inner) == std::vector<int>{1, 1, 1});
}

TEST_CASE("an exception from an inner team passes through the outer one", "[device][cpu]") {
  const Team& outer = team_of(2);
  CHECK_THROWS_AS(outer.parallel([&](int, int) { outer.parallel([](int, int) { throw std::range_error("inner"); }); }),
                  std::range_error);
  CHECK(ranks_of(outer) == std::vector<int>{1, 1});
}

TEST_CASE("several threads may use one team at once", "[device][cpu]") {
  const Team& team = team_of(2);
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread)
    threads.emplace_back([&] {
      for (int repeat = 0; repeat < 200; ++repeat)
        if (ranks_of(team) != std::vector<int>{1, 1}) ++wrong;
    });
  for (auto& thread : threads) thread.join();
  CHECK(wrong == 0);
}

TEST_CASE("the threads of a team are pinned, each to its own core", "[device][cpu]") {
  const auto cores = cpu::cores_of_process();
  const Team& team = team_of(3);
  std::vector<std::vector<int>> allowed(3);
  team.parallel([&](int rank, int) { allowed[static_cast<std::size_t>(rank)] = cpu::affinity_of_thread(); });
  CHECK(allowed[0] == cpu::affinity_of_thread()); // the caller stays as it is
  CHECK(allowed[1] == std::vector<int>{cores[1 % cores.size()]});
  CHECK(allowed[2] == std::vector<int>{cores[2 % cores.size()]});
}
