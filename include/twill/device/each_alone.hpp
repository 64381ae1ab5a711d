#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Environment setting for separate allocations of all tensors: TWILL_MEMORY=each_alone. A memory checker
// (compute-sanitizer, AddressSanitizer) knows the ends of allocations but not a pool's blocks, so only then does it see
// an access past the end of one tensor. Programs need not be compiled again. Read next: memory/upstream.hpp.

#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/core/text.hpp>

#include <cstdlib>
#include <string_view>

namespace twill { inline namespace v0 {

/// Whether TWILL_MEMORY is "each_alone"; read once. throws: ValueError when it has any other value
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
