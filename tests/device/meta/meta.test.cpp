// SPDX-License-Identifier: Apache-2.0

#include "tests/device/four_devices.hpp"

#include <new>
#include <stdexcept>

using namespace twill;

TEST_CASE("meta hands out addresses that never overlap", "[device][meta]") {
  Meta::Upstream source{Meta{}};
  auto* const first = static_cast<char*>(source.allocate(3'000'000));
  auto* const second = static_cast<char*>(source.allocate(1));
  auto* const third = static_cast<char*>(source.allocate(0));
  CHECK(second >= first + 3'000'000);
  CHECK(third > second);
  source.release(first, 3'000'000);
  CHECK_THROWS_AS(source.allocate(source.total_bytes() + 1), std::bad_alloc);
}

TEST_CASE("nothing runs on meta, but host code submitted to it does", "[device][meta]") {
  int runs = 0;
  launch(Meta{}, [&](const Team&) { ++runs; });
  CHECK(runs == 0);
  auto pending = submit(Meta{3}, [&] { return ++runs; });
  CHECK(pending.is_complete());
  CHECK(pending.wait() == 1);
  CHECK_THROWS_AS(submit(Meta{}, [] { throw std::logic_error("host code"); }).wait(), std::logic_error);
  synchronize(Meta{});
  CHECK(record(Meta{}).is_complete());
}

TEST_CASE("copies into meta vanish, and copies out of it are refused", "[device][meta][DEV-8]") {
  float value = 1;
  Meta::Upstream source{Meta{}};
  void* const nowhere = source.allocate(sizeof(value));
  copy_bytes(Meta{}, nowhere, Cpu{0}, &value, sizeof(value));
  copy_bytes(Meta{1}, nowhere, Meta{0}, nowhere, sizeof(value));
  CHECK_THROWS_WITH(copy_bytes(Cpu{1}, &value, Meta{0}, nowhere, sizeof(value)),
                    "copy_bytes: 4 bytes from meta:0 to cpu:1, but a meta device has no memory; run on a device that "
                    "has");
  CHECK(value == 1.0f);
}
