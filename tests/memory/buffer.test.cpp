// SPDX-License-Identifier: Apache-2.0
#include <twill/device/device.hpp>
#include <twill/memory/buffer.hpp>
#include <twill/memory/statistics.hpp>

#include <catch2/catch.hpp>

#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>

using namespace twill;
using memory::Buffer;

TEMPLATE_TEST_CASE("copies of a buffer share its block, and the last one returns it", "[memory][MEM-4]", Cpu, Meta) {
  const TestType device{};
  const std::int64_t before = memory_allocated(device);
  Buffer<TestType> first(device, 1000);
  REQUIRE(memory_allocated(device) == before + 1024);
  REQUIRE(first.bytes() == 1000);
  REQUIRE(first.use_count() == 1);
  REQUIRE(first.data() != nullptr);
  REQUIRE(first.device() == device);
  {
    const Buffer<TestType> second = first;
    REQUIRE(second.data() == first.data());
    REQUIRE(second.shares_with(first));
    REQUIRE(first.use_count() == 2);
    Buffer<TestType> third;
    third = second;
    REQUIRE(first.use_count() == 3);
    third = Buffer<TestType>(device, 1);
    REQUIRE(first.use_count() == 2);
    REQUIRE(!third.shares_with(first));
    first.reset();
    REQUIRE(memory_allocated(device) == before + 1536);
  }
  REQUIRE(memory_allocated(device) == before);
}

TEMPLATE_TEST_CASE("a moved buffer leaves nothing behind", "[memory][MEM-4]", Cpu, Meta) {
  const TestType device{};
  const std::int64_t before = memory_allocated(device);
  Buffer<TestType> first(device, 100);
  void* data = first.data();
  Buffer<TestType> second = std::move(first);
  REQUIRE(second.data() == data);
  REQUIRE(second.use_count() == 1);
  REQUIRE(!first);
  first = std::move(second);
  REQUIRE(first.data() == data);
  Buffer<TestType>& alias = first;
  first = alias;
  first = std::move(alias);
  REQUIRE(first.data() == data);
  REQUIRE(first.use_count() == 1);
  first.reset();
  first.reset();
  REQUIRE(memory_allocated(device) == before);
}

TEMPLATE_TEST_CASE("zero bytes need no block", "[memory]", Cpu, Meta) {
  const TestType device{};
  const std::int64_t before = memory_allocated(device);
  const Buffer<TestType> empty(device, 0);
  const Buffer<TestType> none;
  const Buffer<TestType> copy = empty;
  REQUIRE(empty.data() == nullptr);
  REQUIRE(copy.bytes() == 0);
  REQUIRE(none.use_count() == 0);
  REQUIRE(!empty.shares_with(copy));
  REQUIRE(memory_allocated(device) == before);
}

TEST_CASE("each device has a pool of its own, and a device that does not exist has none", "[memory][DEV-4]") {
  const std::int64_t first = memory_allocated(Meta{0});
  const std::int64_t second = memory_allocated(Meta{1});
  const Buffer<Meta> buffer(Meta{1}, 5000);
  REQUIRE(memory_allocated(Meta{0}) == first);
  REQUIRE(memory_allocated(Meta{1}) == second + 5120);
  REQUIRE(&memory::pool(Meta{0}) != &memory::pool(Meta{1}));
  REQUIRE(&memory::pool(Meta{1}) == &memory::pool(Meta{1}));
  REQUIRE_THROWS_WITH(Buffer<Cpu>(Cpu{-1}, 1), Catch::Contains("there is no cpu:-1"));
  REQUIRE_THROWS_AS(memory_allocated(Cpu{1'000'000}), DeviceError);
}

TEST_CASE("host memory can be written from end to end and is aligned for vectors", "[memory]") {
  std::vector<Buffer<Cpu>> buffers;
  for (std::size_t bytes = 1; bytes < 10'000'000; bytes = bytes * 3 + 1) {
    buffers.emplace_back(Cpu{0}, bytes);
    REQUIRE(reinterpret_cast<std::uintptr_t>(buffers.back().data()) % 64 == 0);
    std::memset(buffers.back().data(), 0x5a, bytes);
  }
}

namespace {
// Lives longer than anything with a destructor could: the pool is never destroyed.
Buffer<Cpu> global_buffer(Cpu{0}, 4096);
} // namespace

TEST_CASE("a buffer with static storage duration works before main and after", "[memory]") {
  REQUIRE(global_buffer.data() != nullptr);
  std::memset(global_buffer.data(), 1, global_buffer.bytes());
}
