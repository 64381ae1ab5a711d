// SPDX-License-Identifier: Apache-2.0
#include <twill/core/error.hpp>
#include <twill/memory/offsets.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

using namespace twill::memory;

namespace {

constexpr std::array<Lifetime, 5> reference{{{16, 0, 1}, {8, 1, 2}, {64, 2, 3}, {32, 3, 4}, {8, 4, 5}}};

/// The most bytes that one step needs: no plan can have a smaller arena.
std::int64_t largest_live_bytes(std::span<const Lifetime> buffers, std::int64_t alignment) {
  std::int64_t largest = 0;
  for (const Lifetime& begun : buffers) {
    std::int64_t live = 0;
    for (const Lifetime& buffer : buffers)
      if (buffer.first_use <= begun.first_use && begun.first_use <= buffer.last_use)
        live += (buffer.bytes + alignment - 1) / alignment * alignment;
    largest = std::max(largest, live);
  }
  return largest;
}

void require_valid(const std::vector<Lifetime>& buffers, std::int64_t alignment) {
  const OffsetPlan plan = plan_offsets(buffers, alignment);
  REQUIRE(plan.offsets.size() == buffers.size());
  std::int64_t end = 0;
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    REQUIRE(plan.offsets[i] >= 0);
    REQUIRE(plan.offsets[i] % alignment == 0);
    if (buffers[i].bytes > 0) end = std::max(end, plan.offsets[i] + buffers[i].bytes);
    for (std::size_t j = 0; j < i; ++j) {
      const bool together = buffers[i].first_use <= buffers[j].last_use && buffers[j].first_use <= buffers[i].last_use;
      if (!together || buffers[i].bytes == 0 || buffers[j].bytes == 0) continue;
      const bool apart = plan.offsets[i] + buffers[i].bytes <= plan.offsets[j] ||
                         plan.offsets[j] + buffers[j].bytes <= plan.offsets[i];
      REQUIRE(apart);
    }
  }
  REQUIRE(plan.total_bytes >= end);
  REQUIRE(plan.total_bytes < end + alignment);
  REQUIRE(plan.total_bytes >= largest_live_bytes(buffers, alignment));
}

} // namespace

TEST_CASE("the reference case gets its published offsets, at compile time", "[memory][MEM-9]") {
  STATIC_REQUIRE(plan_offsets(reference).offsets == std::vector<std::int64_t>{0, 64, 0, 64, 0});
  STATIC_REQUIRE(plan_offsets(reference).total_bytes == 96);
  REQUIRE(largest_live_bytes(reference, 1) == 96);
}

TEST_CASE("no buffers, empty buffers and one buffer are planned", "[memory][MEM-9]") {
  REQUIRE(plan_offsets({}).total_bytes == 0);
  const std::vector<Lifetime> buffers{{0, 0, 9}, {100, 3, 3}};
  REQUIRE(plan_offsets(buffers).total_bytes == 100);
  REQUIRE(plan_offsets(buffers, 64).total_bytes == 128);
}

TEST_CASE("buffers that live at the same time never overlap, whatever the input", "[memory][MEM-9]") {
  std::mt19937 engine{5};
  for (int round = 0; round < 300; ++round) {
    const int count = static_cast<int>(engine() % 60);
    const int steps = 1 + static_cast<int>(engine() % 50);
    std::vector<Lifetime> buffers;
    for (int i = 0; i < count; ++i) {
      const int first = static_cast<int>(engine() % static_cast<unsigned>(steps));
      const auto bytes = static_cast<std::int64_t>(engine() % 4 == 0 ? engine() % 8 : engine() % 5000);
      buffers.push_back({bytes, first, first + static_cast<int>(engine() % 20)});
    }
    require_valid(buffers, 1);
    require_valid(buffers, 64);
  }
}

TEST_CASE("buffers at steps below zero are planned too", "[memory][MEM-9]") {
  std::mt19937 random{7};
  for (int repetition = 0; repetition < 200; ++repetition) {
    std::vector<Lifetime> buffers(random() % 12);
    for (Lifetime& buffer : buffers) {
      buffer.first_use = static_cast<int>(random() % 21) - 10;
      buffer.last_use = buffer.first_use + static_cast<int>(random() % 6);
      buffer.bytes = static_cast<std::int64_t>(random() % 100);
    }
    require_valid(buffers, 8);
  }
}

TEST_CASE("a chain in which only neighbours meet needs no more than its largest pair", "[memory][MEM-9]") {
  std::vector<Lifetime> chain;
  for (int i = 0; i < 100; ++i) chain.push_back({1000, i, i + 1});
  REQUIRE(plan_offsets(chain).total_bytes == 2000);
}

TEST_CASE("a plan refuses sizes and lifetimes that make no sense", "[memory]") {
  const auto refuses = [](Lifetime lifetime) {
    const std::vector<Lifetime> buffers{lifetime};
    REQUIRE_THROWS_AS(plan_offsets(buffers), twill::ValueError);
  };
  refuses({-1, 0, 1});
  refuses({1, 2, 1});
  refuses({std::int64_t{1} << 62, 0, 1});
  REQUIRE_THROWS_AS(plan_offsets({}, 0), twill::ValueError);
}
