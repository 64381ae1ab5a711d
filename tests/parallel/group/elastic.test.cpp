// SPDX-License-Identifier: Apache-2.0
//
// Groups of threads that are made again after failures, in virtual time: ranks that throw, one, two at once and all but
// one, a rank that comes late, spares and second tries, and the ends of a run that cannot go on.

#include "tests/support/four_devices.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/simulation.hpp"

#include <twill/parallel/group/collectives.hpp>
#include <twill/parallel/threads/elastic.hpp>

#include <catch2/catch.hpp>

#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

using namespace twill;
using namespace twill::parallel;
using test::message_of;

namespace {

using Options = ElasticOptions<Cpu>;
using Rank = ThreadCommunicator<Cpu>;

const std::vector<Cpu> three{Cpu{0}, Cpu{1}, Cpu{2}};

/// A run of ten steps whose state is a number: a step adds the sum of all ranks' parts of 60, which is 60 on any number
/// of ranks. Rank 0 commits after each.
struct Count {
  std::int64_t step = 0;
  std::int64_t sum = 0;

  template <class Fault> void run(Rank& rank, const Fault& fault) {
    std::int64_t own = sum;
    for (std::int64_t i = step; i < 10; ++i) {
      fault(rank, i);
      std::int64_t part = 60 / rank.size();
      all_reduce(rank, &part, 1);
      own += part;
      barrier(rank); // all ranks have read the commit
      if (rank.rank() == 0) *this = {i + 1, own};
    }
  }
};

std::vector<std::string> names(const std::vector<Cpu>& devices) {
  std::vector<std::string> result;
  for (const Cpu& device : devices) result.push_back(to_string(device));
  return result;
}

} // namespace

TEST_CASE("a rank that throws at any step is left out, and the others go on", "[parallel][elastic]") {
  static_cast<void>(test::simulate(30, [](std::uint64_t seed) {
    const auto fatal_step = static_cast<std::int64_t>(seed % 10);
    const int fatal_rank = static_cast<int>(seed / 10 % 3);
    Count count{};
    const ElasticReport report = run_elastic(three, Options{}, [&](Rank& rank) {
      count.run(rank, [&](Rank& here, std::int64_t step) {
        if (here.size() == 3 && here.rank() == fatal_rank && step == fatal_step)
          throw std::runtime_error("the device is gone");
      });
    });
    REQUIRE(count.step == 10);
    REQUIRE(count.sum == 600);
    REQUIRE(report.restarts == 1);
    REQUIRE(report.failures.size() == 1);
    REQUIRE(report.failures[0].rank == fatal_rank);
    REQUIRE(report.failures[0].device == to_string(Cpu{fatal_rank}));
    REQUIRE(report.failures[0].text == "the device is gone");
    std::vector<Cpu> left = three;
    left.erase(left.begin() + fatal_rank);
    REQUIRE(report.devices == names(left));
    REQUIRE(report.longest_stop_s < 0.1); // the time-out is five minutes
  }));
}

TEST_CASE("two ranks that fail at one step are left out, and the last one goes on by itself", "[parallel][elastic]") {
  static_cast<void>(test::simulate(10, [](std::uint64_t) {
    Count count{};
    const ElasticReport report = run_elastic(three, Options{}, [&](Rank& rank) {
      count.run(rank, [&](Rank& here, std::int64_t step) {
        if (!(here.device() == Cpu{1}) && step == 4) throw std::runtime_error("no power");
      });
    });
    REQUIRE(count.sum == 600);
    REQUIRE(report.restarts <= 2); // the second one may have been on its way to the step when the first one failed
    REQUIRE(report.failures.size() == 2);
    REQUIRE(report.devices == names({Cpu{1}}));
  }));
}

TEST_CASE("a spare device or a second try takes the place of a failed rank", "[parallel][elastic]") {
  static_cast<void>(test::simulate(10, [](std::uint64_t) {
    Count count{};
    int failures = 0; // of Cpu{1}, by its own thread
    const Options options{.tries = 2, .spares = {Cpu{3}}};
    const ElasticReport report = run_elastic(three, options, [&](Rank& rank) {
      count.run(rank, [&](Rank& here, std::int64_t step) {
        if (here.device() == Cpu{1} && step == 3 + failures) {
          ++failures;
          throw std::runtime_error("again");
        }
      });
    });
    REQUIRE(count.sum == 600);
    REQUIRE(report.restarts == 2);
    REQUIRE(report.devices == names({Cpu{0}, Cpu{3}, Cpu{2}}));
  }));
}

