// SPDX-License-Identifier: Apache-2.0
#include <twill/device/device.hpp>
#include <twill/memory/buffer.hpp>
#include <twill/memory/recording.hpp>
#include <twill/memory/summary.hpp>

#include <tests/support/failing_upstream.hpp>

#include <catch2/catch.hpp>

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace twill::memory;
using twill::Meta;
using twill_tests::FailingUpstream;

namespace {

constexpr std::size_t mib = std::size_t{1} << 20;
using TestPool = Pool<FailingUpstream>;

/// Allocates and drops in several places.
Buffer<Meta> keep_one_of(const Meta& device, int count, std::size_t bytes) {
  const Place place{"loop"};
  for (int i = 1; i < count; ++i) const Buffer<Meta> dropped(device, bytes);
  return Buffer<Meta>(device, bytes);
}

} // namespace

TEST_CASE("a recording tells who holds what, with the names and the calls that led there", "[memory][MEM-7]") {
  Meta device{6};
  const Buffer<Meta> before(device, 700);
  const Recording recording{device};
  Buffer<Meta> weights;
  {
    const Place model{"model"};
    const Place layer{"layer1"};
    weights = Buffer<Meta>(device, 5 * mib);
  }
  const Buffer<Meta> kept = keep_one_of(device, 5, 1000);
  const Buffer<Meta> unnamed(device, 1);
  const MemorySnapshot now = recording.snapshot();

  REQUIRE(now.pool == "meta:6");
  REQUIRE(now.allocations.size() == 4);
  const Allocation& oldest = now.allocations[0];
  REQUIRE(oldest.is_older_than_recording);
  REQUIRE(oldest.address == before.data());
  REQUIRE(oldest.requested == 700);
  REQUIRE(oldest.bytes == 1024);
  REQUIRE(oldest.calls == nullptr);
  const Allocation& second = now.allocations[1];
  REQUIRE(second.requested == 5 * mib);
  REQUIRE_THAT(second.place, Catch::Matches("model/layer1 \\(recording.test.cpp:[0-9]+\\)"));
  REQUIRE(!second.is_older_than_recording);
  REQUIRE_THAT(now.allocations[2].place, Catch::StartsWith("loop (recording.test.cpp:"));
  REQUIRE(now.allocations[3].place == nullptr);
#if __has_include(<execinfo.h>)
  REQUIRE(second.calls != nullptr);
  REQUIRE(now.allocations[2].calls != nullptr);
  REQUIRE(second.calls != now.allocations[2].calls);
#endif
  std::size_t bytes = 0;
  for (const Allocation& allocation : now.allocations) bytes += allocation.bytes;
  REQUIRE(bytes == static_cast<std::size_t>(twill::memory::pool(device).current(Quantity::allocated_bytes)));
  REQUIRE(now.segments.size() == 2);
}

TEST_CASE("allocations of one line have one call stack, however many they are", "[memory][MEM-7]") {
  TestPool pool{"test"};
  const Recording recording{pool};
  std::vector<Block*> blocks;
  for (int i = 0; i < 100; ++i) blocks.push_back(pool.allocate(512));
  std::set<const CallStack*> stacks;
  for (const Allocation& allocation : recording.snapshot().allocations) stacks.insert(allocation.calls);
  REQUIRE(stacks.size() == 1);
  for (Block* block : blocks) pool.release(block);
  REQUIRE(recording.snapshot().allocations.empty());
}

TEST_CASE("a time line begins with what was held and adds up to what is", "[memory][MEM-7]") {
  TestPool pool{"test"};
  Block* const old = pool.allocate(3 * mib);
  {
    const Recording recording{pool, {.most_calls = 0}};
    Block* const one = pool.allocate(700);
    pool.release(old);
    Block* const two = pool.allocate(2000);
    pool.release(one);
    const MemoryTimeline line = recording.timeline();
    REQUIRE(line.pool == "test");
    REQUIRE(line.allocated_before == 3 * static_cast<std::int64_t>(mib));
    REQUIRE(line.reserved_before == 20 * static_cast<std::int64_t>(mib));
    REQUIRE(line.before.size() == 1);
    REQUIRE(line.before[0].requested == 3 * mib);
    REQUIRE(line.overwritten == 0);
    REQUIRE(line.events.size() == 5); // a segment for small requests, too
    using enum MemoryEventKind;
    std::vector<std::pair<MemoryEventKind, std::int64_t>> seen;
    double latest = line.begin_seconds;
    for (const TimedEvent& timed : line.events) {
      seen.emplace_back(timed.event.kind, timed.allocated);
      REQUIRE(timed.seconds >= latest);
      REQUIRE(timed.calls == nullptr);
      latest = timed.seconds;
    }
    const std::int64_t large = line.allocated_before;
    REQUIRE(seen == std::vector<std::pair<MemoryEventKind, std::int64_t>>{{reserve_segment, large},
                                                                          {allocate, large + 1024},
                                                                          {release, 1024},
                                                                          {allocate, 1024 + 2048},
                                                                          {release, 2048}});
    REQUIRE(line.events.back().event.requested == 700); // of the allocation that ended
    REQUIRE(line.events.back().reserved == 22 * static_cast<std::int64_t>(mib));
    REQUIRE(line.end_seconds >= latest);
    pool.release(two);
  }
  pool.release(pool.allocate(1)); // nobody listens any more
  const Recording again{pool};
  REQUIRE(again.timeline().events.empty());
}

