// SPDX-License-Identifier: Apache-2.0

#include "ptxrun/memory.hpp"

#include "ptxrun/interpreter.hpp"

#include <iterator>
#include <map>
#include <mutex>

namespace ptxrun {
namespace {

struct Registered {
  std::uintptr_t end = 0;
  std::string label{};
};

struct Registry {
  std::mutex mutex{};
  std::map<std::uintptr_t, Registered> ranges{}; ///< by their begin
};

Registry& registry() {
  static Registry* const all = new Registry;
  return *all;
}

std::string name(std::uintptr_t begin, const Registered& range) {
  return "'" + range.label + "' (" + std::to_string(range.end - begin) + " bytes)";
}

} // namespace

void register_memory(const void* begin, std::size_t bytes, std::string_view label) {
  Registry& all = registry();
  const std::lock_guard lock{all.mutex};
  const auto address = reinterpret_cast<std::uintptr_t>(begin);
  all.ranges[address] = {address + bytes, std::string{label}};
}

void unregister_memory(const void* begin) {
  Registry& all = registry();
  const std::lock_guard lock{all.mutex};
  all.ranges.erase(reinterpret_cast<std::uintptr_t>(begin));
}

Range find_range(std::uintptr_t address, std::size_t bytes) {
  Registry& all = registry();
  const std::lock_guard lock{all.mutex};
  auto next = all.ranges.upper_bound(address);
  if (next == all.ranges.begin()) return {};
  const auto& [begin, range] = *std::prev(next);
  const Range found{begin, range.end};
  return found.holds(address, bytes) ? found : Range{};
}

std::string describe_address(std::uintptr_t address) {
  Registry& all = registry();
  const std::lock_guard lock{all.mutex};
  const auto next = all.ranges.upper_bound(address);
  std::uintptr_t distance_before = UINTPTR_MAX;
  std::string text = "no memory is registered";
  if (next != all.ranges.begin()) {
    const auto& [begin, range] = *std::prev(next);
    if (address < range.end)
      return "the last " + std::to_string(range.end - address) + " bytes of " + name(begin, range) + " and more";
    distance_before = address - range.end;
    text = std::to_string(distance_before) + " bytes after the end of " + name(begin, range);
  }
  if (next != all.ranges.end() && next->first - address < distance_before)
    text = std::to_string(next->first - address) + " bytes before " + name(next->first, next->second);
  return text;
}

} // namespace ptxrun
