// SPDX-License-Identifier: Apache-2.0

#include "tests/device/four_devices.hpp"
#include "tests/support/late_device.hpp"

#include <type_traits>

using namespace twill;
using twill::test::Late;

namespace {

static_assert(Device<Cpu> && Device<Meta> && Device<Late>);
static_assert(HostDevice<Cpu> && HostDevice<Meta> && HostDevice<Late>);
static_assert(!Device<int> && !HostDevice<int> && !DeviceName<int>);
static_assert(MemorySource<Cpu::Upstream> && MemorySource<Meta::Upstream> && MemorySource<Late::Upstream>);
static_assert(!MemorySource<std::allocator<char>>);
static_assert(DeviceEvent<event_t<Cpu>> && DeviceEvent<event_t<Meta>> && DeviceEvent<event_t<Late>> &&
              !DeviceEvent<int>);

// A name alone is no device: it has no memory, no stream, no copies.
struct NameOnly {
  int index = 0;
  static constexpr std::string_view kind = "name only";
  static constexpr bool has_memory = false;
  static int count() { return 0; }
  friend constexpr bool operator==(NameOnly, NameOnly) = default;
};
static_assert(NameOnly{1} != NameOnly{2});
static_assert(DeviceName<NameOnly> && !Device<NameOnly> && !HostDevice<NameOnly>);

// Kinds are types and ordinals are values: a device is as cheap as an int.
static_assert(!std::is_same_v<Cpu, Meta> && sizeof(Cpu) == sizeof(int) && std::is_trivially_copyable_v<Cpu>);
static_assert(Cpu{1} != Cpu{0} && Cpu{} == Cpu{0});

} // namespace

TEST_CASE("a device prints as its kind and ordinal", "[device][DEV-1]") {
  CHECK(to_string(Cpu{0}) == "cpu:0");
  CHECK(to_string(Cpu{3}) == "cpu:3");
  CHECK(to_string(Meta{}) == "meta:0");
  CHECK(device_name(Cpu{0}).find("core") != std::string::npos);
  CHECK(!device_name(Meta{}).empty());
}

TEST_CASE("devices are counted, and one that does not exist is refused by name", "[device][DEV-1]") {
  CHECK(device_count<Cpu>() == 4);
  CHECK(is_available<Cpu>());
  CHECK(is_available<Meta>());
  CHECK(!is_available<NameOnly>());
  CHECK(is_available(Cpu{3}));
  CHECK(!is_available(Cpu{4}));
  CHECK(!is_available(Cpu{-1}));
  const auto refused = test::message_of<DeviceError>([] { launch(Cpu{4}, [](const Team&) {}); });
  CHECK(refused == "device: there is no cpu:4; this process has cpu:0 to cpu:3; configure_host before the first use "
                   "makes more");
  CHECK_THROWS_AS(submit(Cpu{-1}, [] {}), DeviceError);
  CHECK_THROWS_AS(launch(Cpu{1 << 30}, [](const Team&) {}), DeviceError);
  CHECK_THROWS_AS(device_name(Cpu{4}), DeviceError);
  CHECK_THROWS_AS(launch(Meta{-1}, [](const Team&) {}), DeviceError);
  CHECK_THROWS_WITH(generator(NameOnly{}), "generator: there is no name only:0; this process has no name only devices");
}

TEST_CASE("operands of different ordinals are refused with both names", "[device][DEV-4]") {
  CHECK_NOTHROW(require_same_device("add", Cpu{1}, Cpu{1}));
  CHECK_THROWS_WITH(require_same_device("add", Cpu{0}, Cpu{1}),
                    "add: the operands are on cpu:0 and cpu:1; move one of them with to(device)");
}
