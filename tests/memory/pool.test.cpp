// SPDX-License-Identifier: Apache-2.0
#include <twill/memory/pool.hpp>

#include <tests/support/failing_upstream.hpp>

#include <catch2/catch.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <vector>

using namespace twill::memory;
using twill_tests::FailingUpstream;

namespace {

constexpr std::size_t mib = std::size_t{1} << 20;

using TestPool = Pool<FailingUpstream>;

// The blocks tile their segments, and the counters say what the blocks say.
template <class P> void require_consistent(const P& pool, std::size_t live_count) {
  std::int64_t reserved = 0;
  std::int64_t active = 0;
  std::int64_t allocated = 0;
  std::int64_t requested = 0;
  std::int64_t split = 0;
  std::int64_t split_bytes = 0;
  std::size_t in_use = 0;
  std::map<const Segment*, const std::byte*> ends;
  bool tiled = true;
  bool merged = true;
  pool.for_each_block([&](const Segment& segment, const Block& block) {
    const auto found = ends.find(&segment);
    tiled = tiled && block.address == (found == ends.end() ? segment.address : found->second);
    ends[&segment] = block.address + block.bytes;
    const auto bytes = static_cast<std::int64_t>(block.bytes);
    if (block.previous == nullptr) reserved += static_cast<std::int64_t>(segment.bytes);
    if (block.free) {
      merged = merged && (block.next == nullptr || !block.next->free);
      if (!block.is_whole_segment()) ++split, split_bytes += bytes;
    } else {
      ++in_use;
      active += bytes;
      allocated += static_cast<std::int64_t>(block.rounded);
      requested += static_cast<std::int64_t>(block.requested);
    }
  });
  for (const auto& [segment, end] : ends) tiled = tiled && end == segment->address + segment->bytes;
  REQUIRE(tiled);
  REQUIRE(merged);
  const MemoryStats stats = pool.stats();
  REQUIRE(in_use == live_count);
  REQUIRE(stats.all.allocation.current == static_cast<std::int64_t>(live_count));
  REQUIRE(stats.all.allocated_bytes.current == allocated);
  REQUIRE(stats.all.requested_bytes.current == requested);
  REQUIRE(stats.all.active_bytes.current == active);
  REQUIRE(stats.all.reserved_bytes.current == reserved);
  REQUIRE(stats.all.segment.current == static_cast<std::int64_t>(ends.size()));
  REQUIRE(stats.all.inactive_split.current == split);
  REQUIRE(stats.all.inactive_split_bytes.current == split_bytes);
}

/// One that wants to be asked for each request alone.
struct AloneUpstream : FailingUpstream {
  [[nodiscard]] static constexpr bool each_alone() { return true; }
};

} // namespace

TEST_CASE("an upstream that wants each request alone is asked for exactly its bytes", "[memory][MEM-1]") {
  AloneUpstream upstream;
  Pool<AloneUpstream> pool{"test", upstream};
  std::vector<Block*> blocks;
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{1}, std::size_t{513}, std::size_t{4096}, 5 * mib + 7}) {
    blocks.push_back(pool.allocate(bytes));
    REQUIRE(upstream.state->live.at(blocks.back()->address) == bytes);
    REQUIRE(blocks.back()->is_whole_segment());
  }
  REQUIRE(upstream.state->live.size() == blocks.size());
  REQUIRE(pool.current(Quantity::allocated_bytes) ==
          512 + 512 + 1024 + 4096 + 5 * static_cast<std::int64_t>(mib) + 512);
  REQUIRE(pool.current(Quantity::reserved_bytes) == pool.current(Quantity::allocated_bytes));
  require_consistent(pool, blocks.size());
  for (std::size_t left = blocks.size(); left > 0; --left) { // each goes back with its release
    pool.release(blocks[left - 1]);
    REQUIRE(upstream.state->live.size() == left - 1);
    require_consistent(pool, left - 1);
  }
  const std::size_t calls = upstream.state->calls;
  for (int i = 0; i < 10; ++i) pool.release(pool.allocate(100));
  REQUIRE(upstream.state->calls == calls + 10); // nothing is used again
  pool.limit().set(1024);
  Block* const held = pool.allocate(600);
  REQUIRE_THROWS_AS(pool.allocate(1), twill::OutOfMemoryError);
  pool.release(held);
  pool.release(pool.allocate(1));
  upstream.state->fail_at = upstream.state->calls + 1;
  REQUIRE_THROWS_AS(pool.allocate(1), twill::OutOfMemoryError); // nothing is cached that could make room
  pool.release(pool.allocate(1));
  REQUIRE(upstream.state->live.empty());
  REQUIRE(upstream.state->foreign_releases == 0);
}

