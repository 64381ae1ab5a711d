#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Text concatenation for messages: `join_text({"index ", i, " is outside of ", n, " elements"})`. Chains of `+` and
// `std::to_string` are compiled into hundreds of instructions wherever a message can arise; this is one call, and one
// function in a program. Read next: core/error.hpp.

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

}} // namespace twill::v0

#if TWILL_HEADER_ONLY
#include <twill/core/text.ipp>
#endif
