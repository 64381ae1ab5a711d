// SPDX-License-Identifier: Apache-2.0
#include <twill/memory/size_classes.hpp>

#include <catch2/catch.hpp>

#include <cstddef>

using namespace twill::memory;

namespace {
constexpr std::size_t kib = 1024;
constexpr std::size_t mib = 1024 * kib;
} // namespace

static_assert(SizePolicy<ReferenceSizes> && SizePolicy<PowerOfTwoDivisions<4>>);

TEST_CASE("requests round up to 512 bytes", "[memory][MEM-1]") {
  STATIC_REQUIRE(ReferenceSizes::round(1) == 512);
  STATIC_REQUIRE(ReferenceSizes::round(512) == 512);
  STATIC_REQUIRE(ReferenceSizes::round(513) == 1024);
  STATIC_REQUIRE(ReferenceSizes::round(1200) == 1536);
  STATIC_REQUIRE(ReferenceSizes::round(400'000'000) == 400'000'000);
}

TEST_CASE("small, medium and large requests come from segments of 2 MiB, 20 MiB and their own", "[memory][MEM-1]") {
  STATIC_REQUIRE(ReferenceSizes::segment_bytes(512) == 2 * mib);
  STATIC_REQUIRE(ReferenceSizes::segment_bytes(mib) == 2 * mib);
  STATIC_REQUIRE(ReferenceSizes::segment_bytes(mib + 512) == 20 * mib);
  STATIC_REQUIRE(ReferenceSizes::segment_bytes(10 * mib - 512) == 20 * mib);
  STATIC_REQUIRE(ReferenceSizes::segment_bytes(10 * mib) == 10 * mib);
  STATIC_REQUIRE(ReferenceSizes::segment_bytes(11 * mib) == 12 * mib);
}

TEST_CASE("power-of-two divisions round a request to a step between two powers", "[memory][MEM-1]") {
  STATIC_REQUIRE(PowerOfTwoDivisions<4>::round(1200) == 1280);
  STATIC_REQUIRE(PowerOfTwoDivisions<4>::round(1024) == 1024);
  STATIC_REQUIRE(PowerOfTwoDivisions<4>::round(1025) == 1280);
  STATIC_REQUIRE(PowerOfTwoDivisions<4>::round(1793) == 2048);
  STATIC_REQUIRE(PowerOfTwoDivisions<4>::round(1) == 512);
  STATIC_REQUIRE(PowerOfTwoDivisions<8>::round(9 * mib + 1) == 10 * mib);
  STATIC_REQUIRE(PowerOfTwoDivisions<1>::round(3 * mib) == 4 * mib);
  for (std::size_t bytes = 1; bytes < 100'000; bytes += 37) {
    REQUIRE(PowerOfTwoDivisions<4>::round(bytes) >= bytes);
    REQUIRE(PowerOfTwoDivisions<4>::round(bytes) % PowerOfTwoDivisions<4>::granularity == 0);
    REQUIRE((bytes < 512 || PowerOfTwoDivisions<4>::round(bytes) <= bytes + bytes / 4));
  }
}
