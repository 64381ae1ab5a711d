#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of io/json.hpp.

#include <twill/io/json.hpp>

namespace twill { inline namespace v0 { namespace io {

TWILL_BODY std::string_view JsonReader::quoted() {
  require('"');
  const std::size_t begin = at_;
  while (true) {
    const auto c = static_cast<unsigned char>(byte());
    if (c == '"') return text_.substr(begin, at_ - 1 - begin);
    if (c < 0x20) refuse("a string has a control character");
    if (c == '\\') static_cast<void>(escape());
    if (c < 0x80) continue;
    const std::string_view character = text_.substr(at_ - 1, c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4);
    if (repaired_utf8(character) != character) refuse("a string is not UTF-8");
    at_ += character.size() - 1;
  }
}

TWILL_BODY std::string JsonReader::unquoted(std::string_view raw) const {
  std::string text{};
  text.reserve(raw.size());
  JsonReader inside{where_, raw};
  while (inside.at_ < raw.size())
    if (const char c = inside.byte(); c == '\\')
      text += inside.escape();
    else
      text += c;
  return text;
}

TWILL_BODY std::uint64_t JsonReader::count() {
  skip_space();
  const std::string_view rest = text_.substr(at_);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
  const auto digits = static_cast<std::size_t>(end - rest.data());
  at_ += digits;
  if (error == std::errc::result_out_of_range || value >> 62 != 0) refuse("a number is too large for a count");
  const char next = digits < rest.size() ? rest[digits] : ' ';
  if (digits == 0 || (rest[0] == '0' && digits > 1) || next == '.' || next == 'e' || next == 'E')
    refuse("a number that is not negative is expected");
  return value;
}

TWILL_BODY void JsonReader::skip_simple() {
  skip_space();
  if (at_ < text_.size() && text_[at_] == '"') return static_cast<void>(quoted());
  const std::size_t begin = at_;
  at_ = std::min(text_.find_first_not_of("0123456789abcdefghijklmnopqrstuvwxyz-+.E", at_), text_.size());
  if (at_ == begin) refuse("a string, a number, true, false or null is expected");
}

TWILL_BODY void JsonReader::end() {
  skip_space();
  if (at_ != text_.size()) refuse("there is text after the end");
}

TWILL_BODY void JsonReader::refuse(std::string_view why) const {
  throw ValueError(join_text({where_, " is damaged: byte ", at_, " of its JSON: ", why}));
}

TWILL_BODY void JsonReader::skip_space() { at_ = std::min(text_.find_first_not_of(" \n\t\r", at_), text_.size()); }

TWILL_BODY bool JsonReader::take(char wanted) {
  skip_space();
  if (at_ == text_.size() || text_[at_] != wanted) return false;
  ++at_;
  return true;
}

TWILL_BODY void JsonReader::require(char wanted) {
  if (take(wanted)) return;
  refuse(join_text({"'", std::string_view{&wanted, 1}, "' is expected, ",
                    at_ == text_.size() ? "the text ends" : "there is something else"}));
}

TWILL_BODY char JsonReader::byte() {
  if (at_ == text_.size()) refuse("the text ends inside a string");
  return text_[at_++];
}

TWILL_BODY std::uint32_t JsonReader::four_digits() {
  const std::string_view digits = text_.substr(at_, 4);
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
  if (digits.size() < 4 || error != std::errc{} || end != digits.data() + 4)
    refuse("an escape needs four hexadecimal digits");
  at_ += 4;
  return value;
}

TWILL_BODY std::string JsonReader::escape() {
  constexpr std::string_view letters = "\"\\/bfnrt";
  constexpr std::string_view meanings = "\"\\/\b\f\n\r\t";
  const char c = byte();
  if (const std::size_t i = letters.find(c); i != std::string_view::npos) return {meanings[i]};
  if (c != 'u') refuse("an escape is unknown");
  std::uint32_t point = four_digits();
  const auto is_half = [](std::uint32_t number, std::uint32_t first) { return number >> 10 == first >> 10; };
  if (is_half(point, 0xd800)) { // of a character beyond 16 bits, whose second half follows
    const bool follows = byte() == '\\' && byte() == 'u';
    const std::uint32_t low = follows ? four_digits() : 0;
    if (!is_half(low, 0xdc00)) refuse("an escape is half of a surrogate pair");
    point = 0x10000 + ((point - 0xd800) << 10) + (low - 0xdc00);
  } else if (is_half(point, 0xdc00)) {
    refuse("an escape is half of a surrogate pair");
  }
  if (point < 0x80) return {static_cast<char>(point)};
  std::string text{};
  const int more = point < 0x800 ? 1 : point < 0x10000 ? 2 : 3; // bytes after the first
  for (int i = more; i >= 0; --i) {
    const std::uint32_t bits = point >> (6 * i);
    const std::uint32_t mark = i < more ? 0x80 : more == 1 ? 0xc0 : more == 2 ? 0xe0 : 0xf0;
    text += static_cast<char>(i < more ? mark | (bits & 0x3f) : mark | bits);
  }
  return text;
}

TWILL_BODY std::string json_quoted(std::string_view text) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string result = "\"";
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      result += {'\\', c};
    else if (c == '\n')
      result += "\\n";
    else if (code < 0x20)
      result += {'\\', 'u', '0', '0', digits[code >> 4], digits[code & 15]};
    else
      result += c;
  }
  return result + '"';
}

}}} // namespace twill::v0::io
