// SPDX-License-Identifier: Apache-2.0
//
// Groups of NCCL ranks over a table of NCCL's functions on the host: what every collective moves, and what happens when
// a call is refused, an error arrives later, a rank is missing or kernels hang: every rank of the process is told, in
// time, which is that of simulations.

#include <tests/parallel/nccl/fake_nccl.hpp>
#include <tests/support/simulation.hpp>
#include <tests/support/suite.hpp>

#include <twill/parallel/group/collectives.hpp>
#include <twill/parallel/threads/ranks.hpp>

#include <catch2/catch.hpp>

#include <chrono>
#include <cstdint>
#include <mutex>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <thread>
#include <vector>

using namespace twill;
using namespace twill::parallel;
using test::fake_communicators;
using test::FakeCommunicator;
using test::FakeNetwork;

namespace {

struct Network {
  FakeNetwork& net = FakeNetwork::get();
  Network() { net.reset(); }
};

std::vector<float> numbers(int count, int rank) {
  std::vector<float> values(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) values[static_cast<std::size_t>(i)] = static_cast<float>(100 * rank + i);
  return values;
}

void every_collective(FakeCommunicator& ranks) {
  const int rank = ranks.rank();
  const int size = ranks.size();
  const auto n = static_cast<std::size_t>(size);
  auto data = numbers(5, rank);
  all_reduce(ranks, data.data(), 5);
  ranks.finish();
  for (int i = 0; i < 5; ++i)
    test::require(data[static_cast<std::size_t>(i)] == static_cast<float>(100 * size * (size - 1) / 2 + size * i));

  data = numbers(5, rank);
  broadcast(ranks, data.data(), 5, size - 1);
  ranks.finish();
  test::require(data == numbers(5, size - 1));

  const auto part = numbers(3, rank);
  std::vector<float> whole(3 * n);
  all_gather(ranks, part.data(), whole.data(), 3);
  ranks.finish();
  for (int other = 0; other < size; ++other)
    test::require(std::equal(whole.begin() + 3 * other, whole.begin() + 3 * other + 3, numbers(3, other).begin()));

  std::vector<float> collected(rank == 0 ? 3 * n : 0);
  gather(ranks, part.data(), collected.data(), 3, 0);
  ranks.finish();
  if (rank == 0) test::require(collected == whole);
  std::vector<float> back(3);
  scatter(ranks, collected.data(), back.data(), 3, 0);
  ranks.finish();
  test::require(back == part);

  std::vector<float> turned(3 * n);
  all_to_all(ranks, whole.data(), turned.data(), 3); // all have the same: part `rank` from everybody
  ranks.finish();
  for (int other = 0; other < size; ++other)
    test::require(std::equal(turned.begin() + 3 * other, turned.begin() + 3 * other + 3, part.begin()));

  std::vector<float> summed(3);
  reduce_scatter(ranks, whole.data(), summed.data(), 3);
  ranks.finish();
  for (std::size_t i = 0; i < 3; ++i) test::require(summed[i] == static_cast<float>(size) * part[i]);

  auto to_root = numbers(4, rank);
  reduce(ranks, to_root.data(), 4, 0);
  ranks.finish();
  if (rank != 0) test::require(to_root == numbers(4, rank));
  if (rank == 0) test::require(to_root[1] == static_cast<float>(100 * size * (size - 1) / 2 + size));
  barrier(ranks);
}

} // namespace

TEST_CASE("every collective of an NCCL group moves what it says", "[parallel]") {
  for (const int size : {1, 2, 3})
    for (const int settle_polls : {0, 3}) { // a call may be taken up only later
      CAPTURE(size, settle_polls);
      Network network;
      network.net.settle_polls = settle_polls;
      {
        auto group = fake_communicators(size);
        run_ranks(group, every_collective);
      }
      CHECK(network.net.aborted == 0);
      CHECK(network.net.destroyed == size);
    }
}

TEST_CASE("ranks that start their sends before their receives do not wait for each other", "[parallel]") {
  Network network;
  auto group = fake_communicators(2);
  run_ranks(group, [](FakeCommunicator& ranks) {
    const int peer = 1 - ranks.rank();
    const auto mine = numbers(7, ranks.rank());
    std::vector<float> theirs(7);
    {
      auto sent = ranks.start(Call::send(elements(mine.data(), 7), peer));
      auto received = ranks.start(Call::receive(elements(theirs.data(), 7), peer));
      sent.wait();
      received.wait();
    }
    ranks.finish();
    test::require(theirs == numbers(7, peer));

    std::vector<float> sum = mine; // a collective sends what was started before it
    auto handle = ranks.start(Call::send(elements(mine.data(), 7), peer));
    auto other = ranks.start(Call::receive(elements(theirs.data(), 7), peer));
    auto reduced = ranks.start(Call::all_reduce(elements(sum.data(), 7)));
    reduced.wait();
    ranks.finish();
    test::require(handle.is_done());
    test::require(other.is_done());
    test::require(sum[0] == 100.0F);
  });
}

