// SPDX-License-Identifier: Apache-2.0
//
// bench_gpu OUT.json [GROUP]: runs the GPU benchmarks, all or those of a group, and writes their times. `--list` names the
// groups, so that each can have a process of its own, `--card` the GPU. Ends with 1 where something is wrong or fails, which
// the file names, and with 4 where there is no GPU.

#include "bench/gpu/programs.cuh"

#include <cstdio>
#include <exception>
#include <string>
#include <string_view>

namespace {

struct Group {
  const char* name;
  void (*run)(bench::Report&);
};

constexpr Group groups[] = {{"memory_bound", &bench_memory_bound},
                            {"products", &bench_products},
                            {"steps", &bench_steps},
                            {"resnet50", &bench_resnet50},
                            {"gpt2", &bench_gpt2},
                            {"attention", &bench_attention},
                            {"convolution", &bench_convolution},
                            {"allocation", &bench_allocation}};

} // namespace

int main(int count, char** arguments) {
  using twill::Cuda;
  if (count == 2 && std::string_view{arguments[1]} == "--list") {
    for (const Group& group : groups) std::puts(group.name);
    return 0;
  }
  const bool asks_for_card = count == 2 && std::string_view{arguments[1]} == "--card";
  if (count < 2 || count > 3) {
    std::fprintf(stderr, "usage: %s OUT.json [GROUP] | --list | --card\n", arguments[0]);
    return 2;
  }
  if (Cuda::count() == 0) {
    std::puts("skipped: this machine has no GPU");
    return 4;
  }
  if (asks_for_card) {
    std::puts(device_name(Cuda{0}).c_str());
    return 0;
  }
  cudaStream_t stream = nullptr;
  launch(Cuda{0}, [&](const auto& queue) { stream = queue.stream(); });
  bench::Report report{stream, arguments[1],
                       bench::context_of(device_name(Cuda{0}), "nvcc " + std::to_string(__CUDACC_VER_MAJOR__) + "." +
                                                                   std::to_string(__CUDACC_VER_MINOR__))};
  bool has_run = false;
  for (const Group& group : groups) {
    if (count == 3 && std::string_view{arguments[2]} != group.name) continue;
    has_run = true;
    try {
      group.run(report);
    } catch (const std::exception& error) {
      report.fail(group.name, error.what());
    }
  }
  if (!has_run) {
    std::fprintf(stderr, "bench_gpu: there is no group '%s'; --list names them\n", arguments[2]);
    return 2;
  }
  return report.has_failed() ? 1 : 0;
}
