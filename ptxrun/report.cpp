// SPDX-License-Identifier: Apache-2.0
//
// The report: what ran, and which instructions no thread executed. Several processes add to one file; `KERNEL` and `COVER` lines are
// for a program that merges them, in which the bit n of a bitmap (the lowest bit of a digit first) stands for instruction n.

#include "ptxrun/findings.hpp"
#include "ptxrun/kernel.hpp"
#include "ptxrun/options.hpp"

#include <cstdint>
#include <cstdio>
#include <string>

namespace ptxrun {
namespace {

std::string bitmap(const std::vector<Instruction>& code) {
  std::string digits;
  for (std::size_t n = 0; n < code.size(); n += 4) {
    unsigned digit = 0;
    for (std::size_t bit = 0; bit < 4 && n + bit < code.size(); ++bit)
      digit |= static_cast<unsigned>(code[n + bit].executions != 0) << bit;
    digits += "0123456789abcdef"[digit];
  }
  return digits;
}

double percent(std::size_t part, std::size_t whole) {
  return whole == 0 ? 100.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

} // namespace

void write_report() {
  if (options().report_file.empty()) return;
  std::FILE* const file = std::fopen(options().report_file.c_str(), "a");
  if (file == nullptr) return;
  std::size_t launched = 0, all_static = 0, all_executed = 0;
  std::uint64_t all_threads = 0;
  double all_seconds = 0;
  for (const Kernel* const kernel : all_kernels()) {
    if (kernel->launches == 0) continue;
    ++launched;
    std::size_t executed = 0;
    std::uint64_t threads = 0;
    for (const Instruction& instruction : kernel->code) {
      executed += instruction.executions != 0 ? 1 : 0;
      threads += instruction.executions;
    }
    all_static += kernel->code.size();
    all_executed += executed;
    all_threads += threads;
    all_seconds += kernel->seconds;
    std::fprintf(file, "KERNEL launches %llu instructions %llu static %zu executed %zu (%.1f%%) seconds %.3f %s\n",
                 static_cast<unsigned long long>(kernel->launches), static_cast<unsigned long long>(threads),
                 kernel->code.size(), executed, percent(executed, kernel->code.size()), kernel->seconds,
                 kernel->name.c_str());
    std::fprintf(file, "COVER %s %s\n", kernel->name.c_str(), bitmap(kernel->code).c_str());
    if (!options().lists_unreached) continue;
    for (std::size_t n = 0; n < kernel->code.size(); ++n) {
      const Instruction& instruction = kernel->code[n];
      if (instruction.executions != 0) continue;
      std::fprintf(file, "UNREACHED %zu %s: %s\n", n,
                   describe(*kernel, kernel->locations[instruction.location]).c_str(), describe(instruction).c_str());
    }
  }
  std::fprintf(
      file,
      "TOTAL kernels %zu launched %zu static %zu executed %zu (%.1f%%), %llu instructions of threads in %.2f s, %.0f million/s\n",
      all_kernels().size(), launched, all_static, all_executed, percent(all_executed, all_static),
      static_cast<unsigned long long>(all_threads), all_seconds,
      all_seconds > 0 ? static_cast<double>(all_threads) / all_seconds / 1e6 : 0);
  std::fclose(file);
}

} // namespace ptxrun
