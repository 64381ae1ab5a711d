// SPDX-License-Identifier: Apache-2.0
#include <twill/memory/pool.hpp>

#include <tests/support/failing_upstream.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <limits>
#include <new>
#include <random>
#include <string>
#include <vector>

using namespace twill::memory;
using twill::OutOfMemoryError;
using twill_tests::FailingUpstream;

namespace {

constexpr std::size_t mib = std::size_t{1} << 20;
using TestPool = Pool<FailingUpstream>;

// A program that needs many segments of every kind, and goes on after each failure. Returns how many requests failed.
template <class P> int run_program(P& pool) {
  std::vector<Block*> live;
  std::mt19937 engine{99};
  int failures = 0;
  for (int i = 0; i < 120; ++i) {
    const std::size_t sizes[] = {700, 300'000, mib, 2 * mib, 9 * mib, 33 * mib};
    try {
      live.push_back(pool.allocate(sizes[engine() % 6]));
    } catch (const std::bad_alloc&) {
      ++failures;
    } catch (const OutOfMemoryError&) {
      ++failures;
    }
    while (live.size() > 12) {
      std::swap(live[engine() % live.size()], live.back());
      pool.release(live.back());
      live.pop_back();
    }
    if (i % 40 == 39) pool.empty_cache();
  }
  for (Block* block : live) pool.release(block);
  return failures;
}

// Calls of operator new by this thread until one fails; negative for never.
thread_local long allocations_left = -1;

} // namespace

// The program under test sees host allocations fail on demand; everything else behaves as always. Not inlined, because g++
// takes the visible malloc for a mismatch otherwise; all forms, because sanitizers bring forms of their own.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  if (allocations_left == 0) throw std::bad_alloc{};
  if (allocations_left > 0) --allocations_left;
  if (void* memory = std::malloc(bytes > 0 ? bytes : 1)) return memory;
  throw std::bad_alloc{};
}
[[gnu::noinline]] void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return std::malloc(bytes > 0 ? bytes : 1);
}
[[gnu::noinline]] void* operator new[](std::size_t bytes) { return operator new(bytes); }
[[gnu::noinline]] void* operator new[](std::size_t bytes, const std::nothrow_t& tag) noexcept {
  return operator new(bytes, tag);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { operator delete(memory); }
[[gnu::noinline]] void operator delete(void* memory, const std::nothrow_t&) noexcept { operator delete(memory); }
[[gnu::noinline]] void operator delete[](void* memory) noexcept { operator delete(memory); }
[[gnu::noinline]] void operator delete[](void* memory, std::size_t) noexcept { operator delete(memory); }
[[gnu::noinline]] void operator delete[](void* memory, const std::nothrow_t&) noexcept { operator delete(memory); }

TEST_CASE("the error says what was asked, allocated, reserved, cached, free and total", "[memory][MEM-6]") {
  FailingUpstream upstream;
  upstream.state->capacity = 64 * mib;
  TestPool pool{"cpu:7", upstream};
  Block* kept = pool.allocate(30 * mib);
  Block* small = pool.allocate(1);
  try {
    static_cast<void>(pool.allocate(40 * mib));
    FAIL("nothing was thrown");
  } catch (const OutOfMemoryError& error) {
    REQUIRE(error.figures().asked == 40 * mib);
    REQUIRE(error.figures().allocated == 30 * mib + 512);
    REQUIRE(error.figures().reserved == 32 * mib);
    REQUIRE(error.figures().cached == 2 * mib - 512);
    REQUIRE(error.figures().free == 32 * mib);
    REQUIRE(error.figures().total == 64 * mib);
    const std::string text = error.what();
    for (const char* part : {"cpu:7", "40.00 MiB", "41943040 bytes", "30.00 MiB allocated", "32.00 MiB reserved",
                             "2.00 MiB cached", "32.00 MiB free of 64.00 MiB in total"})
      REQUIRE_THAT(text, Catch::Contains(part));
    REQUIRE_THAT(text, !Catch::Contains("limit 1"));
  }
  REQUIRE(pool.stats().out_of_memory == 1);
  REQUIRE(pool.stats().retries == 1);
  pool.release(kept);
  pool.release(pool.allocate(40 * mib)); // the program goes on
  pool.release(small);
}

TEST_CASE("before it refuses, a pool returns the cached segment that fits best and tries again", "[memory][MEM-6]") {
  FailingUpstream upstream;
  upstream.state->capacity = 100 * mib;
  TestPool pool{"test", upstream};
  Block* first = pool.allocate(20 * mib);
  Block* second = pool.allocate(30 * mib);
  Block* third = pool.allocate(40 * mib);
  pool.release(first);
  pool.release(second);
  pool.release(third);
  std::vector<Block*> small;
  for (int i = 0; i < 5; ++i) small.push_back(pool.allocate(mib));
  for (int i = 0; i < 5; ++i) small.push_back(pool.allocate(mib)); // 100 MiB are reserved now
  REQUIRE(upstream.state->live_bytes == 100 * mib);
  small.push_back(pool.allocate(mib)); // a small segment has to come from upstream: the 20 MiB segment goes
  REQUIRE(upstream.state->live_bytes == 82 * mib);
  REQUIRE(pool.stats().retries == 1);
  REQUIRE(pool.stats().out_of_memory == 0);
  for (Block* block : small) pool.release(block);
}

TEST_CASE("before it refuses, a pool returns everything cached", "[memory][MEM-6]") {
  FailingUpstream upstream;
  upstream.state->capacity = 64 * mib;
  TestPool pool{"test", upstream};
  std::vector<Block*> blocks;
  for (int i = 0; i < 3; ++i) blocks.push_back(pool.allocate(20 * mib));
  for (Block* block : blocks) pool.release(block);
  Block* all = pool.allocate(64 * mib);
  REQUIRE(upstream.state->live_bytes == 64 * mib);
  pool.release(all);
}

TEST_CASE("a request that no machine could serve is refused like any other", "[memory][MEM-6]") {
  TestPool pool{"test"};
  REQUIRE_THROWS_AS(pool.allocate(std::numeric_limits<std::size_t>::max()), OutOfMemoryError);
  REQUIRE_THROWS_AS(pool.allocate(std::numeric_limits<std::size_t>::max() - 511), OutOfMemoryError);
  REQUIRE_THROWS_AS(pool.allocate(std::size_t{1} << 61), OutOfMemoryError);
  REQUIRE(pool.stats().out_of_memory == 3);
}

TEST_CASE("the limit counts like memory that is not there", "[memory][MEM-1][MEM-6]") {
  FailingUpstream upstream;
  TestPool pool{"test", upstream};
  pool.limit().set(24 * mib);
  Block* first = pool.allocate(20 * mib);
  REQUIRE_THROWS_WITH(pool.allocate(10 * mib), Catch::Contains("limit 24.00 MiB"));
  Block* small = pool.allocate(100);
  pool.release(first);
  Block* second = pool.allocate(22 * mib); // fits when the cached 20 MiB are returned first
  REQUIRE(pool.stats().all.reserved_bytes.current == static_cast<std::int64_t>(24 * mib));
  pool.release(second);
  pool.limit().set(no_limit);
  pool.release(pool.allocate(200 * mib));
  pool.limit().set(0);
  pool.release(pool.allocate(200)); // what is cached is still served
  REQUIRE_THROWS_AS(pool.allocate(500 * mib), OutOfMemoryError);
  pool.release(small);
  Pool<FailingUpstream, FixedLimit<4 * mib>> fixed{"fixed"};
  REQUIRE_THROWS_AS(fixed.allocate(5 * mib), OutOfMemoryError);
  fixed.release(fixed.allocate(mib));
}

TEST_CASE("wherever upstream fails, once or for good, the program goes on and nothing leaks", "[memory][MEM-6]") {
  std::size_t calls = 0;
  {
    FailingUpstream upstream;
    TestPool pool{"test", upstream};
    REQUIRE(run_program(pool) == 0);
    calls = upstream.state->calls;
  }
  REQUIRE(calls > 10);
  for (std::size_t n = 1; n <= calls + 1; ++n) {
    for (const bool for_good : {false, true}) {
      FailingUpstream upstream;
      upstream.state->fail_at = n;
      upstream.state->fail_from_then_on = for_good;
      {
        TestPool pool{"test", upstream};
        const int failures = run_program(pool);
        REQUIRE((failures > 0) == (pool.stats().out_of_memory > 0));
        if (!for_good && n <= calls) REQUIRE(failures <= 1);
        REQUIRE(pool.stats().all.allocated_bytes.current == 0);
        upstream.state->fail_at = 0;
        pool.release(pool.allocate(50 * mib)); // as good as new
        pool.empty_cache();
        REQUIRE(pool.stats().all.reserved_bytes.current == 0);
      }
      REQUIRE(upstream.state->live.empty());
      REQUIRE(upstream.state->foreign_releases == 0);
    }
  }
}

TEST_CASE("wherever the host has no room for a record, the program goes on and nothing leaks", "[memory][MEM-6]") {
  for (long n = 0; n < 400; ++n) {
    FailingUpstream upstream;
    {
      TestPool pool{"test", upstream};
      std::vector<Block*> live;
      live.reserve(300);
      int failures = 0;
      allocations_left = n;
      for (std::size_t i = 0; i < 200; ++i) {
        try {
          Block* block = pool.allocate(1000 + i * 10'000); // many blocks, so that the records run out several times
          live.push_back(block);
        } catch (const std::bad_alloc&) {
          ++failures;
          allocations_left = -1;
        } catch (const OutOfMemoryError&) {
          ++failures;
          allocations_left = -1;
        }
      }
      const bool reached = allocations_left == -1;
      allocations_left = -1;
      REQUIRE(failures <= 1);
      REQUIRE(live.size() + static_cast<std::size_t>(failures) == 200);
      for (Block* block : live) pool.release(block);
      REQUIRE(pool.stats().all.allocated_bytes.current == 0);
      if (!reached) n = 400; // the program needs fewer allocations than that
    }
    REQUIRE(upstream.state->live.empty());
  }
}
