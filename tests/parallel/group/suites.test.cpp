// SPDX-License-Identifier: Apache-2.0
//
// The suites of communicators over threads and over a fake network that delays packets, lets them overtake each other and
// loses them, in simulations that decide the order of all steps.

#include "tests/parallel/group/collectives.suite.hpp"
#include "tests/parallel/group/failures.suite.hpp"
#include "tests/parallel/group/fake_endpoint.hpp"
#include "tests/parallel/group/mesh.suite.hpp"

#include <twill/parallel/threads/communicator.hpp>
#include <twill/parallel/threads/ranks.hpp>

#include <catch2/catch.hpp>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>

using namespace twill;
using namespace twill::parallel;

namespace {

std::vector<Cpu> devices(int ranks) { return std::vector<Cpu>(static_cast<std::size_t>(ranks)); }

template <class C> void check_all(std::vector<C> communicators, unsigned seed) {
  run_ranks(communicators, [&](auto& communicator) {
    test::check_communicator(communicator, seed);
    test::check_mesh(communicator);
  });
}

/// All failures in simulations of so many seeds, of groups that `make(timeout_ms, seed)` makes.
template <class Make> void check_failures(std::uint64_t seeds, Make make) {
  test::simulate(seeds, [&](std::uint64_t seed) {
    test::check_failures([&](std::int64_t timeout_ms, auto f) {
      auto communicators = make(timeout_ms, seed);
      run_ranks(communicators, f);
    });
  });
}

} // namespace

