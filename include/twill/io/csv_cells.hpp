#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// The cells of a CSV file one after the other, as views into its text: RFC 4180 with another separator where asked for, quotes
// that are doubled inside of quotes, lines that end in \n or \r\n, a byte order mark, empty lines and lines of comment between
// rows. Nothing is stored, so a file takes no memory before somebody keeps what its cells say. Read next: io/csv.hpp.

#include <twill/core/config.hpp>
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
  [[nodiscard]] std::string meant(char quote) const;
  /// Whether the cell says this, in quotes or not.
  [[nodiscard]] bool means(std::string_view wanted, char quote) const;
};

/// Walks through the cells of a text: `while (cells.next()) use(cells.cell());`.
class CsvCells {
public:
  /// `where` begins each message: "read_csv: 'x.csv'". Both views have to last.
  /// throws: ValueError for a separator or quote that cannot be one
  CsvCells(std::string_view where, std::string_view text, const CsvOptions& options);

  /// Goes to the next cell. Returns false behind the last. throws: ValueError for quotes that do not end, or end too early
  [[nodiscard]] bool next();
  /// The cell that `next` went to.
  [[nodiscard]] const CsvCell& cell() const { return cell_; }

private:
  [[nodiscard]] bool is_blank(char c) const { return (c == ' ' || c == '\t') && c != options_.separator; }
  [[nodiscard]] bool ends_line(std::size_t at) const;
  void skip_blanks();
  void skip_line();
  void skip_empty_lines();

  void read_plain();

  void read_quoted();

  std::string_view where_;
  std::string_view text_;
  CsvOptions options_;
  std::size_t at_ = 0;
  std::int64_t line_ = 1;
  CsvCell cell_{};
};

} // namespace twill::inline v0::io

#if TWILL_HEADER_ONLY
#include <twill/io/csv_cells.ipp>
#endif
