#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Call sites for messages of the compiler: file and line of a user's call, captured by the last parameter of a
// function, `CallSite site = CallSite::here()`. No number converts to one, so an argument too many is an error. Read
// next: graph/fault.hpp.

#include <twill/core/config.hpp>

namespace twill { inline namespace v0 {

/// File and line of a call.
struct CallSite {
  const char* file = ""; ///< as the compiler was given it, with folders
  int line = 0;          ///< from 1 on; 0 where there is no call

  CallSite() = default;
  /// The caller's site, as a default argument.
  [[nodiscard]] static constexpr CallSite here(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    CallSite site{};
    site.file = file;
    site.line = line;
    return site;
  }
};

}} // namespace twill::v0
