#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of io/json.hpp.

#include <twill/io/json.hpp>

namespace twill::inline v0::io {

TWILL_BODY std::string_view JsonReader::quoted() {
  require('"');
  const std::size_t begin = at_;
  while (true) {
    const unsigned char c = byte();
    if (c == '"') return text_.substr(begin, at_ - 1 - begin);
    if (c < 0x20) refuse("a string has a control character");
    if (c == '\\')
      escape(nullptr);
    else if (c >= 0x80)
      utf8(c);
  }
}

TWILL_BODY std::string JsonReader::unquoted(std::string_view raw) const {
  if (raw.find('\\') == std::string_view::npos) return std::string{raw};
  std::string text{};
  text.reserve(raw.size());
  JsonReader inside{where_, raw};
  while (inside.at_ < raw.size()) {
    const char c = raw[inside.at_++];
    if (c == '\\')
      inside.escape(&text);
    else
      text += c;
  }
  return text;
}

TWILL_BODY std::uint64_t JsonReader::count() {
  skip_space();
  const std::size_t begin = at_;
  std::uint64_t value = 0;
  while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') {
    if (value > (std::uint64_t{1} << 62) / 10) refuse("a number is too large for a count");
    value = value * 10 + static_cast<std::uint64_t>(text_[at_++] - '0');
  }
  const char next = at_ < text_.size() ? text_[at_] : ' ';
  if (at_ == begin || (text_[begin] == '0' && at_ > begin + 1) || next == '.' || next == 'e' || next == 'E')
    refuse("something else stands where a count belongs");
  return value;
}

TWILL_BODY void JsonReader::skip_simple() {
  skip_space();
  if (at_ < text_.size() && text_[at_] == '"') return static_cast<void>(quoted());
  const std::size_t begin = at_;
  const auto belongs = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || c == '-' || c == '+' || c == '.' || c == 'E';
  };
  while (at_ < text_.size() && belongs(text_[at_])) ++at_;
  if (at_ == begin) refuse("something else stands where a simple value belongs");
}

TWILL_BODY void JsonReader::end() {
  skip_space();
  if (at_ != text_.size()) refuse("there is more behind the end");
}

TWILL_BODY void JsonReader::refuse(std::string_view why) const {
  throw ValueError(join_text({where_, " is damaged: byte ", at_, " of its JSON: ", why}));
}

TWILL_BODY void JsonReader::skip_space() {
  while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t' || text_[at_] == '\r'))
    ++at_;
}

TWILL_BODY bool JsonReader::take(char wanted) {
  skip_space();
  if (at_ == text_.size() || text_[at_] != wanted) return false;
  ++at_;
  return true;
}

TWILL_BODY void JsonReader::require(char wanted) {
  if (take(wanted)) return;
  refuse(join_text({"'", std::string_view{&wanted, 1}, "' belongs there, ",
                    at_ == text_.size() ? "the text ends" : "something else stands there"}));
}

TWILL_BODY unsigned char JsonReader::byte() {
  if (at_ == text_.size()) refuse("the text ends inside a string");
  return static_cast<unsigned char>(text_[at_++]);
}

TWILL_BODY std::uint32_t JsonReader::four_digits() {
  std::uint32_t value = 0;
  for (int i = 0; i < 4; ++i) {
    const unsigned char c = byte();
    const int digit = c >= '0' && c <= '9'   ? c - '0'
                      : c >= 'a' && c <= 'f' ? c - 'a' + 10
                      : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                             : -1;
    if (digit < 0) refuse("an escape has no four hexadecimal digits");
    value = value << 4 | static_cast<std::uint32_t>(digit);
  }
  return value;
}

TWILL_BODY void JsonReader::escape(std::string* to) {
  constexpr std::string_view letters = "\"\\/bfnrt";
  constexpr std::string_view meanings = "\"\\/\b\f\n\r\t";
  const unsigned char c = byte();
  if (const std::size_t i = letters.find(static_cast<char>(c)); i != std::string_view::npos) {
    if (to != nullptr) *to += meanings[i];
    return;
  }
  if (c != 'u') refuse("an escape has no meaning");
  std::uint32_t point = four_digits();
  if (point >= 0xdc00 && point <= 0xdfff) refuse("an escape is half a character");
  if (point >= 0xd800 && point <= 0xdbff) {
    if (byte() != '\\' || byte() != 'u') refuse("an escape is half a character");
    const std::uint32_t low = four_digits();
    if (low < 0xdc00 || low > 0xdfff) refuse("an escape is half a character");
    point = 0x10000 + ((point - 0xd800) << 10) + (low - 0xdc00);
  }
  if (to != nullptr) append_utf8(*to, point);
}

TWILL_BODY void JsonReader::append_utf8(std::string& to, std::uint32_t point) {
  const auto put = [&](std::uint32_t value) { to += static_cast<char>(value); };
  if (point < 0x80) return put(point);
  if (point < 0x800) {
    put(0xc0 | point >> 6);
  } else if (point < 0x10000) {
    put(0xe0 | point >> 12);
    put(0x80 | (point >> 6 & 0x3f));
  } else {
    put(0xf0 | point >> 18);
    put(0x80 | (point >> 12 & 0x3f));
    put(0x80 | (point >> 6 & 0x3f));
  }
  put(0x80 | (point & 0x3f));
}

TWILL_BODY void JsonReader::utf8(unsigned char first) {
  const int more = first >= 0xc2 && first <= 0xdf   ? 1
                   : first >= 0xe0 && first <= 0xef ? 2
                   : first >= 0xf0 && first <= 0xf4 ? 3
                                                    : 0;
  if (more == 0) refuse("a string is no UTF-8");
  for (int i = 0; i < more; ++i) {
    const unsigned char c = byte();
    const bool first_is_low = i == 0 && ((first == 0xe0 && c < 0xa0) || (first == 0xf0 && c < 0x90)); // too long a form
    const bool first_is_high = i == 0 && ((first == 0xed && c > 0x9f) || (first == 0xf4 && c > 0x8f)); // no character
    if (c < 0x80 || c > 0xbf || first_is_low || first_is_high) refuse("a string is no UTF-8");
  }
}

TWILL_BODY std::string json_quoted(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (c == '\n') {
      result += "\\n";
    } else if (code < 0x20) {
      constexpr std::string_view digits = "0123456789abcdef";
      result += "\\u00";
      result += digits[code >> 4];
      result += digits[code & 15];
    } else {
      result += c;
    }
  }
  return result + '"';
}

} // namespace twill::inline v0::io
