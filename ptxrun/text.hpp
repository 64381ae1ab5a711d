#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Text tools of the parser: trimming, splitting outside brackets, numbers as PTX writes them, and the error of a text that holds
// something unknown.

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace ptxrun {

/// The text holds an instruction, type or directive that the interpreter does not know.
struct ParseError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

[[nodiscard]] constexpr bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

[[nodiscard]] constexpr bool is_identifier(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || c == '%';
}

[[nodiscard]] constexpr std::string_view trim(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

/// The parts between separators that stand outside all brackets, trimmed.
[[nodiscard]] std::vector<std::string_view> split(std::string_view text, char separator);

/// The first word, which is taken from `text` together with the spaces after it.
std::string_view take_word(std::string_view& text);

/// Where the bracket at `open` closes, or the text's size.
[[nodiscard]] std::size_t find_closing(std::string_view text, std::size_t open);

/// A decimal, hexadecimal, octal or binary integer with an optional sign and `U`, by its 64 bits.
[[nodiscard]] std::optional<std::uint64_t> to_integer(std::string_view text);

/// `value` in hexadecimal with its prefix.
[[nodiscard]] std::string hexadecimal(std::uint64_t value);

} // namespace ptxrun
