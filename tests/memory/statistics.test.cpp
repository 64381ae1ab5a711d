// SPDX-License-Identifier: Apache-2.0
#include <twill/device/device.hpp>
#include <twill/memory/buffer.hpp>
#include <twill/memory/statistics.hpp>
#include <twill/memory/summary.hpp>

#include <catch2/catch.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

using namespace twill;
using memory::Buffer;

namespace {

constexpr std::int64_t mib = std::int64_t{1} << 20;

/// A scalar float of a device, as far as memory is concerned.
template <class D> Buffer<D> scalar(const D& device) { return Buffer<D>(device, sizeof(float)); }

/// The first device of a kind, with nothing cached.
template <class D> D fresh_device() {
  const D device{};
  empty_cache(device);
  reset_peak_memory_stats(device);
  return device;
}

} // namespace

TEMPLATE_TEST_CASE("three scalars in turn count 512, 1024 and 1536 bytes", "[memory][MEM-3]", Cpu, Meta) {
  const auto device = fresh_device<TestType>();
  const std::int64_t before = memory_allocated(device); // of objects with static storage duration
  std::vector<std::int64_t> seen{memory_allocated(device) - before};
  const auto first = scalar(device);
  seen.push_back(memory_allocated(device) - before);
  const auto second = scalar(device);
  seen.push_back(memory_allocated(device) - before);
  const auto third = scalar(device);
  seen.push_back(memory_allocated(device) - before);
  REQUIRE(seen == std::vector<std::int64_t>{0, 512, 1024, 1536});
}

TEST_CASE("one scalar reserves a segment of 2 MiB, and empty_cache gives it back when the scalar is gone",
          "[memory][MEM-3]") {
  const Meta device{3};
  REQUIRE(memory_reserved(device) == 0);
  auto one = scalar(device);
  REQUIRE(memory_allocated(device) == 512);
  REQUIRE(memory_reserved(device) == 2 * mib);
  REQUIRE(empty_cache(device) == 0);
  REQUIRE(memory_reserved(device) == 2 * mib);
  one.reset();
  REQUIRE(memory_allocated(device) == 0);
  REQUIRE(memory_reserved(device) == 2 * mib);
  REQUIRE(empty_cache(device) == 2 * mib);
  REQUIRE(memory_reserved(device) == 0);
  REQUIRE(max_memory_allocated(device) == 512);
  REQUIRE(max_memory_reserved(device) == 2 * mib);
}

namespace {
// Ten tensors of `rows` x 10 floats: utilisation rises, stays when they are gone, and falls back after empty_cache.
template <class D> void ten_tensors(const D& device, std::size_t rows) {
  const auto bytes = static_cast<std::int64_t>(rows * 10 * sizeof(float));
  empty_cache(device);
  const std::int64_t allocated = memory_allocated(device);
  const std::int64_t reserved = memory_reserved(device);
  {
    std::vector<Buffer<D>> tensors;
    for (std::int64_t i = 1; i <= 10; ++i) {
      tensors.emplace_back(device, static_cast<std::size_t>(bytes));
      REQUIRE(memory_allocated(device) == allocated + i * ((bytes + 511) / 512 * 512));
    }
    REQUIRE(memory_reserved(device) >= reserved + 10 * bytes);
  }
  REQUIRE(memory_allocated(device) == allocated);
  REQUIRE(memory_reserved(device) >= reserved + 10 * bytes);
  empty_cache(device);
  REQUIRE(memory_reserved(device) == reserved);
  REQUIRE(max_memory_allocated(device) >= allocated + 10 * bytes);
}
} // namespace

TEST_CASE("ten large tensors stay cached until empty_cache", "[memory][MEM-3]") {
  ten_tensors(Meta{0}, 10'000'000);
  ten_tensors(Cpu{0}, 128'000);
}

TEST_CASE("the limit of a device can be set and lifted", "[memory][MEM-2][MEM-6]") {
  const Meta device{4};
  set_memory_limit(device, 10 * static_cast<std::size_t>(mib));
  REQUIRE_THROWS_AS(Buffer<Meta>(device, 11 * static_cast<std::size_t>(mib)), OutOfMemoryError);
  set_memory_limit(device, memory::no_limit);
  const Buffer<Meta> fits(device, 11 * static_cast<std::size_t>(mib));
  REQUIRE(memory_stats(device).out_of_memory == 1);
}

TEST_CASE("Meta refuses what is larger than its imagined memory", "[memory][MEM-6]") {
  REQUIRE_THROWS_WITH(Buffer<Meta>(Meta{0}, std::size_t{1} << 51), Catch::Contains("meta:0 has no room"));
}

TEMPLATE_TEST_CASE("the whole device's memory is what is used and what is free", "[memory][MEM-2]", Cpu, Meta) {
  const DeviceMemory whole = device_memory(TestType{});
  REQUIRE(whole.total > 0);
  REQUIRE(whole.used + whole.free == whole.total);
}

TEST_CASE("the summary is a table of every quantity", "[memory][MEM-2]") {
  const Meta device{5};
  const Buffer<Meta> small(device, 1000);
  std::optional<Buffer<Meta>> large{std::in_place, device, 3 * static_cast<std::size_t>(mib)};
  large.reset();
  const std::string table = memory_summary(device);
  for (const char* line : {
           "memory of meta:5: 0 B used, 1024.00 TiB free of 1024.00 TiB; out of memory 0 times, 0 retries",
           "|                         |    current |       peak |  allocated |      freed |",
           "| allocated memory        |   1.00 KiB |   3.00 MiB |   3.00 MiB |   3.00 MiB |",
           "|   from the small pool   |   1.00 KiB |   1.00 KiB |   1.00 KiB |        0 B |",
           "| reserved memory         |  22.00 MiB |  22.00 MiB |  22.00 MiB |        0 B |",
           "| allocations             |          1 |          2 |          2 |          1 |",
           "free: 22.00 MiB in 2 blocks, the largest of 20.00 MiB; empty_cache would return 20.00 MiB",
           "external fragmentation: 9.1% of the free bytes are outside of the largest free block, 0.0% in blocks too "
           "small for another request of 1000 B, the largest now",
           "internal fragmentation: 2.3% of the used bytes were not requested (24 B of 1.00 KiB)",
       }) {
    INFO(table);
    REQUIRE_THAT(table, Catch::Contains(line));
  }
}

TEST_CASE("bytes print with the unit that suits them", "[memory]") {
  REQUIRE(memory::format_bytes(0) == "0 B");
  REQUIRE(memory::format_bytes(1023) == "1023 B");
  REQUIRE(memory::format_bytes(1536) == "1.50 KiB");
  REQUIRE(memory::format_bytes(5 * mib) == "5.00 MiB");
  REQUIRE(memory::format_bytes(-2048) == "-2.00 KiB");
}
