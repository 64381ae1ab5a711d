#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of io/csv_cells.hpp.

#include <twill/io/csv_cells.hpp>

namespace twill::inline v0::io {

TWILL_BODY std::string CsvCell::meant(char quote) const {
  if (!has_quotes) return std::string{text};
  std::string result{};
  result.reserve(text.size()); // once: a text may be as long as its file
  for (std::size_t i = 0; i < text.size(); ++i) {
    result += text[i];
    if (text[i] == quote) ++i;
  }
  return result;
}

TWILL_BODY bool CsvCell::means(std::string_view wanted, char quote) const {
  return has_quotes ? meant(quote) == wanted : text == wanted;
}

TWILL_BODY CsvCells::CsvCells(std::string_view where, std::string_view text, const CsvOptions& options)
    : where_{where}, text_{text}, options_{options} {
  const auto ends_line = [](char c) { return c == '\n' || c == '\r'; };
  if (ends_line(options.separator) || ends_line(options.quote) || options.separator == options.quote)
    throw ValueError(join_text({where, ": separator and quote are two characters, neither of which ends a line"}));
  if (text_.starts_with("\xEF\xBB\xBF")) at_ = 3;
  for (std::int64_t i = 0; i < options.skip_lines && at_ < text_.size(); ++i) skip_line();
}

TWILL_BODY bool CsvCells::next() {
  if (cell_.is_last) {
    skip_empty_lines();
    if (at_ == text_.size()) return false;
    cell_.column = 0;
  } else {
    ++cell_.column;
  }
  cell_.line = line_;
  skip_blanks();
  if (at_ < text_.size() && text_[at_] == options_.quote)
    read_quoted();
  else
    read_plain();
  if (at_ < text_.size() && text_[at_] == options_.separator) {
    ++at_;
    cell_.is_last = false;
  } else {
    skip_line(); // whose rest is its end
    cell_.is_last = true;
  }
  return true;
}

TWILL_BODY bool CsvCells::ends_line(std::size_t at) const {
  return at == text_.size() || text_[at] == '\n' ||
         (text_[at] == '\r' && (at + 1 == text_.size() || text_[at + 1] == '\n'));
}

TWILL_BODY void CsvCells::skip_blanks() {
  while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
}

TWILL_BODY void CsvCells::skip_line() {
  const std::size_t end = text_.find('\n', at_);
  at_ = end == std::string_view::npos ? text_.size() : end + 1;
  ++line_;
}

TWILL_BODY void CsvCells::skip_empty_lines() {
  while (at_ < text_.size()) {
    const std::size_t begin = at_;
    skip_blanks();
    const bool is_comment = options_.comment != '\0' && at_ < text_.size() && text_[at_] == options_.comment;
    if (!is_comment && !ends_line(at_)) {
      at_ = begin;
      return;
    }
    skip_line();
  }
}

TWILL_BODY void CsvCells::read_plain() {
  const std::size_t begin = at_;
  while (!ends_line(at_) && text_[at_] != options_.separator) ++at_;
  std::size_t end = at_;
  while (end > begin && is_blank(text_[end - 1])) --end;
  cell_.text = text_.substr(begin, end - begin);
  cell_.is_quoted = cell_.has_quotes = false;
}

TWILL_BODY void CsvCells::read_quoted() {
  const std::size_t begin = ++at_;
  cell_.is_quoted = true;
  cell_.has_quotes = false;
  for (;; ++at_) {
    if (at_ == text_.size())
      throw ValueError(
          join_text({where_, ", line ", cell_.line, ", column ", cell_.column, ": the quotes do not end"}));
    line_ += text_[at_] == '\n';
    if (text_[at_] != options_.quote) continue;
    if (at_ + 1 == text_.size() || text_[at_ + 1] != options_.quote) break;
    cell_.has_quotes = true;
    ++at_;
  }
  cell_.text = text_.substr(begin, at_ - begin);
  ++at_;
  skip_blanks();
  if (!ends_line(at_) && text_[at_] != options_.separator)
    throw ValueError(join_text(
        {where_, ", line ", line_, ", column ", cell_.column, ": there is more behind the quotes than a separator"}));
}

} // namespace twill::inline v0::io
