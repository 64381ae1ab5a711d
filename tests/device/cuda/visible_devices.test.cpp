// SPDX-License-Identifier: Apache-2.0

#include "tests/support/fake_nvml.hpp"

#include <twill/device/cuda/visible_devices.hpp>

#include <catch2/catch.hpp>

#include <cstdlib>
#include <string>
#include <vector>

using namespace twill;
using test::fake_machine;
using test::fake_nvml;

namespace {

constexpr unsigned long long gib = 1ULL << 30;

/// A machine of three GPUs, numbered by their buses.
nvml::Library three_gpus() {
  fake_machine() = {.gpus = {{"Small", "00000000:04:00.0", 3 * gib, 8 * gib, 97},
                             {"Large", "00000000:1B:00.0", 10 * gib, 80 * gib, 0},
                             {"Other", "00000001:1B:00.0", 79 * gib, 80 * gib, -1}}};
  return nvml::Library{fake_nvml()};
}

/// Keeps the environment of the other tests.
struct Environment {
  Environment() : devices{std::getenv("CUDA_VISIBLE_DEVICES")}, order{std::getenv("CUDA_DEVICE_ORDER")} {
    detail::cuda_was_asked = false;
    unsetenv("CUDA_VISIBLE_DEVICES");
  }
  ~Environment() {
    restore("CUDA_VISIBLE_DEVICES", devices);
    restore("CUDA_DEVICE_ORDER", order);
    detail::cuda_was_asked = false;
  }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;
  static void restore(const char* name, const char* value) {
    if (value != nullptr)
      setenv(name, std::string{value}.c_str(), 1);
    else
      unsetenv(name);
  }
  const char* devices;
  const char* order;
};

} // namespace

TEST_CASE("the management library tells what each GPU holds and does", "[device][DEV-6]") {
  const auto gpus = three_gpus().gpus();
  REQUIRE(gpus.size() == 3);
  CHECK(gpus[0].name == "Small");
  CHECK(gpus[0].load_percent == 97);
  CHECK(gpus[0].total_bytes == 8 * gib);
  CHECK(gpus[0].used_bytes == 3 * gib);
  CHECK(gpus[0].free_bytes == 5 * gib);
  CHECK(gpus[1].index == 1);
  CHECK(gpus[1].bus == "00000000:1b:00.0");
  CHECK(gpus[1].uuid == "GPU-of-00000000:1B:00.0");
  CHECK(gpus[2].load_percent == -1);
}

TEST_CASE("a GPU is found by its place on the buses, however that is written", "[device][DEV-6]") {
  const auto gpus = three_gpus().gpus();
  CHECK(nvml::find_by_bus(gpus, "0000:1b:00.0")->name == "Large");
  CHECK(nvml::find_by_bus(gpus, "0001:1B:00.0")->name == "Other");
  CHECK(nvml::find_by_bus(gpus, "00000001:1b:00.0")->name == "Other");
  CHECK(nvml::find_by_bus(gpus, "0000:1c:00.0") == nullptr);
  CHECK(nvml::find_by_bus({}, "0000:1b:00.0") == nullptr);
}

TEST_CASE("GPUs are ordered by free memory", "[device][DEV-6]") {
  CHECK(gpus_by_free_memory(three_gpus()) == std::vector{1, 0, 2});
  fake_machine().gpus.clear();
  CHECK(gpus_by_free_memory(nvml::Library{fake_nvml()}).empty());
}

TEST_CASE("without a driver the reason is told", "[device][DEV-6]") {
  const auto missing = nvml::Library::load("libtwill-no-such-library.so");
  CHECK(!missing.is_usable());
  CHECK(missing.problem().find("nvml: libtwill-no-such-library.so cannot be loaded, it comes with NVIDIA's driver: ") ==
        0);
  CHECK_THROWS_AS(gpus_by_free_memory(missing), DeviceError);
  const auto other = nvml::Library::load("libc.so.6");
  CHECK(other.problem() == "nvml: libc.so.6 has no function nvmlInit_v2; update NVIDIA's driver");
  fake_machine().init_status = 9;
  const nvml::Library asleep{fake_nvml()};
  fake_machine().init_status = 0;
  CHECK(asleep.problem() == "nvml: nvmlInit failed: driver not loaded");
  CHECK_THROWS_WITH(asleep.gpus(), "nvml: nvmlInit failed: driver not loaded");
}

TEST_CASE("a failing call of the management library is an error with its name", "[device][DEV-6]") {
  const auto library = three_gpus();
  fake_machine().memory_status = 3;
  CHECK_THROWS_WITH(library.gpus(), "nvml: nvmlDeviceGetMemoryInfo failed: not supported");
  CHECK(describe_visible_devices({"0000:04:00.0"}, library) ==
        "cuda:0 is at 0000:04:00.0\nnvml: nvmlDeviceGetMemoryInfo failed: not supported\n");
  fake_machine().memory_status = 0;
}

TEST_CASE("the devices of the process are described by the machine's GPUs", "[device][DEV-6]") {
  const auto library = three_gpus();
  CHECK(describe_visible_devices({"0000:1b:00.0", "0000:04:00.0", "0000:99:00.0"}, library) ==
        "cuda:0 is GPU 1, Large at 0000:1b:00.0\ncuda:1 is GPU 0, Small at 0000:04:00.0\ncuda:2 is at 0000:99:00.0\n");
  const Environment environment{};
  CHECK(describe_visible_devices({}, library) == "no cuda devices (CUDA_VISIBLE_DEVICES: all)\n");
  CHECK(describe_visible_devices({}, nvml::Library{"no driver"}) ==
        "no cuda devices (CUDA_VISIBLE_DEVICES: all)\nno driver\n");
}

TEST_CASE("a program chooses its GPUs until CUDA is used", "[device][DEV-6]") {
  const Environment environment{};
  CHECK(visible_devices() == "all");
  set_visible_devices(gpus_by_free_memory(three_gpus()));
  CHECK(visible_devices() == "1,0,2");
  CHECK(std::string{std::getenv("CUDA_DEVICE_ORDER")} == "PCI_BUS_ID");
  set_visible_devices({2});
  CHECK(visible_devices() == "2");
  detail::cuda_was_asked = true;
  CHECK_NOTHROW(set_visible_devices({2})); // as it is
  CHECK_THROWS_WITH(set_visible_devices({1, 2}),
                    "set_visible_devices: CUDA has read CUDA_VISIBLE_DEVICES already (2); call it "
                    "before anything asks for a CUDA device");
  CHECK(visible_devices() == "2");
  detail::cuda_was_asked = false;
  set_visible_devices({});
  CHECK(visible_devices().empty());
}

TEST_CASE("GPUs that cannot be are refused", "[device][DEV-6]") {
  const Environment environment{};
  CHECK_THROWS_WITH(set_visible_devices({0, -1}), "set_visible_devices: GPUs are numbered from 0; got -1");
  CHECK_THROWS_WITH(set_visible_devices({0, 3, 0}), "set_visible_devices: GPU 0 is listed twice; list each once");
  CHECK(visible_devices() == "all");
}
