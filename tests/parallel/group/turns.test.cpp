// SPDX-License-Identifier: Apache-2.0
//
// Turns of threads: whatever order the system or a simulation prefers, they go on one at a time and in their order, some ending
// earlier than others, and the first failure is what the caller hears.

#include <twill/parallel/group/turns.hpp>

#include "tests/support/message_of.hpp"
#include "tests/support/simulation.hpp"

#include <catch2/catch.hpp>

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

using namespace twill;
using parallel::detail::Turns;
using Steps = std::vector<std::pair<std::size_t, int>>;

namespace {

/// The order in which threads come to their parts: thread i pauses as often as it is told.
Steps steps_of(const std::vector<int>& pauses) {
  Steps steps{};
  Turns turns{pauses.size()};
  turns.run_all([&](std::size_t place) {
    for (int part = 0; part <= pauses[place]; ++part) {
      if (part > 0) turns.pause();
      steps.emplace_back(place, part);
    }
  });
  return steps;
}

} // namespace

TEST_CASE("threads take turns in their order, up to their pauses", "[parallel]") {
  const Steps expected{{0, 0}, {1, 0}, {2, 0}, {0, 1}, {2, 1}, {0, 2}};
  for (int i = 0; i < 50; ++i) REQUIRE(steps_of({2, 0, 1}) == expected);
  CHECK(steps_of({3}).size() == 4);
  test::simulate(20, [&](std::uint64_t) { REQUIRE(steps_of({2, 0, 1}) == expected); });
}

TEST_CASE("a thread that fails ends the others at their pauses, and is the one that is heard", "[parallel]") {
  test::simulate(20, [](std::uint64_t) {
    Turns turns{4};
    std::vector<int> after(4, 0);
    const auto run = [&](std::size_t place) {
      if (place == 2) throw std::runtime_error("the third one");
      turns.pause();
      ++after[place];
    };
    CHECK(test::message_of<std::runtime_error>([&] { turns.run_all(run); }) == "the third one");
    CHECK(after == std::vector<int>{0, 0, 0, 0});
    turns.run_all([&](std::size_t place) { turns.pause(), ++after[place]; }); // they can go on
    CHECK(after == std::vector<int>{1, 1, 1, 1});
  });
}