TEST_CASE("a released block serves the next request without a call of upstream", "[memory][MEM-1]") {
  FailingUpstream upstream;
  TestPool pool{"test", upstream};
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{4096}, mib, 5 * mib, 64 * mib}) {
    pool.release(pool.allocate(bytes));
    const std::size_t calls = upstream.state->calls;
    for (int i = 0; i < 100; ++i) {
      Block* first = pool.allocate(bytes);
      Block* second = pool.allocate(1);
      pool.release(first);
      pool.release(second);
    }
    REQUIRE(upstream.state->calls == calls);
  }
}

TEST_CASE("the smallest block that fits is taken", "[memory][MEM-1]") {
  TestPool pool{"test"};
  std::vector<Block*> blocks;
  for (const std::size_t bytes : {8192, 512, 2048, 512, 4096, 512}) blocks.push_back(pool.allocate(bytes));
  const auto* wanted = blocks[2]->address;
  pool.release(blocks[0]);
  pool.release(blocks[2]);
  pool.release(blocks[4]);
  pool.release(pool.allocate(100)); // so that nothing waits to be merged
  Block* fitting = pool.allocate(1800);
  REQUIRE(fitting->address == wanted);
  for (Block* block : {blocks[1], blocks[3], blocks[5], fitting}) pool.release(block);
  require_consistent(pool, 0);
}

TEST_CASE("neighbours that are free merge into one block again", "[memory][MEM-1]") {
  TestPool pool{"test"};
  std::vector<Block*> blocks;
  for (int i = 0; i < 64; ++i) blocks.push_back(pool.allocate(32 * 1024)); // one segment exactly
  REQUIRE(pool.stats().all.segment.current == 1);
  std::mt19937 engine{3};
  std::shuffle(blocks.begin(), blocks.end(), engine);
  for (Block* block : blocks) pool.release(block);
  REQUIRE(pool.stats().all.inactive_split.current == 0);
  REQUIRE(pool.empty_cache() == 2 * mib);
}

TEST_CASE("random requests never overlap, keep their contents, and leave consistent books", "[memory][MEM-1]") {
  FailingUpstream upstream;
  {
    TestPool pool{"test", upstream};
    struct Live {
      Block* block;
      unsigned char mark;
    };
    std::vector<Live> live;
    std::mt19937 engine{2024};
    for (int i = 0; i < 6000; ++i) {
      if (live.empty() || engine() % 100 < 52) {
        const std::size_t magnitude = std::size_t{1} << (engine() % 23);
        const std::size_t bytes = 1 + magnitude + engine() % magnitude;
        Block* block = pool.allocate(bytes);
        REQUIRE(block->bytes >= bytes);
        REQUIRE(block->rounded == ReferenceSizes::round(bytes));
        REQUIRE(block->owners == 1U);
        const auto mark = static_cast<unsigned char>(engine());
        block->address[0] = block->address[bytes - 1] = static_cast<std::byte>(mark);
        std::memset(block->address, mark, std::min<std::size_t>(bytes, 600));
        live.push_back({block, mark});
      } else {
        std::swap(live[engine() % live.size()], live.back());
        const auto [block, mark] = live.back();
        REQUIRE(block->address[0] == static_cast<std::byte>(mark));
        REQUIRE(block->address[block->requested - 1] == static_cast<std::byte>(mark));
        pool.release(block);
        live.pop_back();
      }
      if (i % 500 == 0) require_consistent(pool, live.size());
      if (i % 1777 == 0) pool.empty_cache();
    }
    for (const Live& one : live) pool.release(one.block);
    require_consistent(pool, 0);
    pool.empty_cache();
    REQUIRE(pool.stats().all.reserved_bytes.current == 0);
    const MemoryStats stats = pool.stats();
    for (const ClassStats* one : {&stats.all, &stats.small, &stats.large}) {
      REQUIRE(one->allocated_bytes.allocated == one->allocated_bytes.freed);
      REQUIRE(one->reserved_bytes.allocated == one->reserved_bytes.freed);
      REQUIRE(one->allocation.peak > 0);
    }
    REQUIRE(stats.all.allocated_bytes.allocated ==
            stats.small.allocated_bytes.allocated + stats.large.allocated_bytes.allocated);
    REQUIRE(stats.all.allocated_bytes.peak <= stats.small.allocated_bytes.peak + stats.large.allocated_bytes.peak);
  }
  REQUIRE(upstream.state->live.empty());
  REQUIRE(upstream.state->foreign_releases == 0);
}

