// SPDX-License-Identifier: Apache-2.0

#include "ptxrun/findings.hpp"

#include "ptxrun/kernel.hpp"
#include "ptxrun/options.hpp"

#include <cstdio>
#include <cstdlib>
#include <cxxabi.h>
#include <memory>
#include <mutex>
#include <set>
#include <utility>

namespace ptxrun {
namespace {

struct Findings {
  std::mutex mutex{};
  std::set<std::string> keys{}; ///< kind, kernel and place
  std::vector<std::string> texts{};
};

Findings& findings() {
  static Findings* const all = new Findings;
  return *all;
}

std::FILE* log() {
  static std::FILE* const file = [] {
    std::FILE* const opened = options().log_file.empty() ? nullptr : std::fopen(options().log_file.c_str(), "a");
    return opened == nullptr ? stderr : opened;
  }();
  return file;
}

} // namespace

std::string demangle(const std::string& name) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> readable{abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status),
                                                        std::free};
  return status == 0 && readable ? std::string{readable.get()} : name;
}

void report_finding(std::string_view kind, const Kernel* kernel, const Instruction* instruction,
                    const std::string& detail) {
  Findings& all = findings();
  const std::lock_guard lock{all.mutex};
  std::string key{kind};
  if (kernel != nullptr) key += "|" + kernel->name;
  if (instruction != nullptr) key += "|" + std::to_string(instruction->line);
  if (!all.keys.insert(key).second) return;

  std::string text{kind};
  text += ": " + detail;
  std::string printed = "ptxrun: " + text + "\n";
  if (kernel != nullptr) printed += "  kernel " + demangle(kernel->name) + "\n";
  if (kernel != nullptr && instruction != nullptr) {
    const std::string place = describe(*kernel, kernel->locations[instruction->location]);
    text += " [" + place + "]";
    printed += "  at " + place + ": " + describe(*instruction) + "\n";
  }
  all.texts.push_back(std::move(text));
  std::fputs(printed.c_str(), log());
  std::fflush(log());
}

std::size_t finding_count() {
  Findings& all = findings();
  const std::lock_guard lock{all.mutex};
  return all.keys.size();
}

std::vector<std::string> take_findings() {
  Findings& all = findings();
  const std::lock_guard lock{all.mutex};
  all.keys.clear();
  return std::exchange(all.texts, {});
}

} // namespace ptxrun
