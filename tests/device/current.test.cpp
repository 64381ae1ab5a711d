// SPDX-License-Identifier: Apache-2.0

#include "tests/device/four_devices.hpp"
#include "tests/support/late_device.hpp"

#include <stdexcept>
#include <thread>

using namespace twill;
using twill::test::Late;

TEMPLATE_TEST_CASE("a guard restores the previous device, also when its scope ends in an exception", "[device][DEV-1]",
                   Cpu, Meta, Late) {
  set_device(TestType{0});
  CHECK(current_device<TestType>() == TestType{0});
  {
    const DeviceGuard outer{TestType{2}};
    CHECK(current_device<TestType>() == TestType{2});
    try {
      const DeviceGuard inner{TestType{1}};
      CHECK(current_device<TestType>() == TestType{1});
      throw std::runtime_error("out");
    } catch (const std::runtime_error&) {
    }
    CHECK(current_device<TestType>() == TestType{2});
  }
  CHECK(current_device<TestType>() == TestType{0});
}

TEST_CASE("each thread and each kind has a current device of its own", "[device][DEV-1]") {
  const DeviceGuard guard{Cpu{3}};
  CHECK(current_device<Meta>() == Meta{0});
  CHECK(current_device<Late>() == Late{0});
  Cpu elsewhere{-1};
  std::thread{[&] { elsewhere = current_device<Cpu>(); }}.join();
  CHECK(elsewhere == Cpu{0});
}

TEST_CASE("a device that does not exist cannot become the current one", "[device][DEV-1]") {
  const DeviceGuard guard{Cpu{1}};
  CHECK_THROWS_WITH(set_device(Cpu{17}), "set_device: there is no cpu:17; this process has cpu:0 to cpu:3; "
                                         "configure_host before the first use makes more");
  CHECK_THROWS_AS((DeviceGuard{Cpu{-1}}), DeviceError);
  CHECK(current_device<Cpu>() == Cpu{1});
}

TEMPLATE_TEST_CASE("a submitted task has its device as the current one", "[device][DEV-1]", Cpu, Meta, Late) {
  for (int index = 0; index < 3; ++index)
    CHECK(submit(TestType{index}, [] { return current_device<TestType>(); }).wait() == TestType{index});
  CHECK(current_device<TestType>() == TestType{0});
}