TEST_CASE("threads do what every communicator does", "[parallel][PAR-4]") {
  for (const int ranks : {1, 2, 3, 4}) check_all(thread_communicators(devices(ranks), {.timeout_ms = 60'000}), 1);
}

TEST_CASE("ranks on a network do what every communicator does", "[parallel][PAR-4]") {
  for (const int ranks : {1, 2, 3, 4}) check_all(test::fake_communicators(devices(ranks), 60'000), 1);
}

TEST_CASE("collectives and messages of threads are right in any order of steps", "[parallel][PAR-4]") {
  test::simulate(50, [](std::uint64_t seed) {
    auto communicators = thread_communicators(devices(2 + static_cast<int>(seed % 3)));
    run_ranks(communicators, [&](auto& communicator) {
      test::check_operations<float>(communicator, 1 + static_cast<std::int64_t>(seed) * 7, static_cast<unsigned>(seed));
      test::check_messages(communicator);
      test::check_handles(communicator);
      test::check_sub_groups(communicator);
    });
  });
}

TEST_CASE("late packets and late ranks change nothing in fifty runs", "[parallel][PAR-4]") {
  test::simulate(50, [](std::uint64_t number) {
    const auto seed = static_cast<unsigned>(number);
    const int ranks = 2 + static_cast<int>(seed % 3);
    auto communicators = test::fake_communicators(devices(ranks), 60'000, 1 << (seed % 12), seed);
    run_ranks(communicators, [&](auto& communicator) {
      test::check_operations<float>(communicator, 1 + static_cast<std::int64_t>(seed) * 7, seed);
      test::check_messages(communicator);
      test::check_handles(communicator);
      test::check_sub_groups(communicator);
    });
  });
}

TEST_CASE("threads tell every rank what went wrong", "[parallel][PAR-9]") {
  check_failures(10, [](std::int64_t timeout_ms, std::uint64_t seed) {
    return thread_communicators(devices(2 + static_cast<int>(seed % 3)), {.timeout_ms = timeout_ms});
  });
}

TEST_CASE("ranks on a network tell every rank what went wrong", "[parallel][PAR-9]") {
  check_failures(10, [](std::int64_t timeout_ms, std::uint64_t seed) {
    const int ranks = 2 + static_cast<int>(seed % 3);
    return test::fake_communicators(devices(ranks), timeout_ms, ranks * 100, static_cast<unsigned>(seed));
  });
}

TEST_CASE("a network that loses what one rank sends names this rank", "[parallel][PAR-9]") {
  test::simulate(100, [](std::uint64_t) {
    auto communicators = test::fake_communicators(devices(3), 1000, 0, 1, [](int from, int) { return from == 1; });
    std::vector<std::string> told(3);
    run_ranks(communicators, [&](auto& communicator) {
      told[static_cast<std::size_t>(communicator.rank())] = test::error_of("a lost packet", [&] {
        while (true) barrier(communicator); // rank 1 misses nothing, and is told later
      });
    });
    // Rank 1 has heard of the others, and they have not heard of it.
    for (const auto& text : {told[0], told[2]})
      test::require_in("rank 1 on a network (before its first collective call)", text);
  });
}

TEST_CASE("news of waiting go to ranks that are there, and once for each wait", "[parallel][PAR-9]") {
  test::simulate(20, [](std::uint64_t) {
    std::atomic<int> to_one{0};  // packets from rank 0
    std::atomic<int> to_last{0}; // packets from anybody
    auto communicators = test::fake_communicators(devices(4), 12'000, 0, 1, [&](int from, int to) {
      if (from == 0 && to == 1) ++to_one;
      if (to == 3) ++to_last;
      return false;
    });
    std::atomic<bool> has_last_left = false;
    std::atomic<int> ready{0};
    std::atomic<int> leave_notices{0};
    std::atomic<int> errors{0};
    std::atomic<int> news_to_one{-1};
    std::atomic<int> news_to_last{-1};
    std::atomic<int> later_to_last{-1};
    const auto try_to = [&](auto f) {
      try {
        f();
      } catch (const std::exception&) { // the others are to end, too
        ++errors;
        has_last_left = true;
        ready = 2;
        leave_notices = 3;
      }
    };
    const auto run = [&](auto world) {
      const int rank = world.rank();
      auto group = world.split(rank == 3 ? 1 : 0, rank);
      barrier(world);
      if (rank == 3) {
        group = {};
        world = {};
        has_last_left = true;
        return;
      }
      while (!has_last_left) test::pass(std::chrono::milliseconds(1));
      barrier(group); // brings the leave notice, too
      const int before = to_one;
      const int last = to_last;
      float values[2] = {};
      if (rank == 0) {
        while (ready < 2) test::pass(std::chrono::milliseconds(1));
        const parallel::detail::Strand strand;
        std::thread other{[&] { strand.run([&] { try_to([&] { receive(world, values + 1, 1, 2); }); }); }};
        try_to([&] { receive(world, values, 1, 1); });
        strand.join();
        other.join();
        news_to_one = to_one - before;
        news_to_last = to_last - last;
      } else {
        ++ready;
        while (to_one == before) test::pass(std::chrono::milliseconds(1)); // until rank 0 tells
        test::pass(std::chrono::milliseconds(200));
        send(world, values, 1, 0);
      }
      barrier(group);
      world = {};
      ++leave_notices;
      while (leave_notices < 3) test::pass(std::chrono::milliseconds(1));
      const int leave_notice = to_last;
      if (rank == 1) test::pass(std::chrono::milliseconds(4000)); // the others would tell after three
      barrier(group);
      if (rank == 0) later_to_last = to_last - leave_notice;
    };
    run_ranks(communicators, [&](auto& communicator) { try_to([&] { run(std::move(communicator)); }); });
    CHECK(errors == 0);
    CHECK(news_to_one > 0);
    CHECK(news_to_one < 20);
    CHECK(news_to_last == 0);
    CHECK(later_to_last == 0);
  });
}

TEST_CASE("who has left is waited for by nobody that hears of it, and what it said last is known",
          "[parallel][PAR-9]") {
  parallel::messages::Waits waits(0, {"rank 0", "rank 1", "rank 2"});
  waits.take(1, 0, 2);
  waits.take(1, 2, 1); // older, and later
  CHECK(waits.is_waited_for());
  waits.leave(1);
  CHECK_FALSE(waits.is_waited_for());
  CHECK(waits.of(1) == 0);
  waits.leave(2);
  waits.take(2, 0, 1); // overtaken by the leave notice
  CHECK_FALSE(waits.is_waited_for());
  CHECK(waits.culprit(2) == 0);
}