TEST_CASE("one thread may play all ranks of its process", "[parallel]") {
  Network network;
  {
    auto group = fake_communicators(3);
    std::vector<std::vector<float>> data;
    for (int rank = 0; rank < 3; ++rank) data.push_back(numbers(4, rank));
    std::vector<Call> calls;
    for (auto& each : data) calls.push_back(Call::all_reduce(elements(each.data(), 4)));
    run_together(group, calls);
    for (auto& rank : group) rank.finish();
    for (const auto& each : data) CHECK(each[1] == 303.0F);
    calls.pop_back();
    CHECK_THROWS_WITH(run_together(group, calls), "run_together: one call for each rank, got 2 for 3");
    network.net.fail_rank = 2;
    network.net.fail_result = 2;
    calls.push_back(Call::barrier());
    CHECK_THROWS_AS(run_together(group, calls), CommunicatorError);
  }
  CHECK(network.net.aborted == 3);
  CHECK(network.net.destroyed == 0);
}

TEST_CASE("sub-groups of an NCCL group are ordered by key, then rank", "[parallel]") {
  Network network;
  {
    auto group = fake_communicators(4);
    run_ranks(group, [](FakeCommunicator& ranks) {
      const int rank = ranks.rank();
      auto part = ranks.split(rank == 3 ? -1 : rank % 2, -rank);
      if (rank == 3) {
        test::require(part.size() == 0);
        return;
      }
      test::require(part.size() == (rank == 1 ? 1 : 2));
      test::require(part.rank() == (rank == 0 ? 1 : 0));
      std::vector<float> data{static_cast<float>(rank)};
      all_reduce(part, data.data(), 1);
      part.finish();
      test::require(data[0] == (rank == 1 ? 1.0F : 2.0F));
    });
  }
  CHECK(network.net.aborted == 0);
  CHECK(network.net.destroyed == 4 + 3);
}

TEST_CASE("a call that NCCL refuses names rank, operation and NCCL's words, on every rank", "[parallel]") {
  Network network;
  network.net.fail_rank = 1;
  network.net.fail_result = 2;
  auto group = fake_communicators(3);
  const auto text = "rank 1 (gpu:1): all_reduce(sum) of 5 float32: NCCL: unhandled system error";
  run_ranks(group, [&](FakeCommunicator& ranks) {
    std::vector<float> data(5);
    const auto call = [&] {
      all_reduce(ranks, data.data(), 5);
      ranks.finish();
    };
    test::require_throws<CommunicatorError>(call, text);
    test::require_throws<CommunicatorError>(call, text); // and ever after
    try {
      call();
    } catch (const CommunicatorError& error) {
      test::require(error.rank() == 1);
    }
  });
  CHECK(network.net.aborted == 3);
}

TEST_CASE("a wrong argument harms nobody", "[parallel]") {
  Network network;
  auto group = fake_communicators(2);
  network.net.fail_rank = 0;
  network.net.fail_result = nccl::invalid_argument;
  std::vector<float> data(2);
  CHECK_THROWS_AS(all_reduce(group[0], data.data(), 2), ValueError);
  run_ranks(group, [](FakeCommunicator& ranks) {
    auto values = numbers(2, ranks.rank());
    all_reduce(ranks, values.data(), 2);
    ranks.finish();
    test::require(values[0] == 100.0F);
  });
  CHECK(network.net.aborted == 0);
}

TEST_CASE("an error that arrives while kernels run reaches every rank of the process", "[parallel]") {
  Network network;
  auto group = fake_communicators(2);
  auto other = fake_communicators(1); // a group of its own is not concerned
  network.net.is_stuck = true;
  std::vector<float> first(3), second(3);
  group[0].run(Call::all_reduce(elements(first.data(), 3)));
  group[1].run(Call::all_reduce(elements(second.data(), 3)));
  {
    const std::lock_guard lock(network.net.mutex);
    network.net.async_rank = 1;
    network.net.async_result = 6;
  }
  const auto text = "rank 1 (gpu:1): all_reduce(sum) of 3 float32: NCCL: remote process exited";
  CHECK_THROWS_WITH(group[1].finish(), text);
  CHECK_THROWS_WITH(group[0].finish(), text);
  CHECK_THROWS_WITH(group[0].run(Call::barrier()), text);
  CHECK(network.net.aborted == 2);
  network.net.is_stuck = false;
  CHECK_NOTHROW(barrier(other[0]));
}