TEST_CASE("a rank that does not come in time is left out when its thread returns", "[parallel][elastic]") {
  static_cast<void>(test::simulate(10, [](std::uint64_t) {
    Count count{};
    const ElasticReport report = run_elastic(three, Options{.timeout_ms = 1000}, [&](Rank& rank) {
      count.run(rank, [&](Rank& here, std::int64_t step) {
        if (here.size() == 3 && here.rank() == 2 && step == 5) test::pass(std::chrono::seconds(3));
      });
    });
    REQUIRE(count.sum == 600);
    REQUIRE(report.failures.size() == 1);
    REQUIRE(report.failures[0].rank == 2);
    REQUIRE(report.failures[0].text.find("missing after 1000 ms: rank 2") != std::string::npos);
    REQUIRE(report.devices == names({Cpu{0}, Cpu{1}}));
    REQUIRE(report.longest_stop_s < 2.1);
  }));
}

TEST_CASE("a rank that is missing in a sub-group is left out by its number in the group of all",
          "[parallel][elastic]") {
  static_cast<void>(test::simulate(20, [](std::uint64_t seed) {
    const std::vector<Cpu> four{Cpu{0}, Cpu{1}, Cpu{2}, Cpu{3}};
    const Cpu late{static_cast<int>(seed % 4)};
    const ElasticReport report = run_elastic(four, Options{.timeout_ms = 1000}, [&](Rank& rank) {
      auto pair = rank.split(rank.rank() / 2, rank.rank());
      for (int step = 0; step < 4; ++step) {
        if (rank.size() == 4 && rank.device() == late && step == 2) test::pass(std::chrono::seconds(3));
        barrier(pair);
      }
      barrier(rank);
    });
    REQUIRE(report.failures.size() == 1);
    REQUIRE(report.failures[0].device == to_string(late));
    REQUIRE(report.devices.size() == 3);
  }));
}

TEST_CASE("an elastic run that cannot go on names every failure", "[parallel][elastic]") {
  const auto failing = [](const Options& options, int ranks_that_fail) {
    return message_of<ElasticError>([&] {
      test::Simulation simulation{3};
      simulation.run([&] {
        static_cast<void>(run_elastic(three, options, [&](Rank& rank) {
          if (rank.rank() < ranks_that_fail) throw std::runtime_error("broken");
          barrier(rank);
        }));
      });
    });
  };
  CHECK(failing({.least = 2}, 1) ==
        "run_elastic: 1 rank is left, .least is 2; failures: rank 0 on cpu:0 after restart 0: "
        "broken; rank 0 on cpu:1 after restart 1: broken");
  CHECK(
      failing({.most_restarts = 1}, 1) ==
      "run_elastic: the limit .most_restarts, 1, is reached; failures: rank 0 on cpu:0 after restart 0: broken; rank 0 "
      "on cpu:1 after restart 1: broken");
  CHECK(failing({}, 3) ==
        "run_elastic: 0 ranks are left, .least is 1; failures: rank 0 on cpu:0 after restart 0: broken; "
        "rank 1 on cpu:1 after restart 0: broken; rank 2 on cpu:2 after restart 0: broken");
  CHECK(message_of<ValueError>([] { static_cast<void>(run_elastic(three, Options{.least = 4}, [](Rank&) {})); }) ==
        "run_elastic: .least is from 1 to the number of devices, 3, got 4");
}

TEST_CASE("ranks that make different calls are an error of the program, after which nothing starts",
          "[parallel][elastic]") {
  int starts = 0;
  const auto play = [&] {
    test::Simulation simulation{5};
    simulation.run([&] {
      static_cast<void>(run_elastic(three, Options{}, [&](Rank& rank) {
        std::int64_t number = 0;
        if (rank.rank() == 0) ++starts;
        rank.rank() == 1 ? broadcast(rank, &number, 1) : all_reduce(rank, &number, 1);
      }));
    });
  };
  CHECK(message_of<CommunicatorError>(play).find("ranks have lost step") != std::string::npos);
  CHECK(starts == 1);
}
