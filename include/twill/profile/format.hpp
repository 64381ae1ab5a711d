#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Text of reports: numbers with a fixed number of digits, percentages, durations and sizes, tables of cells in aligned
// columns, and files to save them to. Pictures and trace documents write their numbers with these as well. Read next:
// profile/device_table.hpp, profile/svg.hpp, profile/trace_events.hpp.

#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/core/text.hpp>
#include <twill/memory/out_of_memory.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace profile {

/// A number with this many digits after the point; never "-0".
[[nodiscard]] std::string fixed(double value, int digits);

/// A share of one in percent: "12.5%"; "-" where it is not known: negative, infinite or NaN.
[[nodiscard]] std::string percent(double share, int digits);

/// A duration in the unit that suits it: "12.3 us", "4.56 ms", "7.89 s".
[[nodiscard]] std::string duration(double seconds);

/// A size in the unit that suits it: "512 B", "1.50 MiB".
using memory::format_bytes;

/// Writes a text to a file; `what` begins the message of an error.    throws: SystemError
void save_text(std::string_view what, const std::string& path, const std::string& text);

/// On which side of a column its texts stand.
enum class Align { left, right };

/// One column of a table.
struct TableColumn {
  std::string title;          ///< in the first line
  Align align = Align::right; ///< numbers stand right
};

/// The number of characters in UTF-8 text.
[[nodiscard]] constexpr std::size_t width_of(std::string_view text) {
  std::size_t width = 0;
  for (const char byte : text) width += (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U ? 1 : 0;
  return width;
}

/// Rows of texts in columns as wide as they need. Widths count characters, not bytes, so names in any script line up.
class Table {
public:
  /// A table without rows.
  explicit Table(std::vector<TableColumn> columns) : columns_{std::move(columns)} {}

  /// Appends a row. throws: ValueError unless there is a cell for each column
  Table& row(std::vector<std::string> cells);

  /// A rule across the table, before the next row.
  Table& rule();

  /// Writes the lines of the table.
  friend std::ostream& operator<<(std::ostream& stream, const Table& table) { return stream << to_string(table); }

  /// The lines of the table, each ending with a newline.
  [[nodiscard]] friend std::string to_string(const Table& table) {
    std::vector<std::size_t> widths;
    std::vector<std::string> titles;
    for (std::size_t column = 0; column < table.columns_.size(); ++column) {
      titles.push_back(table.columns_[column].title);
      widths.push_back(width_of(titles.back()));
      for (const auto& cells : table.rows_)
        if (!cells.empty() && width_of(cells[column]) > widths.back()) widths.back() = width_of(cells[column]);
    }
    std::string text = table.line(titles, widths);
    text += rule_of(widths);
    for (const auto& cells : table.rows_) text += cells.empty() ? rule_of(widths) : table.line(cells, widths);
    return text;
  }

private:
  static constexpr std::string_view gap = "  ";

  [[nodiscard]] std::string line(const std::vector<std::string>& cells, const std::vector<std::size_t>& widths) const;

  [[nodiscard]] static std::string rule_of(const std::vector<std::size_t>& widths);

  std::vector<TableColumn> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}}} // namespace twill::v0::profile

#if TWILL_HEADER_ONLY
#include <twill/profile/format.ipp>
#endif
