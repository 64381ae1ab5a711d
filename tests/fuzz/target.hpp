#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// What a fuzzer runs: a reader of files on arbitrary bytes, which it may refuse by twill's own errors and by nothing else. Read
// next: tests/fuzz/targets.hpp, tests/fuzz/image_targets.hpp.

#include <twill/core/error.hpp>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string_view>

namespace twill::fuzz {

using Bytes = std::span<const std::byte>;

struct Target {
  std::string_view name;
  bool (*run)(Bytes); ///< whether the reader accepted
};

inline void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "a reader's result is wrong: %s\n", what);
  std::abort();
}

/// Calls a reader, which may refuse. Returns whether it accepted.
template <class F> bool accepts(F&& read) {
  try {
    read();
    return true;
  } catch (const Error& error) {
    require(error.what()[0] != '\0', "an error without a text");
    return false;
  }
}

} // namespace twill::fuzz