TEST_CASE("a pool returns everything that it cached when it dies", "[memory][MEM-1]") {
  FailingUpstream upstream;
  {
    TestPool pool{"test", upstream};
    pool.release(pool.allocate(1));
    pool.release(pool.allocate(30 * mib));
    REQUIRE(upstream.state->live_bytes == 32 * mib);
  }
  REQUIRE(upstream.state->live_bytes == 0);
}

TEST_CASE("peaks remember the largest value until they are reset", "[memory][MEM-2]") {
  TestPool pool{"test"};
  Block* small = pool.allocate(1000);
  Block* large = pool.allocate(3 * mib);
  pool.release(large);
  REQUIRE(pool.current(Quantity::allocated_bytes) == 1024);
  REQUIRE(pool.peak(Quantity::allocated_bytes) == 1024 + 3 * static_cast<std::int64_t>(mib));
  REQUIRE(pool.stats().all.requested_bytes.current == 1000);
  REQUIRE(pool.stats().large.allocation.peak == 1);
  pool.reset_peaks();
  REQUIRE(pool.peak(Quantity::allocated_bytes) == 1024);
  REQUIRE(pool.stats().large.allocation.peak == 0);
  REQUIRE(pool.stats().large.allocation.freed == 1);
  pool.release(small);
}

TEST_CASE("a large block with a small remainder is not split, and counts with it as active only", "[memory][MEM-2]") {
  TestPool pool{"test"};
  Block* block = pool.allocate(400'000'000);
  const MemoryStats stats = pool.stats();
  REQUIRE(stats.all.allocated_bytes.current == 400'000'000);
  REQUIRE(stats.all.active_bytes.current == 191 * 2 * static_cast<std::int64_t>(mib));
  REQUIRE(stats.all.reserved_bytes.current == 191 * 2 * static_cast<std::int64_t>(mib));
  pool.release(block);
}

TEST_CASE("sizes by power-of-two divisions let slightly different requests share blocks", "[memory][MEM-1]") {
  FailingUpstream upstream;
  Pool<FailingUpstream, PowerOfTwoDivisions<4>> pool{"test", upstream};
  pool.release(pool.allocate(33 * mib));
  const std::size_t calls = upstream.state->calls;
  for (std::size_t bytes = 32 * mib + 1; bytes < 40 * mib; bytes += mib / 3) pool.release(pool.allocate(bytes));
  REQUIRE(upstream.state->calls == calls);
  Block* block = pool.allocate(1200);
  REQUIRE(pool.current(Quantity::allocated_bytes) == 1280);
  pool.release(block);
  require_consistent(pool, 0);
}

TEST_CASE("policies can be named in any order, and each kind once", "[memory][MEM-1]") {
  // region: policies
  using Custom = Pool<FailingUpstream, Unlimited, SharedByMutex, PowerOfTwoDivisions<2>, Untracked, ImmediateStream>;
  // end region
  STATIC_REQUIRE(std::is_same_v<Custom::Threading, SharedByMutex>);
  STATIC_REQUIRE(std::is_same_v<Custom::Sizes, PowerOfTwoDivisions<2>>);
  STATIC_REQUIRE(std::is_same_v<Custom::Tracking, Untracked>);
  STATIC_REQUIRE(std::is_same_v<Custom::Limit, Unlimited>);
  STATIC_REQUIRE(std::is_same_v<TestPool::Sizes, ReferenceSizes>);
  Custom pool{"custom"};
  std::vector<Block*> blocks;
  for (std::size_t bytes = 1; bytes < 20 * mib; bytes = bytes * 5 / 2 + 1) blocks.push_back(pool.allocate(bytes));
  require_consistent(pool, blocks.size());
  for (Block* block : blocks) pool.release(block);
  require_consistent(pool, 0);
}
