#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Registered memory: the ranges of the host's memory that kernels may touch. A launch keeps the two ranges that it used last, since
// almost every access lies in one of them.

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace ptxrun {

struct Range {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  [[nodiscard]] bool holds(std::uintptr_t address, std::size_t bytes) const {
    return address >= begin && address <= end && bytes <= end - address;
  }
};

/// The registered range that holds all these bytes; an empty one otherwise.
[[nodiscard]] Range find_range(std::uintptr_t address, std::size_t bytes);

/// "12 bytes after the end of 'weights' (4096 bytes)": the nearest registered range.
[[nodiscard]] std::string describe_address(std::uintptr_t address);

class RecentRanges {
public:
  [[nodiscard]] bool hold(std::uintptr_t address, std::size_t bytes) {
    return last_.holds(address, bytes) || search(address, bytes);
  }

private:
  bool search(std::uintptr_t address, std::size_t bytes) {
    if (before_last_.holds(address, bytes)) {
      std::swap(last_, before_last_);
      return true;
    }
    const Range found = find_range(address, bytes);
    if (found.end == 0) return false;
    before_last_ = last_;
    last_ = found;
    return true;
  }

  Range last_{};
  Range before_last_{};
};

} // namespace ptxrun
