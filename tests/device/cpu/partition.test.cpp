// SPDX-License-Identifier: Apache-2.0

#include "tests/device/four_devices.hpp"

#include <vector>

#include <sched.h>

using namespace twill;
using Shares = std::vector<std::vector<int>>;

TEST_CASE("each core is a device unless told otherwise", "[device][cpu][DEV-1]") {
  CHECK(detail::partition_cores({0, 1, 4, 5}, {}).cores == Shares{{0}, {1}, {4}, {5}});
  CHECK(detail::partition_cores({7}, {}).cores == Shares{{7}});
}

TEST_CASE("devices share the cores in equal parts, and no core twice", "[device][cpu][DEV-1]") {
  const std::vector<int> five{2, 3, 5, 7, 11};
  CHECK(detail::partition_cores(five, {.devices = 2}).cores == Shares{{2, 3}, {5, 7}});
  CHECK(detail::partition_cores(five, {.devices = 1}).cores == Shares{{2, 3, 5, 7, 11}});
  CHECK(detail::partition_cores(five, {.devices = 3, .threads_per_device = 1}).cores == Shares{{2}, {3}, {5}});
  CHECK(detail::partition_cores(five, {.threads_per_device = 2}).cores == Shares{{2, 3}, {5, 7}});
}

TEST_CASE("cores are shared only when asked for", "[device][cpu][DEV-1]") {
  CHECK_THROWS_WITH(detail::partition_cores({0, 1}, {.devices = 3, .threads_per_device = 2}),
                    "configure_host: 3 devices of 2 threads need 6 cores, and the process may use 2; ask for fewer, or "
                    "set .oversubscribe = true");
  CHECK(detail::partition_cores({0, 1}, {.devices = 3, .oversubscribe = true}).cores == Shares{{0}, {1}, {0}});
  CHECK(detail::partition_cores({0, 1}, {.devices = 2, .threads_per_device = 3, .oversubscribe = true}).cores ==
        Shares{{0, 1, 0}, {1, 0, 1}});
  CHECK_THROWS_AS(detail::partition_cores({0}, {.threads_per_device = 2}), DeviceError);
}

TEST_CASE("numbers that make no sense are refused", "[device][cpu][DEV-1]") {
  CHECK_THROWS_AS(detail::partition_cores({0}, {.devices = -1}), ValueError);
  CHECK_THROWS_AS(detail::partition_cores({0}, {.threads_per_device = -2}), ValueError);
  CHECK_THROWS_AS(detail::partition_cores({0}, {.devices = max_devices + 1, .oversubscribe = true}), ValueError);
  CHECK(detail::partition_cores(std::vector<int>(2000, 1), {}).cores.size() == static_cast<std::size_t>(max_devices));
}

TEST_CASE("the division is refused after first use, with the reason", "[device][cpu][DEV-1]") {
  CHECK_THROWS_WITH(configure_host({.devices = 1}), "configure_host: the cores are divided already, as 4 host devices "
                                                    "of 2 threads; call it before the first use of a host device");
  CHECK_NOTHROW(configure_host({.devices = 4, .threads_per_device = 2, .oversubscribe = true}));
}

TEST_CASE("by default the affinity mask is divided", "[device][cpu][DEV-1]") {
  CHECK(test::run_in_child("child: the defaults") == 0);
  CHECK(test::run_in_child("child: first use fixes the division") == 0);
  CHECK(test::run_in_child("child: a narrower mask") == 0);
}

TEST_CASE("child: the defaults", "[.child]") {
  const auto cores = host_cores();
  CHECK(cores >= 1);
  CHECK_THROWS_AS(configure_host({.devices = cores + 1}), DeviceError); // a refusal is no use
  configure_host({.devices = 1});
  CHECK(device_count<Cpu>() == 1);
  CHECK(static_cast<int>(cores_of(Cpu{0}).size()) == cores);
}

TEST_CASE("child: first use fixes the division", "[.child]") {
  CHECK(device_count<Cpu>() == host_cores());
  CHECK(cores_of(Cpu{0}).size() == 1);
  CHECK_THROWS_AS(configure_host({.devices = host_cores() + 1, .oversubscribe = true}), DeviceError);
}

TEST_CASE("child: a narrower mask", "[.child]") {
  const int last = cpu::cores_of_process().back();
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<unsigned>(last), &set);
  REQUIRE(sched_setaffinity(0, sizeof(set), &set) == 0);
  CHECK(device_count<Cpu>() == 1);
  CHECK(cores_of(Cpu{0}) == std::vector<int>{last});
}
