// SPDX-License-Identifier: Apache-2.0

#include "ptxrun/text.hpp"

#include <array>

namespace ptxrun {

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  std::size_t begin = 0;
  int depth = 0;
  for (std::size_t n = 0; n < text.size(); ++n) {
    const char c = text[n];
    if (c == '{' || c == '[' || c == '(') ++depth;
    if (c == '}' || c == ']' || c == ')') --depth;
    if (c != separator || depth != 0) continue;
    parts.push_back(trim(text.substr(begin, n - begin)));
    begin = n + 1;
  }
  if (const std::string_view last = trim(text.substr(begin)); !last.empty()) parts.push_back(last);
  return parts;
}

std::string_view take_word(std::string_view& text) {
  text = trim(text);
  std::size_t end = 0;
  while (end < text.size() && !is_space(text[end])) ++end;
  const std::string_view word = text.substr(0, end);
  text = trim(text.substr(end));
  return word;
}

std::size_t find_closing(std::string_view text, std::size_t open) {
  const char opening = text[open], closing = opening == '(' ? ')' : opening == '[' ? ']' : '}';
  int depth = 0;
  for (std::size_t n = open; n < text.size(); ++n) {
    if (text[n] == opening) ++depth;
    if (text[n] == closing && --depth == 0) return n;
  }
  return text.size();
}

std::optional<std::uint64_t> to_integer(std::string_view text) {
  const bool negative = !text.empty() && text.front() == '-';
  if (negative) text.remove_prefix(1);
  if (!text.empty() && text.back() == 'U') text.remove_suffix(1);
  if (text.empty() || text.front() < '0' || text.front() > '9') return std::nullopt;
  int base = 10;
  if (text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) base = 16;
  if (text.size() > 2 && text[0] == '0' && (text[1] == 'b' || text[1] == 'B')) base = 2;
  if (base != 10)
    text.remove_prefix(2);
  else if (text.size() > 1 && text[0] == '0')
    base = 8;
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return negative ? std::uint64_t{0} - value : value;
}

std::string hexadecimal(std::uint64_t value) {
  std::array<char, 16> digits{};
  const auto result = std::to_chars(digits.data(), digits.data() + digits.size(), value, 16);
  return "0x" + std::string{digits.data(), result.ptr};
}

} // namespace ptxrun
