// SPDX-License-Identifier: Apache-2.0
//
// What happens when ranks do not keep to the rules: every rank gets an error in bounded time, and the error says who and what.
// Time is that of simulations.

#include "tests/support/simulation.hpp"

#include <twill/parallel/group/collectives.hpp>
#include <twill/parallel/threads/communicator.hpp>
#include <twill/parallel/threads/ranks.hpp>

#include <catch2/catch.hpp>

#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using namespace twill;
using namespace twill::parallel;

namespace {

struct Broken : std::runtime_error {
  explicit Broken(int number_) : std::runtime_error("the disk is full"), number{number_} {}
  int number;
};

// Waits, for a minute at most, until so many others have come somewhere.
void wait_for(const int& others, int count) {
  const test::Moment end = parallel::detail::after_ms(60'000);
  while (others < count && parallel::detail::now() < end) test::pass(std::chrono::milliseconds(10));
}

// Counts a rank that has ended, by an exception, too: whoever hangs until then is late for everybody.
class Ended {
public:
  explicit Ended(int& count) : count_{&count} {}
  Ended(const Ended&) = delete;
  Ended& operator=(const Ended&) = delete;
  ~Ended() { ++*count_; }

private:
  int* count_; ///< of one thread at a time, as simulations have it
};

// What each rank is told; every rank has to throw a CommunicatorError.
template <class F> std::vector<std::string> texts(int ranks, std::int64_t timeout_ms, F f) {
  auto communicators =
      thread_communicators(std::vector<Cpu>(static_cast<std::size_t>(ranks)), {.timeout_ms = timeout_ms});
  std::vector<std::string> result(static_cast<std::size_t>(ranks), "no error");
  run_ranks(communicators, [&](auto& communicator) {
    const auto rank = static_cast<std::size_t>(communicator.rank());
    try {
      f(communicator);
    } catch (const CommunicatorError& error) {
      result[rank] = error.what();
    } catch (const std::exception& error) {
      result[rank] = std::string("another type: ") + error.what();
    }
  });
  return result;
}

} // namespace

TEST_CASE("a missing rank is named on every rank after the time-out", "[parallel][PAR-9]") {
  test::simulate(20, [](std::uint64_t) {
    int ended = 0;
    const auto told = texts(3, 3000, [&](auto& communicator) {
      float value = 1;
      all_reduce(communicator, &value, 1);
      if (communicator.rank() == 2) wait_for(ended, 2); // in vain, and for a minute, if nobody else were told
      const Ended counted{ended};
      barrier(communicator);
    });
    for (const auto& text : told)
      CHECK(text == "barrier: missing after 3000 ms: rank 2 on cpu:0 (after 1 collective call, the last: "
                    "all_reduce(sum) of 1 float32)");
  });
}

TEST_CASE("a time-out is a type of its own and names its rank", "[parallel][PAR-9]") {
  test::simulate(20, [](std::uint64_t) {
    // region: timeout
    auto communicators = thread_communicators(std::vector<Cpu>(2), {.timeout_ms = 20});
    try {
      barrier(communicators[0]);
      FAIL("expected a time-out");
    } catch (const TimeoutError& error) {
      CHECK(error.rank() == 1);
      CHECK(std::string(error.what()) ==
            "barrier: missing after 20 ms: rank 1 on cpu:0 (before its first collective call)");
    }
    // end region
    CHECK_THROWS_AS(barrier(communicators[1]), TimeoutError); // the late rank is told, too
    CHECK_THROWS_AS(barrier(communicators[0]), TimeoutError); // and it stays so
  });
}

TEST_CASE("ranks that call different things are both named", "[parallel][PAR-9]") {
  test::simulate(20, [](std::uint64_t) {
    const auto operations = texts(3, 60'000, [](auto& communicator) {
      float value = 1;
      if (communicator.rank() == 1)
        broadcast(communicator, &value, 1, 2);
      else
        all_reduce(communicator, &value, 1);
    });
    for (const auto& text : operations)
      CHECK(text ==
            "ranks have lost step in call 1: rank 0 on cpu:0 calls all_reduce(sum) of 1 float32, rank 1 on cpu:0 "
            "calls broadcast of 1 float32 from rank 2");

    const auto differing = [](auto f) {
      const auto told = texts(2, 60'000, f);
      CHECK(told[0] == told[1]);
      return told[0].substr(told[0].find(':') + 2);
    };
    CHECK(differing([](auto& communicator) {
            double values[3] = {};
            all_reduce(communicator, values, 2 + communicator.rank());
          }) ==
          "rank 0 on cpu:0 calls all_reduce(sum) of 2 float64, rank 1 on cpu:0 calls all_reduce(sum) of 3 float64");
    CHECK(differing([](auto& communicator) {
            std::int64_t value = 0;
            if (communicator.rank() == 0)
              all_reduce(communicator, &value, 1, Reduction::max);
            else
              all_reduce(communicator, reinterpret_cast<double*>(&value), 1, Reduction::max);
          }) == "rank 0 on cpu:0 calls all_reduce(max) of 1 int64, rank 1 on cpu:0 calls all_reduce(max) of 1 float64");
    CHECK(differing([](auto& communicator) {
            int value = 0;
            broadcast(communicator, &value, 1, communicator.rank());
          }) ==
          "rank 0 on cpu:0 calls broadcast of 1 int32 from rank 0, rank 1 on cpu:0 calls broadcast of 1 int32 from "
          "rank 1");
  });
}

TEST_CASE("an exception on one rank reaches every rank and its caller as its own type", "[parallel][PAR-9]") {
  test::simulate(20, [](std::uint64_t) {
    for (int culprit = 0; culprit < 4; ++culprit) {
      auto communicators = thread_communicators(std::vector<Cpu>(4));
      std::vector<std::string> told(4);
      try {
        run_ranks(communicators, [&](auto& communicator) {
          const int rank = communicator.rank();
          try {
            for (int turn = 0; turn < 5; ++turn) {
              if (rank == culprit && turn == 3) throw Broken(rank);
              barrier(communicator);
            }
          } catch (const CommunicatorError& error) {
            told[static_cast<std::size_t>(rank)] = error.what();
            try { // assertions belong to the main thread: what is found here goes into the text
              std::rethrow_exception(error.cause());
            } catch (const Broken& broken) {
              told[static_cast<std::size_t>(rank)] +=
                  " " + std::to_string(broken.number) + std::to_string(error.rank());
            }
            throw;
          }
        });
        FAIL("expected Broken");
      } catch (const Broken& broken) {
        CHECK(broken.number == culprit);
      }
      const std::string c = std::to_string(culprit);
      for (int rank = 0; rank < 4; ++rank)
        CHECK(told[static_cast<std::size_t>(rank)] ==
              (rank == culprit ? "" : "rank " + c + " on cpu:0 failed: the disk is full " + c + c));
    }
  });
}

TEST_CASE("a communicator that is let go ends the calls that wait for it", "[parallel][PAR-9]") {
  test::simulate(20, [](std::uint64_t) {
    auto communicators = thread_communicators(std::vector<Cpu>(3));
    std::vector<std::string> told(3);
    run_ranks(communicators, [&](auto& given) {
      const auto rank = static_cast<std::size_t>(given.rank());
      try {
        auto communicator = std::move(given);
        barrier(communicator);
        if (rank == 1) throw Broken(1);
        barrier(communicator);
      } catch (const std::exception& error) {
        told[rank] = error.what();
      }
    });
    CHECK(told[1] == "the disk is full");
    for (const int rank : {0, 2})
      CHECK(told[static_cast<std::size_t>(rank)] ==
            "rank 1 on cpu:0 left the group with an exception after 1 collective call, the last: barrier");
  });
}

TEST_CASE("a message without a partner ends in a time-out that names the partner", "[parallel][PAR-9]") {
  test::simulate(20, [](std::uint64_t) {
    const auto told = texts(2, 50, [](auto& communicator) {
      float values[5] = {};
      if (communicator.rank() == 0)
        receive(communicator, values, 5, 1, 3);
      else
        receive(communicator, values, 2, 0);
    });
    const bool zero_first = told[0].find("rank 0 on cpu:0 calls receive of 5 float32 from rank 1 with tag 3: rank 1 on "
                                         "cpu:0 has not answered for 50 ms") == 0;
    const bool one_first =
        told[0].find("rank 1 on cpu:0 calls receive of 2 float32 from rank 0: rank 0 on cpu:0 has not answered") == 0;
    CHECK((zero_first || one_first));
    CHECK(told[0] == told[1]);
  });
}

TEST_CASE("a message that differs on its two sides is refused on both", "[parallel][PAR-9]") {
  test::simulate(20, [](std::uint64_t) {
    const auto told = texts(2, 60'000, [](auto& communicator) {
      float values[5] = {};
      if (communicator.rank() == 0)
        send(communicator, values, 5, 1);
      else
        receive(communicator, values, 4, 0);
    });
    CHECK(told[0] == told[1]);
    CHECK(told[0].find("a message differs on its two sides: ") == 0);
    CHECK(told[0].find("rank 0 on cpu:0 calls send of 5 float32 to rank 1") != std::string::npos);
    CHECK(told[0].find("rank 1 on cpu:0 calls receive of 4 float32 from rank 0") != std::string::npos);
  });
}

