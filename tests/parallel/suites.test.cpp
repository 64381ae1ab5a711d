// SPDX-License-Identifier: Apache-2.0
//
// The suites of communicators over threads and over a fake wire that delays packets, lets them overtake each other and
// loses them.

#include "tests/parallel/collectives.suite.hpp"
#include "tests/parallel/failures.suite.hpp"
#include "tests/parallel/fake_wire.hpp"
#include "tests/parallel/mesh.suite.hpp"

#include <twill/parallel/ranks.hpp>
#include <twill/parallel/threads.hpp>

#include <catch2/catch.hpp>

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

} // namespace

TEST_CASE("threads do what every communicator does", "[parallel][PAR-4]") {
  for (const int ranks : {1, 2, 3, 4}) check_all(thread_communicators(devices(ranks), {.timeout_ms = 60'000}), 1);
}

TEST_CASE("ranks on a wire do what every communicator does", "[parallel][PAR-4]") {
  for (const int ranks : {1, 2, 3, 4}) check_all(test::wire_communicators(devices(ranks), 60'000), 1);
}

TEST_CASE("late packets and late ranks change nothing in fifty runs", "[parallel][PAR-4]") {
  for (unsigned seed = 0; seed < 50; ++seed) {
    const int ranks = 2 + static_cast<int>(seed % 3);
    auto communicators = test::wire_communicators(devices(ranks), 60'000, 150, seed);
    run_ranks(communicators, [&](auto& communicator) {
      std::mt19937 engine(seed * 10 + static_cast<unsigned>(communicator.rank()));
      const auto be_late = [&] { std::this_thread::sleep_for(std::chrono::microseconds(engine() % 1000)); };
      be_late();
      test::check_operations<float>(communicator, 1 + static_cast<std::int64_t>(seed) * 7, seed);
      be_late();
      test::check_messages(communicator);
      test::check_handles(communicator);
      be_late();
      test::check_sub_groups(communicator);
      test::check_mesh(communicator);
    });
  }
}

TEST_CASE("threads tell every rank what went wrong", "[parallel][PAR-9]") {
  for (const int ranks : {3})
    test::check_failures([&](std::int64_t timeout_ms, auto f) {
      auto communicators = thread_communicators(devices(ranks), {.timeout_ms = timeout_ms});
      run_ranks(communicators, f);
    });
}

TEST_CASE("ranks on a wire tell every rank what went wrong", "[parallel][PAR-9]") {
  for (const int ranks : {2, 4})
    test::check_failures([&](std::int64_t timeout_ms, auto f) {
      auto communicators = test::wire_communicators(devices(ranks), timeout_ms, ranks * 100, 7);
      run_ranks(communicators, f);
    });
}

TEST_CASE("a wire that loses what one rank sends names this rank", "[parallel][PAR-9]") {
  auto communicators = test::wire_communicators(devices(3), 1000, 0, 1, [](int from, int) { return from == 1; });
  std::vector<std::string> told(3);
  run_ranks(communicators, [&](auto& communicator) {
    told[static_cast<std::size_t>(communicator.rank())] = test::error_of("a lost packet", [&] {
      while (true) barrier(communicator); // rank 1 misses nothing, and is told later
    });
  });
  // Rank 1 has heard of the others, and they have not heard of it.
  for (const auto& text : {told[0], told[2]})
    test::require_in("rank 1 on a wire (before its first collective call)", text);
}
