#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// UTF-8 repair of text of unknown origin, so that strict parsers accept it: user names, paths, and texts cut after a
// number of bytes. Valid UTF-8 stays as it is. Read next: profile/trace_events.hpp.

#include <twill/core/config.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace twill { inline namespace v0 {

namespace detail {
/// The bytes of the character with which a text begins, 0 where no valid character begins (RFC 3629, section 4).
[[nodiscard]] constexpr std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xc2 && first <= 0xdf   ? 2
                             : first >= 0xe0 && first <= 0xef ? 3
                             : first >= 0xf0 && first <= 0xf4 ? 4
                                                              : 0;
  for (std::size_t i = 1; i < length; ++i)
    if (byte(i) < 0x80 || byte(i) > 0xbf) return 0;
  const bool is_too_long = (first == 0xe0 && byte(1) < 0xa0) || (first == 0xf0 && byte(1) < 0x90);
  const bool is_no_character = (first == 0xed && byte(1) > 0x9f) || (first == 0xf4 && byte(1) > 0x8f);
  return is_too_long || is_no_character ? 0 : length;
}
} // namespace detail

/// The text with U+FFFD in place of each byte that belongs to no character.
[[nodiscard]] std::string repaired_utf8(std::string_view text);

}} // namespace twill::v0

#if TWILL_HEADER_ONLY
#include <twill/core/utf8.ipp>
#endif
