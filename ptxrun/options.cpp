// SPDX-License-Identifier: Apache-2.0

#include "ptxrun/options.hpp"

#include <cstdlib>
#include <string>

namespace ptxrun {
namespace {

std::uint64_t number(const char* name, std::uint64_t otherwise) {
  const char* const value = std::getenv(name);
  return value == nullptr || *value == '\0' ? otherwise : std::strtoull(value, nullptr, 0);
}

std::string text(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string{} : std::string{value};
}

Options read() {
  Options options;
  options.checks_shared_races = number("PTXRUN_RACES", 0) != 0;
  options.checks_global_races = number("PTXRUN_GLOBAL_RACES", 0) != 0;
  options.shuffle_seed = number("PTXRUN_SHUFFLE", 0);
  options.streams_run_late = number("PTXRUN_LAZY", 0) != 0;
  options.errors_stick = number("PTXRUN_STICKY", 0) != 0;
  options.devices = static_cast<int>(number("PTXRUN_DEVICES", 1));
  options.multiprocessors = static_cast<int>(number("PTXRUN_SMS", 132));
  options.capability = static_cast<int>(number("PTXRUN_ARCH", 90));
  options.memory_bytes = static_cast<std::size_t>(number("PTXRUN_MEMORY_MIB", 8192)) << 20;
  options.endless_after = number("PTXRUN_LIMIT_M", 4000) * 1'000'000;
  options.log_file = text("PTXRUN_LOG");
  options.report_file = text("PTXRUN_REPORT");
  options.lists_unreached = number("PTXRUN_UNREACHED", 0) != 0;
  return options;
}

} // namespace

std::size_t Options::multiprocessor_shared_bytes() const {
  switch (capability) {
  case 75:
    return 64 << 10;
  case 80:
  case 87:
    return 164 << 10;
  case 86:
  case 89:
  case 120:
    return 100 << 10;
  default:
    return 228 << 10;
  }
}

// A block leaves 1 KiB of a multiprocessor's shared memory to the system; compute capability 7.5 does not.
std::size_t Options::opt_in_shared_bytes() const {
  return capability == 75 ? multiprocessor_shared_bytes() : multiprocessor_shared_bytes() - 1024;
}

namespace {
Options& stored() {
  static Options* const all = new Options{read()}; // never destroyed: programs launch during exit, too
  return *all;
}
} // namespace

const Options& options() { return stored(); }
void set_options(const Options& replacement) { stored() = replacement; }

} // namespace ptxrun
