#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of io/csv.hpp.

#include <twill/io/csv.hpp>

#include <map>

namespace twill { inline namespace v0 { namespace io {

TWILL_BODY CsvColumns CsvColumns::range(std::int64_t first, std::int64_t end) {
  CsvColumns columns{};
  columns.first = first;
  columns.end = end;
  return columns;
}

namespace detail {

/// The cells of a text one after the other. Nothing is stored.
class CsvCells {
public:
  /// throws: ValueError for a separator or quote that cannot be one
  explicit CsvCells(const CsvSource& source) : source_{source}, text_{source.text} {
    const auto ends_line = [](char c) { return c == '\n' || c == '\r'; };
    const char separator = source.options.separator;
    const char quote = source.options.quote;
    if (ends_line(separator) || ends_line(quote) || separator == quote)
      throw ValueError(
          join_text({source.where, ": separator and quote are two characters, neither of which ends a line"}));
    if (text_.starts_with("\xEF\xBB\xBF")) at_ = 3; // a byte order mark
    for (std::int64_t i = 0; i < source.options.skip_lines && at_ < text_.size(); ++i) skip_line();
  }

  /// Goes to the next cell. Returns false after the last. throws: ValueError for quotes that do not end, or end too
  /// early
  bool next() {
    if (cell_.is_last) skip_empty_lines();
    if (cell_.is_last && at_ == text_.size()) return false;
    cell_ = {.line = line_, .column = cell_.is_last ? 0 : cell_.column + 1};
    skip_blanks();
    if (at_ < text_.size() && text_[at_] == source_.options.quote)
      read_quoted();
    else
      read_plain();
    cell_.is_last = at_ == text_.size() || text_[at_] != source_.options.separator;
    if (cell_.is_last)
      skip_line();
    else
      ++at_;
    return true;
  }
  [[nodiscard]] const CsvCell& cell() const { return cell_; }

private:
  [[nodiscard]] bool is_blank(std::size_t at) const {
    return (text_[at] == ' ' || text_[at] == '\t') && text_[at] != source_.options.separator;
  }
  [[nodiscard]] bool ends_line(std::size_t at) const {
    return at == text_.size() || text_[at] == '\n' ||
           (text_[at] == '\r' && (at + 1 == text_.size() || text_[at + 1] == '\n'));
  }
  [[nodiscard]] bool ends_cell(std::size_t at) const { return ends_line(at) || text_[at] == source_.options.separator; }

  void skip_blanks() {
    while (at_ < text_.size() && is_blank(at_)) ++at_;
  }
  void skip_line() {
    const std::size_t end = text_.find('\n', at_);
    at_ = end == std::string_view::npos ? text_.size() : end + 1;
    ++line_;
  }
  /// Comments too.
  void skip_empty_lines() {
    while (at_ < text_.size()) {
      const std::size_t begin = at_;
      skip_blanks();
      const char comment = source_.options.comment;
      const bool is_comment = comment != '\0' && at_ < text_.size() && text_[at_] == comment;
      if (!is_comment && !ends_line(at_)) {
        at_ = begin;
        return;
      }
      skip_line();
    }
  }

  void read_plain() {
    const std::size_t begin = at_;
    while (!ends_cell(at_)) ++at_;
    std::size_t end = at_;
    while (end > begin && is_blank(end - 1)) --end;
    cell_.text = text_.substr(begin, end - begin);
  }
  void read_quoted() {
    const std::size_t begin = ++at_;
    for (;; ++at_) {
      if (at_ == text_.size()) refuse(cell_.line, "the quotes are not closed");
      line_ += text_[at_] == '\n';
      if (text_[at_] != source_.options.quote) continue;
      if (at_ + 1 == text_.size() || text_[at_ + 1] != source_.options.quote) break;
      cell_.has_quotes = true;
      ++at_;
    }
    cell_.text = text_.substr(begin, at_ - begin);
    ++at_;
    skip_blanks();
    if (!ends_cell(at_)) refuse(line_, "text follows the closing quote");
  }
  [[noreturn]] void refuse(std::int64_t line, std::string_view why) const {
    throw ValueError(join_text({source_.where, ", line ", line, ", column ", cell_.column + 1, ": ", why}));
  }