TEST_CASE("a failed group takes its sub-groups with it", "[parallel][PAR-9]") {
  test::simulate(20, [](std::uint64_t) {
    auto communicators = thread_communicators(std::vector<Cpu>(4), {.timeout_ms = 60'000});
    CHECK_THROWS_AS(run_ranks(communicators,
                              [](auto& communicator) {
                                auto half_group = communicator.split(communicator.rank() / 2, 0);
                                barrier(communicator);
                                if (communicator.rank() == 3) throw Broken(3);
                                while (true) barrier(half_group); // ranks 0 and 1 never meet rank 3 here
                              }),
                    Broken);
  });
}

TEST_CASE(
    "each rank of one group after the other runs in the same thread, ranks inside of ranks and after an error, too",
    "[parallel][PAR-9]") {
  auto communicators = thread_communicators(std::vector<Cpu>(3), {.timeout_ms = 60'000});
  const auto threads_of_ranks = [&] {
    std::vector<std::thread::id> threads(3);
    run_ranks(communicators, [&](auto& communicator) {
      threads[static_cast<std::size_t>(communicator.rank())] = std::this_thread::get_id();
      barrier(communicator);
    });
    return threads;
  };
  const auto first = threads_of_ranks();
  CHECK(first[0] == std::this_thread::get_id());
  CHECK(first[1] != first[0]);
  CHECK(first[2] != first[0]);
  CHECK(first[2] != first[1]);
  CHECK(threads_of_ranks() == first);

  std::vector<int> sums(3);
  run_ranks(communicators, [&](auto& communicator) { // nine ranks at the same time
    auto inner = thread_communicators(std::vector<Cpu>(3), {.timeout_ms = 60'000});
    run_ranks(inner, [&](auto& one) {
      int number = one.rank() + 1;
      all_reduce(one, &number, 1);
      barrier(one);
      if (one.rank() == 2) sums[static_cast<std::size_t>(communicator.rank())] = number;
    });
    barrier(communicator);
  });
  CHECK(sums == std::vector<int>{6, 6, 6});

  auto others = thread_communicators(std::vector<Cpu>(3), {.timeout_ms = 60'000});
  CHECK_THROWS_AS(run_ranks(others,
                            [](auto& communicator) {
                              if (communicator.rank() == 1) throw Broken(1);
                              while (true) barrier(communicator);
                            }),
                  Broken);
  const auto last = threads_of_ranks();
  CHECK(threads_of_ranks() == last);
}

TEST_CASE("started calls deliver their error when they are waited for", "[parallel][PAR-9]") {
  test::simulate(20, [](std::uint64_t) {
    auto communicators = thread_communicators(std::vector<Cpu>(2), {.timeout_ms = 30});
    float value = 0;
    auto handle = communicators[0].start(Call::all_reduce(elements(&value, 1)));
    CHECK_THROWS_AS(handle.wait(), TimeoutError);
    CHECK_NOTHROW(handle.wait());
    CHECK_THROWS_AS(communicators[1].start(Call::send(elements(&value, 1), 0)), TimeoutError);
  });
}

TEST_CASE("a call that is wrong by itself is refused and the group goes on", "[parallel]") {
  auto communicators = thread_communicators(std::vector<Cpu>(2));
  auto& communicator = communicators[0];
  float values[8] = {};
  const auto whole = elements(values, 4);
  CHECK_THROWS_WITH(broadcast(communicator, values, 1, 2), "broadcast: a rank is in [0, 2), got 2");
  CHECK_THROWS_WITH(send(communicator, values, 1, 0), "send: rank 0 names itself as its peer");
  CHECK_THROWS_WITH(communicator.run(Call::all_gather(elements(values, 3), whole)),
                    "all_gather: the target holds 2 parts of 3 elements, got 4");
  CHECK_THROWS_WITH(communicator.run(Call::reduce_scatter(whole, elements(values + 4, 3))),
                    "reduce_scatter: the source holds 2 parts of 3 elements, got 4");
  CHECK_THROWS_WITH(communicator.run(Call::all_reduce(whole, elements(values + 2, 4))),
                    "all_reduce: source and target overlap");
  CHECK_THROWS_WITH(communicator.run(Call::all_reduce(whole, elements(values + 4, 3))),
                    "all_reduce: source and target have equally many elements, got 4 and 3");
  CHECK_THROWS_WITH(communicator.run(Call::all_reduce(whole, elements(reinterpret_cast<int*>(values + 4), 4))),
                    "all_reduce: source and target have one element type, got float32 and int32");
  std::int32_t numbers[4] = {};
  CHECK_THROWS_WITH(all_reduce(communicator, numbers, 4, Reduction::mean),
                    "all_reduce: a mean is one of floating-point elements, got int32; reduce their sum");
  CHECK_THROWS_WITH(communicator.run(Call::all_reduce(elements(values, -1))), "all_reduce: a count is at least 0");
  run_ranks(communicators, [](auto& rank) { barrier(rank); });

  ThreadCommunicator<Cpu> none;
  CHECK_THROWS_WITH(barrier(none), "barrier: this communicator belongs to no group");
  CHECK_THROWS_AS(thread_communicators(std::vector<Cpu>{}), ValueError);
  CHECK_THROWS_AS(thread_communicators(std::vector<Cpu>(1), {.timeout_ms = 0}), ValueError);
}

TEST_CASE("where ranks wait for each other in a chain, the one at its end is named, in other groups, too",
          "[parallel][PAR-9]") {
  test::simulate(20, [](std::uint64_t) {
    // 2 waits for 1, which waits for 0, which hangs until they have given up; all waits begin at about the same time, as seen from
    // their time-outs.
    int ended = 0;
    const auto told = texts(3, 4000, [&](auto& communicator) {
      float value = 1;
      if (communicator.rank() == 0) wait_for(ended, 2);
      const Ended counted{ended};
      if (communicator.rank() > 0) receive(communicator, &value, 1, communicator.rank() - 1);
      while (true) barrier(communicator);
    });
    for (const auto& text : told) {
      INFO(text);
      CHECK(text.find("rank 0 on cpu:0") != std::string::npos);
    }
    // Ranks 1 and 3 meet in one sub-group, 1 and 0 in another, and 0 never comes.
    ended = 0;
    const auto across = texts(4, 4000, [&](auto& communicator) {
      const int rank = communicator.rank();
      auto columns = communicator.split(rank % 2, 0);
      auto lines = communicator.split(rank / 2, 0);
      if (rank == 0) wait_for(ended, 3);
      const Ended counted{ended};
      barrier(lines);
      barrier(columns);
    });
    for (const std::size_t rank : {1, 2, 3}) {
      INFO(across[rank]);
      CHECK(across[rank].find("rank 0 on cpu:0") != std::string::npos);
    }
    // In a circle nobody is at fault more than another.
    const auto circle = texts(2, 50, [](auto& communicator) {
      float value = 1;
      receive(communicator, &value, 1, 1 - communicator.rank());
    });
    CHECK(circle[0] == circle[1]);
    CHECK(circle[0].find("has not answered for 50 ms; it was seen before its first collective call") !=
          std::string::npos);
  });
}
