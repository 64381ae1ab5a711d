#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// The cells of a CSV file one after the other, as views into its text: RFC 4180 with another separator where asked for, quotes
// that are doubled inside of quotes, lines that end in \n or \r\n, a byte order mark, empty lines and lines of comment between
// rows. Nothing is stored, so a file takes no memory before somebody keeps what its cells say. Read next: io/csv.hpp.

#include <twill/core/error.hpp>
#include <twill/core/text.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace twill::inline v0::io {

/// What becomes of a cell that is empty, says NA, N/A, NULL, null, None, or NaN.
enum class MissingValues {
  refuse, ///< An error that names line and column.
  as_nan, ///< NaN; element types without NaN are an error. Among labels of classes `missing_label`.
};

/// How a text file of a table is written.
struct CsvOptions {
  char separator = ',';                          ///< between two cells of a line
  char quote = '"';                              ///< around cells that hold a separator or the end of a line
  bool has_header = true;                        ///< The first row has names instead of numbers.
  char comment = '\0';                           ///< Lines that begin with it are passed over; '\0' for none.
  std::int64_t skip_lines = 0;                   ///< Lines before the first row, whatever they hold.
  MissingValues missing = MissingValues::refuse; ///< what an empty cell becomes
};

/// One cell of a file.
struct CsvCell {
  std::string_view text{}; ///< without the quotes around it and without blanks beside them
  bool is_quoted = false;  ///< whether it stood in quotes
  bool has_quotes = false; ///< doubled ones, inside
  bool is_last = true;     ///< of its row
  std::int64_t line = 0;   ///< where it begins, from 1
  std::int64_t column = 0; ///< from 0

  /// The text as it was meant: doubled quotes are one.
  [[nodiscard]] std::string meant(char quote) const {
    if (!has_quotes) return std::string{text};
    std::string result{};
    result.reserve(text.size()); // once: a text may be as long as its file
    for (std::size_t i = 0; i < text.size(); ++i) {
      result += text[i];
      if (text[i] == quote) ++i;
    }
    return result;
  }
  /// Whether the cell says this, in quotes or not.
  [[nodiscard]] bool means(std::string_view wanted, char quote) const {
    return has_quotes ? meant(quote) == wanted : text == wanted;
  }
};

/// Walks through the cells of a text: `while (cells.next()) use(cells.cell());`.
class CsvCells {
public:
  /// `where` begins each message: "read_csv: 'x.csv'". Both views have to last.
  /// throws: ValueError for a separator or quote that cannot be one
  CsvCells(std::string_view where, std::string_view text, const CsvOptions& options)
      : where_{where}, text_{text}, options_{options} {
    const auto ends_line = [](char c) { return c == '\n' || c == '\r'; };
    if (ends_line(options.separator) || ends_line(options.quote) || options.separator == options.quote)
      throw ValueError(join_text({where, ": separator and quote are two characters, neither of which ends a line"}));
    if (text_.starts_with("\xEF\xBB\xBF")) at_ = 3;
    for (std::int64_t i = 0; i < options.skip_lines && at_ < text_.size(); ++i) skip_line();
  }

  /// Goes to the next cell. Returns false behind the last. throws: ValueError for quotes that do not end, or end too early
  [[nodiscard]] bool next() {
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
  /// The cell that `next` went to.
  [[nodiscard]] const CsvCell& cell() const { return cell_; }

private:
  [[nodiscard]] bool is_blank(char c) const { return (c == ' ' || c == '\t') && c != options_.separator; }
  [[nodiscard]] bool ends_line(std::size_t at) const {
    return at == text_.size() || text_[at] == '\n' ||
           (text_[at] == '\r' && (at + 1 == text_.size() || text_[at + 1] == '\n'));
  }
  void skip_blanks() {
    while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
  }
  void skip_line() {
    const std::size_t end = text_.find('\n', at_);
    at_ = end == std::string_view::npos ? text_.size() : end + 1;
    ++line_;
  }
  void skip_empty_lines() {
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

  void read_plain() {
    const std::size_t begin = at_;
    while (!ends_line(at_) && text_[at_] != options_.separator) ++at_;
    std::size_t end = at_;
    while (end > begin && is_blank(text_[end - 1])) --end;
    cell_.text = text_.substr(begin, end - begin);
    cell_.is_quoted = cell_.has_quotes = false;
  }

  void read_quoted() {
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

  std::string_view where_;
  std::string_view text_;
  CsvOptions options_;
  std::size_t at_ = 0;
  std::int64_t line_ = 1;
  CsvCell cell_{};
};

} // namespace twill::inline v0::io