TEST_CASE("a time line that is too long loses its beginning, and still adds up", "[memory][MEM-7]") {
  TestPool pool{"test"};
  const Recording recording{pool, {.most_events = 4, .most_calls = 0}};
  Block* const first = pool.allocate(1000);
  for (int i = 0; i < 3; ++i) pool.release(pool.allocate(512));
  pool.release(first);
  const MemoryTimeline line = recording.timeline();
  REQUIRE(line.overwritten == 5);
  REQUIRE(line.events.size() == 4);
  REQUIRE(line.allocated_before == 1024 + 512); // in the middle of the loop
  REQUIRE(line.reserved_before == 2 * static_cast<std::int64_t>(mib));
  REQUIRE(line.before.size() == 2);
  REQUIRE(line.events.back().allocated == 0);
  REQUIRE(line.begin_seconds == line.events.front().seconds);
}

static_assert(ObservedPool<TestPool>);
static_assert(!ObservedPool<Pool<FailingUpstream, Untracked>> && !ObservedPool<Meta>);

TEST_CASE("one recording at a time, and the first goes on", "[memory][MEM-7]") {
  TestPool pool{"test"};
  const Recording recording{pool};
  REQUIRE_THROWS_WITH(Recording{pool},
                      "recording: the memory of test is being recorded already; end that recording first");
  pool.release(pool.allocate(1));
  REQUIRE(recording.timeline().events.size() == 3);
}

TEST_CASE("a recording of several threads adds up, and may begin and end while they allocate", "[memory][MEM-7]") {
  TestPool pool{"test"};
  const auto work = [&pool](const char* name) {
    const Place place{name};
    std::vector<Block*> held;
    for (std::size_t i = 0; i < 400; ++i) {
      held.push_back(pool.allocate(512 * (1 + i % 7)));
      if (i % 3 == 2) {
        pool.release(held[held.size() - 2]);
        held.erase(held.end() - 2);
      }
    }
    for (std::size_t i = 20; i < held.size(); ++i) pool.release(held[i]);
    held.resize(20);
    return held;
  };
  std::vector<Block*> one, other;
  std::thread first{[&] { one = work("one"); }};
  const Recording recording{pool};
  std::thread second{[&] { other = work("other"); }};
  for (int i = 0; i < 20; ++i) {
    const MemoryTimeline line = recording.timeline();
    std::int64_t before = line.allocated_before;
    for (const TimedEvent& timed : line.events) REQUIRE(timed.allocated >= 0);
    REQUIRE(before >= 0);
  }
  first.join();
  second.join();
  const MemorySnapshot now = recording.snapshot();
  REQUIRE(now.allocations.size() == 40);
  std::int64_t bytes = 0;
  std::size_t of_other = 0;
  for (const Allocation& allocation : now.allocations) {
    bytes += static_cast<std::int64_t>(allocation.bytes);
    if (allocation.place != nullptr && std::string{allocation.place}.rfind("other (", 0) == 0) ++of_other;
  }
  REQUIRE(bytes == pool.current(Quantity::allocated_bytes));
  REQUIRE(of_other == 20);
  const MemoryTimeline line = recording.timeline();
  REQUIRE(line.events.back().allocated == bytes);
  REQUIRE(line.events.back().reserved == pool.current(Quantity::reserved_bytes));
  for (Block* block : one) pool.release(block);
  for (Block* block : other) pool.release(block);
}

TEST_CASE("fragmentation counts what nobody can use", "[memory][MEM-2]") {
  REQUIRE(fragmentation({}).external() == 0);
  REQUIRE(fragmentation({}).internal() == 0);
  TestPool pool{"test"};
  std::vector<Block*> blocks;
  for (int i = 0; i < 5; ++i) blocks.push_back(pool.allocate(4 * mib - 100)); // a segment of 20 MiB, full
  blocks.push_back(pool.allocate(6 * mib));                                   // of another, which leaves 14 MiB
  pool.release(blocks[1]);
  pool.release(blocks[3]);
  const Fragmentation figures = fragmentation(snapshot(pool));
  REQUIRE(figures.reserved == 40 * mib);
  REQUIRE(figures.used == 18 * mib);
  REQUIRE(figures.requested == 18 * mib - 300);
  REQUIRE(figures.free == 22 * mib);
  REQUIRE(figures.free_blocks == 3);
  REQUIRE(figures.largest_free == 14 * mib);
  REQUIRE(figures.largest_request == 6 * mib);
  REQUIRE(figures.too_small == 8 * mib);
  REQUIRE(figures.returnable == 0);
  REQUIRE(figures.external() == Approx(8.0 / 22));
  REQUIRE(figures.unusable() == Approx(8.0 / 22));
  REQUIRE(figures.internal() == Approx(300.0 / (18.0 * static_cast<double>(mib))));
  pool.release(blocks[5]);
  REQUIRE(fragmentation(snapshot(pool)).returnable == 20 * mib);
  for (const int i : {0, 2, 4}) pool.release(blocks[static_cast<std::size_t>(i)]);
}
