#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of profile/format.hpp.

#include <twill/profile/format.hpp>

namespace twill { inline namespace v0 { namespace profile {

TWILL_BODY std::string fixed(double value, int digits) {
  char text[340]; // the largest double has 309 digits
  std::snprintf(text, sizeof text, "%.*f", digits, value == 0 ? 0.0 : value);
  return text;
}

TWILL_BODY std::string percent(double share, int digits) {
  return share >= 0 && std::isfinite(share) ? fixed(100 * share, digits) + "%" : "-";
}

TWILL_BODY std::string duration(double seconds) {
  if (seconds < 0.99995e-3) return fixed(1e6 * seconds, 1) + " us";
  if (seconds < 0.99995) return fixed(1e3 * seconds, 2) + " ms";
  return fixed(seconds, 2) + " s";
}

TWILL_BODY void save_text(std::string_view what, const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  if (!file.flush()) throw SystemError(join_text({what, ": cannot write ", path}));
}

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
