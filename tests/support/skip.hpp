#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// How a test says that it cannot run on this machine: `return skip("no second core")`. The reason is printed, and CTest
// reports the test as skipped instead of passed.

#include <cstdio>
#include <string_view>

namespace twill::test {

inline int& skipped_count() {
  static int count = 0;
  return count;
}

inline void skip(std::string_view reason) {
  ++skipped_count();
  std::printf("skipped: %.*s\n", static_cast<int>(reason.size()), reason.data());
}

} // namespace twill::test
