#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of core/utf8.hpp.

#include <twill/core/utf8.hpp>

namespace twill { inline namespace v0 {

TWILL_BODY std::string repaired_utf8(std::string_view text) {
  std::string result{};
  result.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = detail::utf8_length(text);
    if (length > 0)
      result += text.substr(0, length);
    else
      result += "\xef\xbf\xbd";
    text.remove_prefix(length > 0 ? length : 1);
  }
  return result;
}

}} // namespace twill::v0
