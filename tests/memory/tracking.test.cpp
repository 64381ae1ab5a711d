// SPDX-License-Identifier: Apache-2.0
#include <twill/memory/snapshot.hpp>

#include <tests/support/failing_upstream.hpp>

#include <catch2/catch.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

using namespace twill::memory;
using twill_tests::FailingUpstream;

namespace {
constexpr std::size_t mib = std::size_t{1} << 20;
} // namespace

TEST_CASE("an observer hears of every event, in order and with its place", "[memory][MEM-1]") {
  FailingUpstream upstream;
  upstream.state->capacity = 8 * mib;
  Pool<FailingUpstream> pool{"test", upstream};
  MemoryHistory history{100};
  pool.release(pool.allocate(1)); // nobody listens yet
  pool.empty_cache();
  REQUIRE(pool.tracking().set_observer(&history) == nullptr);
  Block* block = nullptr;
  {
    Place outer{"outer"};
    {
      Place inner{"layer1"};
      block = pool.allocate(700);
    }
    REQUIRE_THROWS(pool.allocate(50 * mib));
  }
  pool.release(block);
  pool.empty_cache();
  REQUIRE(pool.tracking().set_observer(nullptr) == &history);
  pool.release(pool.allocate(1));

  using enum MemoryEventKind;
  const std::vector<MemoryEvent> events = history.events();
  REQUIRE(events.size() == 6);
  REQUIRE(events[0].kind == reserve_segment);
  REQUIRE(events[0].bytes == 2 * mib);
  REQUIRE(events[1].kind == allocate);
  REQUIRE(events[1].bytes == 1024);
  REQUIRE(events[1].requested == 700);
  REQUIRE_THAT(events[1].place, Catch::Matches("outer/layer1 \\(tracking.test.cpp:[0-9]+\\)"));
  REQUIRE(events[2].kind == retry);
  REQUIRE(events[3].kind == out_of_memory);
  REQUIRE(events[3].requested == 50 * mib);
  REQUIRE_THAT(events[3].place, Catch::StartsWith("outer (tracking.test.cpp:"));
  REQUIRE(events[4].kind == release);
  REQUIRE(events[4].address == events[1].address);
  REQUIRE(events[5].kind == return_segment);
  REQUIRE(name(events[5].kind) == "return_segment");
  for (std::size_t i = 1; i < events.size(); ++i) REQUIRE(events[i - 1].sequence < events[i].sequence);
}

TEST_CASE("a place with a very long name is cut at whole characters of UTF-8", "[memory][MEM-7]") {
  const auto is_begin = [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; };
  std::string accents;
  for (int i = 0; i < 300; ++i) accents += "\xC3\xA9";
  for (const std::string& name : {accents, accents + "x", accents + "\xE2\x82\xAC", std::string(511, 'x')}) {
    const Place outer{"outer"};
    const Place place{name};
    const std::string text = Place::current();
    REQUIRE(text.size() >= 505);
    REQUIRE(text.size() <= 511);
    REQUIRE(is_begin(text[0]));
    REQUIRE(text.find(name.substr(name.size() - 6) + " (tracking.test.cpp:") != std::string::npos);
    REQUIRE(text.find("outer") == std::string::npos);
  }
}

TEST_CASE("a history keeps the latest events and says how many it dropped", "[memory]") {
  Pool<FailingUpstream> pool{"test"};
  MemoryHistory history{3};
  pool.tracking().set_observer(&history);
  for (int i = 0; i < 4; ++i) pool.release(pool.allocate(1)); // and one segment
  pool.tracking().set_observer(nullptr);
  REQUIRE(history.dropped() == 6);
  REQUIRE(history.events().size() == 3);
  REQUIRE(history.events().back().kind == MemoryEventKind::release);
}

TEST_CASE("a history puts events of several threads in order, however late one arrives", "[memory]") {
  MemoryHistory history{4};
  for (const std::uint64_t sequence : {2, 1, 6, 4, 7, 5, 3}) {
    MemoryEvent event{};
    event.sequence = sequence;
    history.on_memory_event(event);
  }
  std::vector<std::uint64_t> kept;
  for (const MemoryEvent& event : history.events()) kept.push_back(event.sequence);
  REQUIRE(kept == std::vector<std::uint64_t>{3, 4, 5, 7});
  REQUIRE(history.dropped() == 3);
  REQUIRE(MemoryHistory{0}.events().empty());
}

TEST_CASE("a snapshot lists segments by address, each once with all its blocks", "[memory]") {
  Pool<FailingUpstream> pool{"test"};
  std::vector<Block*> blocks;
  for (int i = 0; i < 6; ++i) {
    blocks.push_back(pool.allocate(3 * mib)); // several to a segment
    blocks.push_back(pool.allocate(1000));
    blocks.push_back(pool.allocate(static_cast<std::size_t>(30 - i) * mib));
  }
  const std::vector<SegmentSnapshot> segments = snapshot(pool);
  std::size_t in_use = 0;
  for (std::size_t s = 0; s < segments.size(); ++s) {
    if (s > 0) REQUIRE(segments[s - 1].address < segments[s].address);
    const std::byte* end = segments[s].address;
    for (const BlockSnapshot& block : segments[s].blocks) {
      REQUIRE(block.address == end);
      end += block.bytes;
      in_use += block.in_use ? 1 : 0;
    }
    REQUIRE(end == segments[s].address + segments[s].bytes);
  }
  REQUIRE(in_use == blocks.size());
  for (Block* block : blocks) pool.release(block);
}

TEST_CASE("a snapshot shows the segments and who made what is in use", "[memory][MEM-1]") {
  Pool<FailingUpstream> pool{"test"};
  MemoryHistory history{10};
  pool.tracking().set_observer(&history);
  Block* first = nullptr;
  {
    Place scope{"weights"};
    first = pool.allocate(1000);
  }
  Block* second = pool.allocate(5 * mib);
  pool.tracking().set_observer(nullptr);
  const std::vector<SegmentSnapshot> segments = snapshot(pool);
  REQUIRE(segments.size() == 2);
  const SegmentSnapshot& small = segments[0].small ? segments[0] : segments[1];
  const SegmentSnapshot& large = segments[0].small ? segments[1] : segments[0];
  REQUIRE(small.bytes == 2 * mib);
  REQUIRE(small.blocks.size() == 2);
  REQUIRE(small.blocks[0].in_use);
  REQUIRE(small.blocks[0].address == first->address);
  REQUIRE(small.blocks[0].requested == 1000);
  REQUIRE_THAT(small.blocks[0].place, Catch::StartsWith("weights (tracking.test.cpp:"));
  REQUIRE(!small.blocks[1].in_use);
  REQUIRE(small.blocks[1].bytes == 2 * mib - 1024);
  REQUIRE(large.bytes == 20 * mib);
  REQUIRE(large.blocks.size() == 2);
  REQUIRE(large.blocks[0].place == nullptr);
  std::vector<Block*> many;
  for (int i = 0; i < 200; ++i) many.push_back(pool.allocate(512)); // more than the first guess holds
  std::size_t blocks = 0;
  for (const SegmentSnapshot& segment : snapshot(pool)) blocks += segment.blocks.size();
  REQUIRE(blocks == 204);
  for (Block* block : many) pool.release(block);
  pool.release(first);
  pool.release(second);
}
