// SPDX-License-Identifier: Apache-2.0

#include <twill/data/prefetch.hpp>

#include <catch2/catch.hpp>

#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>

namespace data = twill::data;

namespace {

struct Damaged : std::runtime_error {
  explicit Damaged(std::int64_t number) : std::runtime_error("damaged"), item{number} {}
  std::int64_t item;
};

void pause_a_little(std::int64_t number) {
  std::this_thread::sleep_for(std::chrono::microseconds((number * 7919) % 300));
}

} // namespace

TEST_CASE("prefetched items keep their order with any number of workers", "[data][TRAIN-8]") {
  for (const int workers : {0, 1, 2, 5})
    for (const int ahead : {1, 3}) {
      data::Prefetch<std::int64_t> items(3, 100,
                                         [](std::int64_t number) {
                                           pause_a_little(number);
                                           return number * number;
                                         },
                                         {.workers = workers, .ahead = ahead});
      for (std::int64_t number = 3; number < 100; ++number) REQUIRE(items.next() == number * number);
      CHECK(items.next() == std::nullopt);
      CHECK(items.next() == std::nullopt);
      CHECK(items.report().items == 97);
    }
}

TEST_CASE("workers stay within the number of items they may be ahead", "[data][TRAIN-8]") {
  std::atomic<std::int64_t> taken{0};
  std::atomic<std::int64_t> farthest{0};
  data::Prefetch<int> items(0, 200,
                            [&](std::int64_t number) {
                              const std::int64_t lead = number - taken.load();
                              std::int64_t seen = farthest.load();
                              while (lead > seen && !farthest.compare_exchange_weak(seen, lead)) {
                              }
                              return 0;
                            },
                            {.workers = 3, .ahead = 2});
  while (items.next()) ++taken;
  CHECK(farthest.load() <= 6); // six items, and `taken` may be one late
}

TEST_CASE("a worker's exception arrives at its place and as its own type", "[data][TRAIN-8]") {
  for (const int workers : {0, 1, 3}) {
    data::Prefetch<std::int64_t> items(0, 10,
                                       [](std::int64_t number) {
                                         if (number == 4) throw Damaged(number);
                                         return number;
                                       },
                                       {.workers = workers});
    for (std::int64_t number = 0; number < 4; ++number) CHECK(items.next() == number);
    try {
      (void)items.next();
      FAIL("item 4 was expected to throw");
    } catch (const Damaged& damaged) {
      CHECK(damaged.item == 4);
    }
    CHECK(items.next() == 5); // what follows is still there
  }
}

TEST_CASE("a prefetch abandoned anywhere joins its workers", "[data][TRAIN-8]") {
  for (int taken = 0; taken < 12; ++taken)
    for (const int workers : {0, 1, 4}) {
      auto in_flight = std::make_shared<int>(0);
      {
        data::Prefetch<std::shared_ptr<int>> items(0, 10,
                                                   [in_flight](std::int64_t number) {
                                                     pause_a_little(number);
                                                     if (number == 7) throw Damaged(number);
                                                     return in_flight;
                                                   },
                                                   {.workers = workers, .ahead = 2});
        for (int number = 0; number < taken; ++number) {
          if (number == 7)
            CHECK_THROWS_AS(items.next(), Damaged);
          else
            (void)items.next();
        }
      }
      CHECK(in_flight.use_count() == 1); // neither a thread nor an item is left
    }
}

TEST_CASE("the time a consumer waits is reported", "[data][TRAIN-8]") {
  const auto slow = [](std::int64_t) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    return 1;
  };
  data::Prefetch<int> inline_items(0, 4, slow, {.workers = 0});
  while (inline_items.next()) {
  }
  CHECK(inline_items.report().waited_seconds >= 0.02);
  CHECK(inline_items.report().share() > 0.9);

  // The worker finds no place for a third item only when two are ready; and the consumer works on the first for long
  // enough.
  data::Prefetch<int> ready_items(0, 3, [](std::int64_t) { return 1; }, {.workers = 1, .ahead = 2});
  while (ready_items.report().worker_waits == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  (void)ready_items.next();
  std::this_thread::sleep_for(std::chrono::duration<double>(0.05 + 5 * ready_items.report().waited_seconds));
  (void)ready_items.next();
  CHECK(ready_items.report().late_items == 0);
  CHECK(ready_items.report().share() < 0.5);
}

TEST_CASE("who waited for whom is counted", "[data][TRAIN-8]") {
  data::Prefetch<int> inline_items(0, 4, [](std::int64_t) { return 1; }, {.workers = 0});
  while (inline_items.next()) {
  }
  CHECK(inline_items.report().late_items == 4); // the consumer waited for each
  CHECK(inline_items.report().workers == 0);
  CHECK(inline_items.report().worker_waits == 0);

  // Two items may be ready; the worker finds no place for a third, and the first two are there when they are asked for.
  std::atomic<bool> may_go_on{false};
  const auto make = [&](std::int64_t number) {
    while (number == 3 && !may_go_on) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return 1;
  };
  data::Prefetch<int> items(0, 4, make, {.workers = 1, .ahead = 2});
  while (items.report().worker_waits == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  (void)items.next();
  (void)items.next();
  CHECK(items.report().late_items == 0);

  // The last one is made only after somebody was seen to wait for it.
  (void)items.next();
  CHECK(items.report().workers_waited_seconds > 0);   // the worker went on, and made the third
  const auto late_before = items.report().late_items; // the third, or not
  std::thread watcher([&] {
    while (items.report().late_items == late_before) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    may_go_on = true;
  });
  (void)items.next();
  watcher.join();
  CHECK(items.report().late_items == late_before + 1);
  CHECK(items.report().items == 4);
  CHECK(to_string(data::WaitReport{.items = 8,
                                   .bytes = 3100000,
                                   .late_items = 2,
                                   .waited_seconds = 0.2,
                                   .elapsed_seconds = 1.25,
                                   .workers = 3,
                                   .workers_waited_seconds = 2.9}) ==
        "8 batches of 3.1 MB, 2 of them late: waited 0.20 s of 1.25 s (16.0%); 3 workers waited 2.90 s");
}

TEST_CASE("impossible prefetch options are refused", "[data]") {
  const auto make = [](std::int64_t) { return 0; };
  CHECK_THROWS_WITH((data::Prefetch<int>(0, 1, make, {.workers = -1})), "prefetch: workers is at least 0, got -1");
  CHECK_THROWS_WITH((data::Prefetch<int>(0, 1, make, {.ahead = 0})), "prefetch: ahead is at least 1, got 0");
}
