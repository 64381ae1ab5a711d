// SPDX-License-Identifier: Apache-2.0
#include <twill/memory/pool.hpp>

#include <tests/support/failing_upstream.hpp>
#include <tests/support/fake_streams.hpp>

#include <catch2/catch.hpp>

#include <cstddef>
#include <map>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

using namespace twill::memory;
using twill_tests::FailingUpstream;
using twill_tests::FakeStreams;

namespace {
constexpr std::size_t mib = std::size_t{1} << 20;
using StreamPool = Pool<FailingUpstream, FakeStreams>;
using Log = std::vector<std::string>;
} // namespace

TEST_CASE("a stream reuses its own blocks at once and without an event", "[memory][MEM-1]") {
  FakeStreams streams;
  StreamPool pool{"test", {}, streams};
  Block* first = pool.allocate(30 * mib, 1);
  const auto* address = first->address;
  streams.state->queued[1] = 5; // still running
  pool.release(first);
  Block* again = pool.allocate(30 * mib, 1);
  REQUIRE(again->address == address);
  REQUIRE(streams.state->log.empty());
  pool.release(again);
}

TEST_CASE("memory that served one request alone goes back after the work of all its streams", "[memory][MEM-1]") {
  struct AloneUpstream : FailingUpstream {
    [[nodiscard]] static bool each_alone() { return true; }
  };
  FakeStreams streams;
  AloneUpstream upstream;
  Pool<AloneUpstream, FakeStreams> pool{"test", upstream, streams};
  Block* block = pool.allocate(1000, 1);
  Block* other = pool.allocate(1000, 2);
  REQUIRE(upstream.state->live_bytes == 2000);
  pool.record_stream(*block, 3);
  streams.state->queued = {{1, 2}, {2, 3}, {3, 4}};
  pool.release(block);
  REQUIRE(streams.state->finished == streams.state->queued);
  REQUIRE(upstream.state->live_bytes == 1000);
  pool.release(other);
  REQUIRE(upstream.state->live.empty());
  REQUIRE(pool.current(Quantity::reserved_bytes) == 0);
}

TEST_CASE("another stream takes a block after an event of the first, and owns it from then on", "[memory][MEM-1]") {
  FakeStreams streams;
  StreamPool pool{"test", {}, streams};
  Block* first = pool.allocate(30 * mib, 1);
  const auto* address = first->address;
  pool.release(first);
  Block* second = pool.allocate(30 * mib, 2);
  REQUIRE(second->address == address);
  REQUIRE(streams.state->log == Log{"record 1", "2 waits for 1"});
  pool.release(second);
  streams.state->log.clear();
  pool.release(pool.allocate(30 * mib, 2));
  REQUIRE(streams.state->log.empty());
}

TEST_CASE("a block that other streams have used is fenced until their work is done", "[memory][MEM-1]") {
  FakeStreams streams;
  FailingUpstream upstream;
  StreamPool pool{"test", upstream, streams};
  Block* block = pool.allocate(30 * mib, 1);
  pool.record_stream(*block, 1); // its own stream: nothing to remember
  pool.record_stream(*block, 2);
  pool.record_stream(*block, 2);
  pool.record_stream(*block, 3);
  streams.state->queued[2] = 4;
  streams.state->queued[3] = 4;
  pool.release(block);
  REQUIRE(streams.state->log == Log{"record 2", "record 3"});
  streams.state->finished[3] = 4;
  SECTION("its own stream waits for those that are not") {
    Block* again = pool.allocate(30 * mib, 1);
    REQUIRE(streams.state->log == Log{"record 2", "record 3", "1 waits for 2"});
    pool.release(again);
    pool.release(pool.allocate(30 * mib, 1));
    REQUIRE(streams.state->log.size() == 3);
  }
  SECTION("another stream waits for all of them") {
    Block* again = pool.allocate(30 * mib, 3);
    REQUIRE(streams.state->log == Log{"record 2", "record 3", "record 1", "3 waits for 1", "3 waits for 2"});
    pool.release(again);
  }
  SECTION("nothing is left to wait for once all are done") {
    streams.state->finished[2] = 4;
    pool.release(pool.allocate(30 * mib, 1));
    REQUIRE(streams.state->log.size() == 2);
  }
  SECTION("returning it to upstream waits on the host") {
    REQUIRE(pool.empty_cache() == 30 * mib);
    REQUIRE(streams.state->synchronizations > 0);
    REQUIRE(upstream.state->live.empty());
  }
}

TEST_CASE("where no event can be had, releasing waits for the device instead", "[memory][MEM-6]") {
  FakeStreams streams;
  StreamPool pool{"test", {}, streams};
  Block* block = pool.allocate(1000, 1);
  pool.record_stream(*block, 2);
  streams.state->queued[2] = 3;
  streams.state->failing_records = 1;
  pool.release(block);
  REQUIRE(streams.state->synchronizations == 1);
  pool.release(pool.allocate(1000, 1));
  REQUIRE(streams.state->log.empty());
}

