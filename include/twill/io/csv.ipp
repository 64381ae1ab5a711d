#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of io/csv.hpp.

#include <twill/io/csv.hpp>

namespace twill::inline v0::io::detail {

TWILL_BODY std::int64_t CsvSource::columns() const {
  CsvCells all_cells = cells();
  if (!all_cells.next()) throw ValueError(join_text({where, " has no rows"}));
  while (!all_cells.cell().is_last && all_cells.next()) {
  }
  return all_cells.cell().column + 1;
}

TWILL_BODY CsvSelection CsvSource::select(const CsvColumns& wanted) const {
  return {where, text, options, columns(), wanted};
}

TWILL_BODY std::vector<std::string> CsvSource::names(const CsvSelection& selection) const {
  std::vector<std::string> result{};
  if (!options.has_header) return result;
  result.resize(static_cast<std::size_t>(selection.count()));
  CsvCells all_cells = cells();
  std::size_t cursor = 0;
  while (all_cells.next()) {
    selection.for_each_place(all_cells.cell().column, cursor, [&](std::int64_t position) {
      result[static_cast<std::size_t>(position)] = all_cells.cell().meant(options.quote);
    });
    if (all_cells.cell().is_last) break;
  }
  return result;
}

TWILL_BODY std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

} // namespace twill::inline v0::io::detail
