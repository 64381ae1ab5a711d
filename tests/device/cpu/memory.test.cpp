// SPDX-License-Identifier: Apache-2.0

#include "tests/device/four_devices.hpp"

#include <cstdint>
#include <cstring>
#include <limits>
#include <new>

using namespace twill;

TEST_CASE("host memory is aligned for vectors, and for huge pages when large", "[device][cpu][DEV-8]") {
  Cpu::Upstream source{Cpu{1}};
  for (const std::size_t bytes :
       {std::size_t{0}, std::size_t{1}, std::size_t{4097}, std::size_t{2} << 20, (std::size_t{5} << 20) + 3}) {
    void* const memory = source.allocate(bytes);
    REQUIRE(memory != nullptr);
    const auto alignment = bytes >= (std::size_t{2} << 20) ? std::size_t{2} << 20 : std::size_t{64};
    CHECK(reinterpret_cast<std::uintptr_t>(memory) % alignment == 0);
    std::memset(memory, 1, bytes);
    source.release(memory, bytes);
  }
}

TEST_CASE("host memory that does not exist is a bad_alloc", "[device][cpu]") {
  Cpu::Upstream source{Cpu{0}};
  CHECK_THROWS_AS(source.allocate(std::numeric_limits<std::size_t>::max() - 5), std::bad_alloc);
}

TEST_CASE("the host knows how much memory it has", "[device][cpu]") {
  const Cpu::Upstream source{Cpu{0}};
  CHECK(source.total_bytes() > (std::size_t{64} << 20));
  CHECK(source.free_bytes() > 0);
  CHECK(source.free_bytes() <= source.total_bytes());
}
