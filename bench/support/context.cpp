// SPDX-License-Identifier: Apache-2.0
//
// Writes into every benchmark's JSON what its numbers depend on: machine, compiler, flags, and the commit that bench/run
// passes on. Runs before main, so a benchmark has nothing to call.

#include <benchmark/benchmark.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>

namespace {

std::string machine() {
  std::ifstream file("/proc/cpuinfo");
  std::string model = "unknown processor";
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name")) {
      model = line.substr(line.find(':') + 2);
      break;
    }
  return model + ", " + std::to_string(std::thread::hardware_concurrency()) + " cores";
}

const bool added = [] {
  const char* commit = std::getenv("TWILL_COMMIT");
  benchmark::AddCustomContext("machine", machine());
  benchmark::AddCustomContext("compiler", TWILL_BENCH_COMPILER);
  benchmark::AddCustomContext("flags", TWILL_BENCH_FLAGS);
  benchmark::AddCustomContext("commit", commit != nullptr ? commit : "unknown");
  return true;
}();

} // namespace
