#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Shell patterns for names: they choose weights for a parameter group of an optimiser, and layers to inspect.

#include <cstddef>
#include <string_view>

namespace twill { inline namespace v0 {

/// Whether a name fits a pattern, in which * stands for any characters and ? for one.
[[nodiscard]] constexpr bool matches(std::string_view pattern, std::string_view name) {
  if (pattern.empty()) return name.empty();
  if (pattern[0] == '*') {
    for (std::size_t skip = 0; skip <= name.size(); ++skip)
      if (matches(pattern.substr(1), name.substr(skip))) return true;
    return false;
  }
  return !name.empty() && (pattern[0] == '?' || pattern[0] == name[0]) && matches(pattern.substr(1), name.substr(1));
}

}} // namespace twill::v0