  CsvSource source_;
  std::string_view text_;
  std::size_t at_ = 0;
  std::int64_t line_ = 1;
  CsvCell cell_{};
};

/// Calls `use(cell)` for each cell of the first row. Returns their number. throws: ValueError for a file without rows
template <class Use> std::int64_t for_each_header_cell(const CsvSource& source, Use&& use) {
  CsvCells cells{source};
  if (!cells.next()) throw ValueError(join_text({source.where, " has no rows"}));
  for (use(cells.cell()); !cells.cell().is_last; use(cells.cell())) cells.next();
  return cells.cell().column + 1;
}

/// The beginning of a text, as far as it fits into a message, without control characters.
TWILL_COLD TWILL_BODY std::string shown(std::string_view text) {
  std::size_t most = 40;
  while (most > 0 && most < text.size() && (static_cast<unsigned char>(text[most]) & 0xC0) == 0x80)
    --most; // to the end of a character of UTF-8
  std::string result{text.substr(0, most)};
  for (char& c : result)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = '?';
  return text.size() > most ? result + "..." : result;
}

/// A name of the header, in quotes.
TWILL_COLD TWILL_BODY std::string shown_name(const CsvSource& source, CsvCell header) {
  header.text = header.text.substr(0, 160); // more than is shown
  return join_text({"'", shown(header.unquoted(source.options.quote)), "'"});
}

/// throws: ValueError, "csv, line 3, column 2 ('width'): 'abc' is not a number"
[[noreturn]] TWILL_COLD TWILL_BODY void refuse_cell(const CsvSource& source, const CsvCell& cell,
                                                    std::string_view why) {
  std::string name{};
  if (source.options.has_header)
    for_each_header_cell(source, [&](const CsvCell& header) {
      if (header.column == cell.column) name = join_text({" (", shown_name(source, header), ")"});
    });
  throw ValueError(join_text(
      {source.where, ", line ", cell.line, ", column ", cell.column + 1, name, ": '", shown(cell.text), "' is ", why}));
}

TWILL_BODY std::string CsvCell::unquoted(char quote) const {
  if (!has_quotes) return std::string{text};
  std::string result{};
  result.reserve(text.size()); // once: a text may be as long as its file
  for (std::size_t i = 0; i < text.size(); ++i) {
    result += text[i];
    if (text[i] == quote) ++i;
  }
  return result;
}

TWILL_BODY std::int64_t for_each_cell(const CsvSource& source,
                                      const std::function<void(const CsvCell&, std::int64_t)>& use) {
  const std::int64_t width = for_each_header_cell(source, [](const CsvCell&) {});
  std::int64_t row = source.options.has_header ? -1 : 0;
  for (CsvCells cells{source}; cells.next();) {
    const CsvCell& cell = cells.cell();
    if (row >= 0) use(cell, row);
    if (!cell.is_last) continue;
    if (cell.column + 1 != width)
      throw ValueError(join_text({source.where, ", line ", cell.line, " ends after ", cell.column + 1,
                                  cell.column == 0 ? " column" : " columns", ", the first row has ", width}));
    ++row;
  }
  return row;
}

TWILL_BODY std::string names_in_header(const CsvSource& source, std::int64_t columns) {
  constexpr std::int64_t most = 20;
  std::string text{};
  for_each_header_cell(source, [&](const CsvCell& cell) {
    if (cell.column < most) text += join_text({cell.column == 0 ? "" : ", ", shown_name(source, cell)});
  });
  if (columns > most) text += join_text({" and ", columns - most, " more"});
  return text;
}

TWILL_BODY CsvSelection::CsvSelection(const CsvSource& source, const CsvColumns& wanted) : is_range_{wanted.is_range} {
  const std::int64_t columns = for_each_header_cell(source, [](const CsvCell&) {});
  const auto bound = [&](std::int64_t n) { return std::clamp<std::int64_t>(n < 0 ? n + columns : n, 0, columns); };
  first_ = bound(wanted.first);
  end_ = std::max(bound(wanted.end), first_);
  for (const CsvColumn& column : wanted.list) {
    std::int64_t found = column.number < 0 ? column.number + columns : column.number;
    if (column.is_named) {
      found = -1;
      if (!source.options.has_header)
        throw ValueError(
            join_text({source.where, ": column '", column.name, "' is chosen by name, but the file has no header"}));
      for_each_header_cell(source, [&](const CsvCell& cell) {
        if ((cell.has_quotes ? cell.unquoted(source.options.quote) : cell.text) != column.name) return;
        if (found >= 0)
          throw ValueError(
              join_text({source.where, ": columns ", found + 1, " and ", cell.column + 1, " are both named '",
                         column.name, "'; choose one by its number, ", found, " or ", cell.column}));
        found = cell.column;
      });
      if (found < 0)
        throw ValueError(join_text({source.where, ": there is no column named '", column.name,
                                    "'; there are: ", names_in_header(source, columns)}));
    }
    if (found < 0 || found >= columns)
      throw ValueError(join_text({source.where, ": there is no column number ", column.number, "; the file has ",
                                  columns, " columns, whose numbers are 0 to ", columns - 1}));
    places_.emplace_back(found, static_cast<std::int64_t>(places_.size()));
  }
  std::sort(places_.begin(), places_.end());
}

TWILL_BODY std::int64_t CsvSelection::count() const {
  return is_range_ ? end_ - first_ : static_cast<std::int64_t>(places_.size());
}

TWILL_BODY std::vector<std::string> CsvSelection::names(const CsvSource& source) const {
  std::vector<std::string> result{};
  if (!source.options.has_header) return result;
  result.resize(static_cast<std::size_t>(count()));
  for_each_header_cell(source, [&](const CsvCell& cell) {
    for_each_position(cell.column, [&](std::int64_t position) {
      result[static_cast<std::size_t>(position)] = cell.unquoted(source.options.quote);
    });
  });
  return result;
}

TWILL_BODY bool is_missing_text(std::string_view text) {
  constexpr std::string_view missing[]{"", "NA", "N/A", "<NA>", "NULL", "null", "None", "NaN", "nan"};
  return std::find(std::begin(missing), std::end(missing), text) != std::end(missing);
}

TWILL_BODY bool is_close_to_zero(std::string_view number) {
  // exponent + (place of the point) - (place of the first digit that is not 0) < 0
  const std::size_t mark = std::min(number.find_first_of("eE"), number.size());
  const std::string_view digits = number.substr(0, mark);
  std::string_view power = number.substr(std::min(mark + 1, number.size()));
  const bool is_negative = power.starts_with('-');
  if (is_negative || power.starts_with('+')) power.remove_prefix(1);
  std::int64_t exponent = 0;
  const auto result = std::from_chars(power.data(), power.data() + power.size(), exponent);
  if (result.ec == std::errc::result_out_of_range) exponent = std::int64_t{1} << 62;
  const std::size_t point = std::min(digits.find('.'), digits.size());
  const std::size_t first = std::min(digits.find_first_of("123456789"), digits.size());
  return (is_negative ? -exponent : exponent) + static_cast<std::int64_t>(point) - static_cast<std::int64_t>(first) < 0;
}

TWILL_COLD TWILL_BODY void refuse_missing(const CsvSource& source, const CsvCell& cell, DType dtype) {
  if (source.options.missing == MissingValues::as_nan)
    refuse_cell(source, cell, join_text({"a missing value, for which ", name(dtype), " has no NaN"}));
  refuse_cell(source, cell, "a missing value; CsvOptions::missing = as_nan reads it as NaN");
}

TWILL_COLD TWILL_BODY void refuse_number(const CsvSource& source, const CsvCell& cell, DType dtype, std::errc error) {
  const std::string_view type = name(dtype);
  if (error == std::errc::result_out_of_range) refuse_cell(source, cell, join_text({"outside the range of ", type}));
  refuse_cell(source, cell, join_text({"not a number of type ", type}));
}

} // namespace detail

TWILL_BODY CsvLabels parse_csv_labels(std::string_view where, std::string_view text, const CsvColumn& column,
                                      std::vector<std::string> classes, const CsvOptions& options) {
  const detail::CsvSource source{where, text, options};
  const detail::CsvSelection selection{source, {column}};
  std::map<std::string, std::int64_t, std::less<>> numbers{};
  for (const std::string& name : classes)
    if (!numbers.emplace(name, numbers.size()).second)
      throw ValueError(join_text({where, ": class '", detail::shown(name), "' is given twice"}));
  const bool is_given = !classes.empty();
  const std::size_t most =
      options.max_labels > 0 ? static_cast<std::size_t>(options.max_labels) : 4096 + text.size() / 256;
  // Calls `use(cell, row, label)` for each cell of the column; the label is a place among `numbers`.
  const auto for_each_label = [&](auto&& use) {
    return detail::for_each_cell(source, [&](const detail::CsvCell& cell, std::int64_t row) {
      selection.for_each_position(cell.column, [&](std::int64_t) {
        const auto label = cell.has_quotes ? numbers.find(cell.unquoted(options.quote)) : numbers.find(cell.text);
        use(cell, row, label); // after the end of the unquoted text, which may be as long as the file
      });
    });
  };
  const std::int64_t rows = for_each_label([&](const detail::CsvCell& cell, std::int64_t row, auto label) {
    if (label != numbers.end()) return;
    if (detail::is_missing_text(cell.text)) { // unless it is a class, as "None" may be
      if (options.missing == MissingValues::as_nan) return;
      detail::refuse_cell(source, cell, "a missing value; CsvOptions::missing = as_nan reads it as io::missing_label");
    }
    if (is_given) detail::refuse_cell(source, cell, join_text({"none of the ", classes.size(), " classes given"}));
    if (numbers.size() >= most)
      detail::refuse_cell(source, cell,
                          join_text({"one of too many distinct labels (", most + 1, " in ", row + 1,
                                     " rows); raise CsvOptions::max_labels if these are classes"}));
    numbers.emplace(cell.unquoted(options.quote), numbers.size());
  });
  CsvLabels result{};
  result.labels.reserve(static_cast<std::size_t>(rows));
  const auto changed = [&] { return ValueError(join_text({where, " changed while it was read"})); };
  for_each_label([&](const detail::CsvCell& cell, std::int64_t row, auto label) {
    const bool is_known = label != numbers.end();
    if (row >= rows || (!is_known && !detail::is_missing_text(cell.text))) throw changed();
    result.labels.push_back(is_known ? label->second : missing_label);
  });
  if (result.labels.size() != static_cast<std::size_t>(rows)) throw changed();
  result.classes = std::move(classes);
  result.classes.resize(numbers.size());
  while (!is_given && !numbers.empty()) {
    auto node = numbers.extract(numbers.begin());
    result.classes[static_cast<std::size_t>(node.mapped())] = std::move(node.key());
  }
  return result;
}

TWILL_BODY CsvLabels read_csv_labels(const std::string& path, const CsvColumn& column, std::vector<std::string> classes,
                                     const CsvOptions& options) {
  const MappedFile file{path};
  return parse_csv_labels(join_text({"read_csv_labels: '", path, "'"}), file.text(), column, std::move(classes),
                          options);
}

}}} // namespace twill::v0::io
