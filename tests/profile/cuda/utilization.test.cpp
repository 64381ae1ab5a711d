// SPDX-License-Identifier: Apache-2.0

#include "tests/support/fake_nvml.hpp"

#include <twill/profile/cuda/utilization.hpp>

#include <catch2/catch.hpp>

using namespace twill;
using test::fake_machine;
using test::fake_nvml;

TEST_CASE("the table of GPUs tells load and memory, whoever uses them", "[profile][DEV-6]") {
  constexpr unsigned long long gib = 1ULL << 30;
  fake_machine() = {.gpus = {{"Large", "00000000:1B:00.0", 10 * gib, 80 * gib, 35},
                             {"Quiet", "00000000:1C:00.0", 1 * gib, 80 * gib, -1}}};
  const nvml::Library library{fake_nvml()};
  const std::vector<profile::GpuRow> rows{{"cuda:0", "0000:1c:00.0", "Quiet", 512, 2 << 20},
                                          {"cuda:1", "0000:1b:00.0", "Large", 0, 0},
                                          {"cuda:2", "0000:1d:00.0", "Unknown", 0, 0}};
  CHECK(profile::gpu_utilization_text(rows, library) ==
        "id      load  pool used  pool held       used      total  name\n"
        "-----------------------------------------------------------------\n"
        "cuda:0     -      512 B   2.00 MiB   1.00 GiB  80.00 GiB  Quiet\n"
        "cuda:1   35%        0 B        0 B  10.00 GiB  80.00 GiB  Large\n"
        "cuda:2     -        0 B        0 B          -          -  Unknown\n");
  CHECK(profile::gpu_utilization_text({}, library) == "no cuda devices\n");
}

TEST_CASE("without a driver the table of GPUs ends with the reason", "[profile][DEV-6]") {
  const nvml::Library none{"nvml: no driver"};
  CHECK(profile::gpu_utilization_text({}, none) == "no cuda devices\nnvml: no driver\n");
  const std::string text = profile::gpu_utilization_text({{"cuda:0", "0000:1c:00.0", "Quiet", 512, 0}}, none);
  CHECK(text.find("cuda:0     -") != std::string::npos);
  CHECK(text.find("\nnvml: no driver\n") != std::string::npos);
}

TEST_CASE("the machine's devices are told with the processes on them", "[profile][DEV-6]") {
  constexpr unsigned long long gib = 1ULL << 30;
  fake_machine() = {
      .gpus = {{"Large", "00000000:1B:00.0", 10 * gib, 80 * gib, 35, {{0, 8 * gib, 0, 0}, {0, ~0ULL, 0, 0}}},
               {"Quiet", "00000000:1C:00.0", 1 * gib, 80 * gib, -1, {}}}};
  const auto gpus = nvml::Library{fake_nvml()}.gpus();
  CHECK(to_string(profile::gpu_table(gpus)) == "id     load       used       free      total  name\n"
                                               "---------------------------------------------------\n"
                                               "gpu:0   35%  10.00 GiB  70.00 GiB  80.00 GiB  Large\n"
                                               "gpu:1     -   1.00 GiB  79.00 GiB  80.00 GiB  Quiet\n");
  CHECK(to_string(profile::process_table(gpus)) == "gpu    process    memory  share  name\n"
                                                   "-------------------------------------\n"
                                                   "gpu:0        0  8.00 GiB    10%  -\n"
                                                   "gpu:0        0         -      -  -\n");
  const std::string text = profile::machine_text(nvml::Library{fake_nvml()}, std::chrono::milliseconds(1));
  CHECK(text.starts_with("id"));
  CHECK(text.find("cpu:0") < text.find("gpu:0"));
  CHECK(text.find("gpu:0   35%") < text.find("process"));
  const std::string without = profile::machine_text(nvml::Library{"nvml: no driver"}, std::chrono::milliseconds(1));
  CHECK(without.find("cpu:0") != std::string::npos);
  CHECK(without.ends_with("\nno GPUs: nvml: no driver\n"));
}
