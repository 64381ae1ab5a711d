#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of core/text.hpp.

#include <twill/core/text.hpp>

#include <charconv>

namespace twill { inline namespace v0 {

TWILL_BODY char* TextPart::write(char* to) const {
  char* const end = to + size();
  if (text_ != nullptr) {
    std::memcpy(to, text_, size_);
    return end;
  }
  if (negative_) *to = '-';
  char* digit = end;
  std::uint64_t rest = number_;
  do *--digit = static_cast<char>('0' + rest % 10);
  while ((rest /= 10) != 0);
  return end;
}

TWILL_COLD TWILL_BODY std::string join_text(std::initializer_list<TextPart> parts) {
  std::size_t size = 0;
  for (const TextPart& part : parts) size += part.size();
  std::string text(size, '\0');
  char* end = text.data();
  for (const TextPart& part : parts) end = part.write(end);
  return text;
}

TWILL_BODY std::string number_text(double number) {
  char digits[40];
  return std::string(digits, std::to_chars(digits, digits + sizeof(digits), number).ptr);
}

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
