#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of profile/table.hpp.

#include <twill/profile/table.hpp>

namespace twill { inline namespace v0 { namespace profile {

TWILL_BODY Table& Table::row(std::vector<std::string> cells) {
  if (cells.size() != columns_.size())
    throw ValueError(join_text({"table: a row has ", columns_.size(), " cells, got ", cells.size()}));
  rows_.push_back(std::move(cells));
  return *this;
}

TWILL_BODY Table& Table::rule() {
  rows_.emplace_back();
  return *this;
}

TWILL_BODY std::string Table::line(const std::vector<std::string>& cells,
                                   const std::vector<std::size_t>& widths) const {
  std::string text;
  for (std::size_t column = 0; column < cells.size(); ++column) {
    const std::string padding(widths[column] - width_of(cells[column]), ' ');
    if (column > 0) text += gap;
    text += columns_[column].align == Align::left ? cells[column] + padding : padding + cells[column];
  }
  text.erase(text.find_last_not_of(' ') + 1);
  return text + "\n";
}

TWILL_BODY std::string Table::rule_of(const std::vector<std::size_t>& widths) {
  std::size_t total = 0;
  for (std::size_t column = 0; column < widths.size(); ++column)
    total += widths[column] + (column > 0 ? gap.size() : 0);
  return std::string(total, '-') + "\n";
}

}}} // namespace twill::v0::profile
