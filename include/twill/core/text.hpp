#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Text concatenation for messages: `join_text({"index ", i, " is outside of ", n, " elements"})`. Chains of `+` and
// `std::to_string` are compiled into hundreds of instructions wherever a message can arise; this is one call, and one
// function in a program. Also UTF-8 repair of text of unknown origin, shell patterns for names, and strings as template
// arguments. Read next: core/error.hpp.

#include <twill/core/config.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <string>
#include <string_view>

namespace twill { inline namespace v0 {

/// A number that is written in decimal. Characters and truth values do not count as numbers.
template <class T>
concept DecimalNumber = std::integral<T> && !std::same_as<T, bool> && !std::same_as<T, char>;

/// A piece of text or a number. requires: the text outlives the part
class TextPart {
public:
  constexpr TextPart(std::string_view text) : text_{text.empty() ? "" : text.data()}, size_{text.size()} {}
  constexpr TextPart(const char* text) : TextPart{std::string_view{text}} {}
  constexpr TextPart(const std::string& text) : TextPart{std::string_view{text}} {}
  template <DecimalNumber T> constexpr TextPart(T number) : number_{static_cast<std::uint64_t>(number)} {
    if constexpr (std::signed_integral<T>)
      if (number < 0) {
        number_ = 0 - number_;
        negative_ = true;
      }
  }

  /// The number of characters of the part.
  [[nodiscard]] constexpr std::size_t size() const {
    if (text_ != nullptr) return size_;
    std::size_t characters = negative_ ? 2 : 1;
    for (std::uint64_t rest = number_; rest >= 10; rest /= 10) ++characters;
    return characters;
  }

  /// Writes the characters and returns the position after them.
  char* write(char* to) const;

private:
  const char* text_ = nullptr; ///< null for a number
  std::size_t size_ = 0;
  std::uint64_t number_ = 0; ///< its absolute value
  bool negative_ = false;
};

/// The parts, concatenated.
[[nodiscard]] std::string join_text(std::initializer_list<TextPart> parts);

/// A number in the fewest digits that identify it.
[[nodiscard]] std::string number_text(double number);

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

/// A string as a template argument.
template <std::size_t N> struct FixedString {
  char characters[N]{}; ///< with a zero after the last
  /// Takes a literal, so that `Dim<"batch">` can be written.
  constexpr FixedString(const char (&text)[N]) {
    for (std::size_t i = 0; i < N; ++i) characters[i] = text[i];
  }
  /// The characters, without the final zero.
  [[nodiscard]] constexpr std::string_view view() const { return {characters, N - 1}; }
};

}} // namespace twill::v0

#if TWILL_HEADER_ONLY
#include <twill/core/text.ipp>
#endif