TEST_CASE("a rank that cannot go on says so to all", "[parallel]") {
  Network network;
  auto group = fake_communicators(2);
  group[1].fail(std::make_exception_ptr(std::runtime_error("the cable was pulled")));
  CHECK_THROWS_WITH(group[0].finish(), "rank 1 (gpu:1) failed: the cable was pulled");
  CHECK_THROWS_WITH(group[1].run(Call::barrier()), "rank 1 (gpu:1) failed: the cable was pulled");
  CHECK(network.net.aborted == 2);
}

TEST_CASE("a rank that does not come ends the others' calls within the time-out", "[parallel][PAR-9]") {
  test::simulate(20, [](std::uint64_t) {
    Network network;
    auto group = fake_communicators(2, {.timeout_ms = 2000, .is_watched = false});
    std::vector<float> data(3);
    const test::Moment limit = parallel::detail::after_ms(3000);
    group[0].run(Call::all_reduce(elements(data.data(), 3)));
    try {
      group[0].finish();
      FAIL("nothing was thrown");
    } catch (const TimeoutError& error) {
      CHECK(std::string(error.what()) ==
            "rank 0 (gpu:0): all_reduce(sum) of 3 float32 has not finished after 2000 ms; NCCL does not tell which "
            "rank is missing");
      CHECK(error.rank() == -1);
    }
    CHECK_THROWS_AS(group[1].run(Call::barrier()), TimeoutError);
    CHECK(parallel::detail::now() < limit);
  });
}

TEST_CASE("the watching thread aborts what hangs though no rank asks", "[parallel][PAR-9]") {
  test::simulate(20, [](std::uint64_t) {
    Network network;
    auto group = fake_communicators(2, {.timeout_ms = 2000, .is_watched = true});
    std::vector<float> data(3);
    group[0].run(Call::all_reduce(elements(data.data(), 3)));
    test::pass(std::chrono::milliseconds(1900));
    CHECK(network.net.aborted == 0);
    test::pass(std::chrono::milliseconds(400));
    CHECK(network.net.aborted == 2);
    CHECK_THROWS_AS(group[0].finish(), TimeoutError);
  });
}

TEST_CASE("a rank that an exception ends releases the others, sub-groups included", "[parallel]") {
  Network network;
  auto group = fake_communicators(2, {.timeout_ms = 20'000});
  CHECK_THROWS_WITH(run_ranks(group,
                              [](FakeCommunicator& ranks) {
                                auto everyone = ranks.split(0, 0);
                                if (ranks.rank() == 1) throw std::runtime_error("no more");
                                std::vector<float> data(3);
                                all_reduce(everyone, data.data(), 3);
                                everyone.finish();
                              }),
                    "no more");
}

TEST_CASE("no rank is aborted while a thread has a group of calls open", "[parallel]") {
  test::simulate(20, [](std::uint64_t) {
    Network network;
    auto ranks = fake_communicators(2, {.timeout_ms = 5000, .is_watched = false});
    std::optional<parallel::detail::Strand> strand;
    std::thread failing;
    int aborted = -1;
    network.net.before_end = [&] {
      strand.emplace();
      failing = std::thread([&] {
        strand->run([&] { ranks[0].transport().group().fail({"the cable was pulled", 0, false, nullptr}); });
      });
      while (!ranks[0].transport().group().has_failed()) test::pass(std::chrono::milliseconds(1));
      test::pass(std::chrono::milliseconds(1000)); // for an abort that does not wait
      aborted = network.net.aborted;
    };
    CHECK_THROWS_WITH(run_together(ranks, {Call::barrier(), Call::barrier()}), "the cable was pulled");
    strand->join();
    failing.join();
    CHECK(aborted == 0);
    CHECK(network.net.aborted == 2);
  });
}

TEST_CASE("what is only recorded is not watched", "[parallel]") {
  Network network;
  auto group = fake_communicators(1, {.timeout_ms = 30, .is_watched = false});
  network.net.is_capturing = true;
  network.net.is_stuck = true;
  std::vector<float> data(3);
  group[0].run(Call::all_reduce(elements(data.data(), 3)));
  CHECK_NOTHROW(group[0].finish());
}

TEST_CASE("a communicator of no group refuses calls", "[parallel]") {
  FakeCommunicator none;
  CHECK(none.size() == 0);
  CHECK_THROWS_AS(none.run(Call::barrier()), ValueError);
  CHECK_THROWS_AS(none.split(0, 0), ValueError);
}
