#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// The environment's wish that each tensor gets an allocation of its own: TWILL_MEMORY=each_alone. A memory checker
// (compute-sanitizer, AddressSanitizer) knows where an allocation ends and nothing of a pool's blocks, so an access past the
// end of one tensor is seen only then. Programs need not be compiled again. Read next: memory/upstream.hpp.

#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/core/text.hpp>

#include <cstdlib>
#include <string_view>

namespace twill { inline namespace v0 {

/// Whether TWILL_MEMORY is "each_alone"; read once. throws: ValueError when it is set to anything else
[[nodiscard]] TWILL_EXPORT inline bool each_alone_by_environment() {
  static const bool wanted = [] {
    const char* const given = std::getenv("TWILL_MEMORY");
    if (given == nullptr) return false;
    const std::string_view choice{given};
    if (choice.empty() || choice == "each_alone") return !choice.empty();
    throw ValueError(join_text({"TWILL_MEMORY: it is \"", choice, "\"; set it to each_alone, or to nothing"}));
  }();
  return wanted;
}

}} // namespace twill::v0
