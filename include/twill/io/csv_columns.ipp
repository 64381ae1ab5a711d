#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of io/csv_columns.hpp.

#include <twill/io/csv_columns.hpp>

namespace twill::inline v0::io {

TWILL_BODY CsvColumns CsvColumns::range(std::int64_t first, std::int64_t end) {
  CsvColumns columns{};
  columns.first_ = first;
  columns.end_ = end;
  columns.has_end_ = true;
  return columns;
}

TWILL_BODY std::int64_t CsvColumns::end(std::int64_t columns) const {
  return has_end_ ? std::max(bound(end_, columns), first(columns)) : columns;
}

TWILL_BODY std::int64_t CsvColumns::bound(std::int64_t number, std::int64_t columns) {
  return std::clamp<std::int64_t>(number < 0 ? number + columns : number, 0, columns);
}

} // namespace twill::inline v0::io

namespace twill::inline v0::io::detail {

TWILL_BODY CsvSelection::CsvSelection(std::string_view where, std::string_view text, const CsvOptions& options,
                                      std::int64_t columns, const CsvColumns& wanted)
    : first_{wanted.first(columns)}, end_{wanted.end(columns)}, is_range_{wanted.is_range()} {
  for (const CsvColumn& column : wanted.list()) {
    const auto position = static_cast<std::int64_t>(places_.size());
    places_.emplace_back(column.is_named() ? find(where, text, options, column.name())
                                           : checked(where, columns, column.number()),
                         position);
  }
  std::sort(places_.begin(), places_.end());
}

TWILL_BODY std::int64_t CsvSelection::count() const {
  return is_range_ ? end_ - first_ : static_cast<std::int64_t>(places_.size());
}

TWILL_BODY std::int64_t CsvSelection::checked(std::string_view where, std::int64_t columns, std::int64_t number) {
  if (number < -columns || number >= columns)
    throw ValueError(join_text({where, ": there is no column ", number, ", the file has ", columns}));
  return number < 0 ? number + columns : number;
}

TWILL_BODY std::int64_t CsvSelection::find(std::string_view where, std::string_view text, const CsvOptions& options,
                                           const std::string& name) {
  if (!options.has_header)
    throw ValueError(join_text({where, ": column '", name, "' is asked for by name, the file has no header"}));
  CsvCells cells{where, text, options};
  std::int64_t found = -1;
  do {
    if (!cells.next()) break;
    if (!cells.cell().means(name, options.quote)) continue;
    if (found >= 0)
      throw ValueError(
          join_text({where, ": columns ", found, " and ", cells.cell().column, " are both named '", name, "'"}));
    found = cells.cell().column;
  } while (!cells.cell().is_last);
  if (found < 0) throw ValueError(join_text({where, ": there is no column named '", name, "'"}));
  return found;
}

} // namespace twill::inline v0::io::detail
