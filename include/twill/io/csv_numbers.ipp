#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of io/csv_numbers.hpp.

#include <twill/io/csv_numbers.hpp>

namespace twill::inline v0::io::detail {

TWILL_BODY bool is_missing_text(std::string_view text) {
  return std::find(missing_texts.begin(), missing_texts.end(), text) != missing_texts.end() || text == "nan" ||
         text == "NaN";
}

TWILL_COLD TWILL_BODY std::string shown(std::string_view text) {
  std::size_t most = most_shown;
  while (most > 0 && most < text.size() && (static_cast<unsigned char>(text[most]) & 0xC0) == 0x80)
    --most; // to the end of a character of UTF-8
  std::string result{text.substr(0, most)};
  for (char& c : result)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = '?';
  return text.size() > most ? result + "..." : result;
}

TWILL_COLD TWILL_BODY std::string place_of(std::string_view text, const CsvOptions& options, const CsvCell& cell) {
  std::string place = join_text({"line ", cell.line, ", column ", cell.column});
  if (!options.has_header) return place;
  CsvCells cells{"", text, options};
  while (cells.next() && cells.cell().column < cell.column && !cells.cell().is_last) {
  }
  CsvCell title = cells.cell();
  title.text = title.text.substr(0, 4 * most_shown); // of which no more than most_shown are shown
  return join_text({place, " ('", shown(title.meant(options.quote)), "')"});
}

TWILL_BODY bool is_close_to_zero(std::string_view number) {
  const std::size_t mark = number.find_first_of("eE");
  const std::string_view digits = number.substr(0, mark);
  std::int64_t exponent = 0;
  if (mark != std::string_view::npos) {
    std::string_view text = number.substr(mark + 1);
    const bool is_negative = text.starts_with('-');
    if (is_negative || text.starts_with('+')) text.remove_prefix(1);
    const auto result = std::from_chars(text.data(), text.data() + text.size(), exponent);
    if (result.ec == std::errc::result_out_of_range) exponent = std::int64_t{1} << 62;
    if (is_negative) exponent = -exponent;
  }
  const std::size_t point = std::min(digits.find('.'), digits.size());
  const std::size_t first = std::min(digits.find_first_of("123456789"), digits.size());
  return exponent + static_cast<std::int64_t>(point) - static_cast<std::int64_t>(first) < 0;
}

} // namespace twill::inline v0::io::detail
