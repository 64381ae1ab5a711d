// SPDX-License-Identifier: Apache-2.0

#include <twill/device/cuda/plan_cache.hpp>

#include <catch2/catch.hpp>

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

using twill::nvidia::PlanCache;

namespace {
using Cache = PlanCache<2, int>;
Cache::Key key(std::uint64_t first, std::uint64_t second = 0) { return {first, second}; }
} // namespace

TEST_CASE("a plan is made once for each key", "[device]") {
  Cache cache(64);
  int made = 0;
  const auto plan = [&](std::uint64_t first, std::uint64_t second) {
    return cache.find_or_make(key(first, second), [&] { return ++made; });
  };
  CHECK(plan(1, 2) == 1);
  CHECK(plan(2, 1) == 2);
  CHECK(plan(1, 2) == 1);
  CHECK(plan(2, 1) == 2);
  CHECK(made == 2);
  CHECK(cache.size() == 2);
}

TEST_CASE("a cache of plans is bounded and forgets what was not asked for the longest", "[device]") {
  Cache cache(8); // one set
  for (std::uint64_t i = 0; i < 8; ++i)
    CHECK(cache.find_or_make(key(i), [&] { return static_cast<int>(i); }) == static_cast<int>(i));
  CHECK(cache.find_or_make(key(0), [] { return -1; }) == 0); // asked again: now 1 is the oldest
  CHECK(cache.find_or_make(key(100), [] { return 100; }) == 100);
  CHECK(cache.size() == 8);
  CHECK(cache.find_or_make(key(0), [] { return -1; }) == 0);
  CHECK(cache.find_or_make(key(1), [] { return -1; }) == -1);

  Cache many(256);
  for (std::uint64_t i = 0; i < 10'000; ++i) static_cast<void>(many.find_or_make(key(i, i * i), [] { return 0; }));
  CHECK(many.size() <= 256);
  CHECK(many.size() > 200); // the hash spreads them
}

TEST_CASE("a plan that could not be made is not kept", "[device]") {
  Cache cache;
  CHECK_THROWS_AS(cache.find_or_make(key(1), []() -> int { throw std::runtime_error("no"); }), std::runtime_error);
  CHECK(cache.size() == 0);
  CHECK(cache.find_or_make(key(1), [] { return 5; }) == 5);
}

TEST_CASE("threads that make a plan at the same time get the same one", "[device]") {
  Cache cache;
  std::atomic<int> made{0};
  std::vector<int> plans(4 * 50);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (std::size_t i = 0; i < 50; ++i) plans[t * 50 + i] = cache.find_or_make(key(i), [&] { return ++made; });
    });
  for (std::thread& thread : threads) thread.join();
  for (std::size_t i = 0; i < 50; ++i)
    for (std::size_t t = 1; t < 4; ++t) CHECK(plans[t * 50 + i] == plans[i]);
  CHECK(cache.size() == 50);
}
