// SPDX-License-Identifier: Apache-2.0

#include "tests/device/four_devices.hpp"
#include "tests/support/late_device.hpp"

using namespace twill;
using twill::test::Late;

namespace {
constexpr auto name_of = [](auto device) { return to_string(device); };
}

TEST_CASE("a device is named at run time", "[device][DEV-1]") {
  CHECK(with_device("cpu:0", name_of) == "cpu:0");
  CHECK(with_device("cpu:3", name_of) == "cpu:3");
  CHECK(with_device("meta", name_of) == "meta:0");
  CHECK(with_device("meta:5", name_of) == "meta:5");
}

TEST_CASE("a kind alone names its current device", "[device][DEV-1]") {
  CHECK(with_device("cpu", name_of) == "cpu:0");
  const DeviceGuard guard{Cpu{2}};
  CHECK(with_device("cpu", name_of) == "cpu:2");
}

TEST_CASE("a name that is no device gets a sentence", "[device][DEV-1]") {
  CHECK_THROWS_WITH(with_device("gpu", name_of),
                    "with_device: \"gpu\" is not a device; the kinds are \"cpu\", \"meta\", "
                    "each with an optional ordinal, as in \"cpu:1\"");
  for (const auto* unknown : {"", "cpus", "CPU", "cp", " cpu", "cudax"}) {
    INFO(unknown);
    CHECK_THROWS_AS(with_device(unknown, name_of), DeviceError);
  }
  for (const auto* cuda : {"cuda", "cuda:1"}) {
    const auto refused = test::message_of<DeviceError>([&] { with_device(cuda, name_of); });
    CHECK(refused.find("include <twill/cuda.cuh>") != std::string::npos);
    CHECK(refused.find(cuda) != std::string::npos);
  }
  CHECK_THROWS_WITH(with_device("cpu:x", name_of),
                    "with_device: \"cpu:x\" is not a device; write \"cpu\" or \"cpu:0\"");
  for (const auto* bad : {"cpu:", "cpu:-1", "cpu:1x", "cpu: 1", "cpu:+1"}) {
    INFO(bad);
    CHECK_THROWS_AS(with_device(bad, name_of), ValueError);
  }
  for (const auto* missing : {"cpu:4", "cpu:99999999999999999999"}) {
    INFO(missing);
    CHECK_THROWS_AS(with_device(missing, name_of), DeviceError);
  }
}

TEST_CASE("the visitor's results pass through, references included", "[device][DEV-1]") {
  int counter = 0;
  with_device("cpu:1", [&](auto device) -> int& { return counter += device.index; }) += 10;
  CHECK(counter == 11);
  with_device("meta", [&](auto) { ++counter; });
  CHECK(counter == 12);
}

TEST_CASE("a new kind of device joins the visitor", "[device][DEV-1]") {
  CHECK(visit_device<Cpu, Meta, Late>("late:1", name_of) == "late:1");
  CHECK_THROWS_WITH((visit_device<Cpu, Late>("meta", name_of)),
                    "with_device: \"meta\" is not a device; the kinds are \"cpu\", \"late\", each with an optional "
                    "ordinal, as in \"cpu:1\"");
}