TEST_CASE("a failure while taking another stream's block leaves the block in the pool", "[memory][MEM-6]") {
  FakeStreams streams;
  StreamPool pool{"test", {}, streams};
  pool.release(pool.allocate(30 * mib, 1));
  streams.state->failing_records = 1;
  REQUIRE_THROWS_AS(pool.allocate(30 * mib, 2), std::runtime_error);
  REQUIRE(pool.current(Quantity::allocated_bytes) == 0);
  Block* block = pool.allocate(30 * mib, 2);
  REQUIRE(pool.stats().all.segment.current == 1);
  pool.release(block);
}

TEST_CASE("a stream may be destroyed after the pool was told", "[memory][MEM-1]") {
  FakeStreams streams;
  StreamPool pool{"test", {}, streams};
  Block* cached = pool.allocate(30 * mib, 5);
  Block* held = pool.allocate(40 * mib, 5);
  Block* shared = pool.allocate(50 * mib);
  pool.record_stream(*shared, 5);
  pool.release(cached);
  streams.state->queued[5] = 7;
  pool.forget_stream(5);
  streams.state->dead.insert(5); // recording on it would throw from now on
  pool.release(held);
  pool.release(shared);
  REQUIRE(streams.state->log == Log{"record 5"});
  for (const std::size_t bytes : {30 * mib, 40 * mib, 50 * mib}) {
    streams.state->log.clear();
    Block* block = pool.allocate(bytes);
    REQUIRE(streams.state->log == Log{"0 waits for 5"});
    REQUIRE(pool.stats().all.segment.current == 3);
    pool.release(block);
  }
  REQUIRE(pool.empty_cache() == 120 * mib);
}

TEST_CASE("a stream whose work is done leaves nothing to wait for when it is destroyed", "[memory][MEM-1]") {
  FakeStreams streams;
  StreamPool pool{"test", {}, streams};
  Block* cached = pool.allocate(30 * mib, 5);
  Block* held = pool.allocate(40 * mib, 5);
  Block* shared = pool.allocate(50 * mib);
  Block lent{};
  pool.release(cached);
  for (int round = 0; round < 3; ++round) {
    pool.record_stream(*shared, 5);
    pool.record_stream(lent, 5);
    pool.forget_stream(5, FakeStreams::Event{});
  }
  streams.state->queued[5] = 7; // of another stream with its number
  pool.release(held);
  pool.release(shared);
  pool.wait_for_streams(lent);
  for (const std::size_t bytes : {30 * mib, 40 * mib, 50 * mib}) pool.release(pool.allocate(bytes));
  REQUIRE(streams.state->log.empty());
  REQUIRE(pool.empty_cache() == 120 * mib);
}

TEST_CASE("memory of somebody else waits for the streams that use it before it is given back", "[memory][MEM-1]") {
  FakeStreams streams;
  StreamPool pool{"test", {}, streams};
  Block lent{};
  pool.wait_for_streams(lent); // nobody uses it
  for (const int stream : {2, 0, 2, 5}) pool.record_stream(lent, stream);
  streams.state->queued = {{0, 1}, {2, 3}, {5, 7}, {6, 4}};
  pool.forget_stream(6); // not concerned
  pool.forget_stream(5);
  streams.state->dead.insert(5);
  REQUIRE(streams.state->log == Log{"record 6", "record 5"});
  SECTION("and for no others") {
    pool.wait_for_streams(lent);
    REQUIRE(streams.state->log == Log{"record 6", "record 5", "record 2", "record 0"});
    REQUIRE(streams.state->finished == std::map<int, int>{{0, 1}, {2, 3}, {5, 7}});
    REQUIRE(streams.state->synchronizations == 0);
  }
  SECTION("for all of them where no event can be had") {
    streams.state->failing_records = 1;
    pool.wait_for_streams(lent);
    REQUIRE(streams.state->synchronizations == 1);
  }
  pool.wait_for_streams(lent); // nothing is left
  pool.forget_stream(2);
  REQUIRE(lent.stream_use == nullptr);
}

TEST_CASE("blocks of several streams in one segment come together when the cache is emptied", "[memory][MEM-1]") {
  FakeStreams streams;
  FailingUpstream upstream;
  StreamPool pool{"test", upstream, streams};
  std::mt19937 engine{17};
  std::vector<Block*> live;
  for (int i = 0; i < 3000; ++i) {
    if (live.size() < 40 && engine() % 2 == 0) {
      const int stream = static_cast<int>(engine() % 4);
      live.push_back(pool.allocate(1 + engine() % (engine() % 3 == 0 ? 4 * mib : 90'000), stream));
      if (engine() % 4 == 0) pool.record_stream(*live.back(), static_cast<int>(engine() % 4));
      ++streams.state->queued[stream];
    } else if (!live.empty()) {
      std::swap(live[engine() % live.size()], live.back());
      pool.release(live.back());
      live.pop_back();
    }
    if (engine() % 8 == 0) {
      const int stream = static_cast<int>(engine() % 4);
      streams.state->finished[stream] = streams.state->queued[stream];
    }
  }
  for (Block* block : live) pool.release(block);
  REQUIRE(pool.current(Quantity::allocated_bytes) == 0);
  pool.empty_cache();
  REQUIRE(pool.current(Quantity::reserved_bytes) == 0);
  REQUIRE(upstream.state->live.empty());
}
