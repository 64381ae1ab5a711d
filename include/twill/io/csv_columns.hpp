#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Which columns of a CSV file are wanted, by name or by number, and where each goes in a row of what is read. Numbers count from
// 0, those below 0 from the end; the same column may be wanted twice. Read next: io/csv.hpp.

#include <twill/core/config.hpp>
#include <twill/io/csv_cells.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace twill::inline v0::io {

/// One column: `"width"`, `0`, or `-1` for the last.
class CsvColumn {
public:
  /// By the name in the header.
  CsvColumn(std::string name) : name_{std::move(name)}, is_named_{true} {}
  CsvColumn(const char* name) : CsvColumn{std::string{name}} {}
  /// By number, from 0; negative numbers count from the last.
  template <std::integral I> CsvColumn(I number) : number_{static_cast<std::int64_t>(number)} {}

  /// Whether it is given by name.
  [[nodiscard]] bool is_named() const { return is_named_; }
  /// The name; empty where it is given by number.
  [[nodiscard]] const std::string& name() const { return name_; }
  /// The number, where it has no name.
  [[nodiscard]] std::int64_t number() const { return number_; }

private:
  std::string name_{};
  std::int64_t number_ = 0;
  bool is_named_ = false;
};

/// Several columns: all of them, a list `{"width", "height"}`, or `CsvColumns::range(0, -1)`.
class CsvColumns {
public:
  CsvColumns() = default; ///< all
  /// These columns, in this order.
  CsvColumns(std::initializer_list<CsvColumn> columns) : list_{columns}, is_range_{false} {}
  CsvColumns(std::vector<CsvColumn> columns) : list_{std::move(columns)}, is_range_{false} {}

  /// The columns first, ..., end - 1, as NumPy's slices count.
  [[nodiscard]] static CsvColumns range(std::int64_t first, std::int64_t end);

  /// Whether they are all columns from one to another.
  [[nodiscard]] bool is_range() const { return is_range_; }
  /// The columns, where they are not a range.
  [[nodiscard]] const std::vector<CsvColumn>& list() const { return list_; }
  /// The first column of a range, of so many there are.
  [[nodiscard]] std::int64_t first(std::int64_t columns) const { return bound(first_, columns); }
  [[nodiscard]] std::int64_t end(std::int64_t columns) const;

private:
  [[nodiscard]] static std::int64_t bound(std::int64_t number, std::int64_t columns);

  std::vector<CsvColumn> list_{};
  std::int64_t first_ = 0;
  std::int64_t end_ = 0;
  bool has_end_ = false;
  bool is_range_ = true;
};

} // namespace twill::inline v0::io

namespace twill::inline v0::io::detail {

/// Where the columns of one file go in a row of what is read.
class CsvSelection {
public:
  CsvSelection() = default;
  /// throws: ValueError, `where` first, for a column that is not there, or a name that two columns have
  CsvSelection(std::string_view where, std::string_view text, const CsvOptions& options, std::int64_t columns,
               const CsvColumns& wanted);

  /// How many columns are wanted.
  [[nodiscard]] std::int64_t count() const;

  /// The column that is wanted alone. requires: a list of one
  [[nodiscard]] std::int64_t only() const { return places_.front().first; }

  /// Calls `f(position)` for each place that wants this column. `cursor` is 0 at a row's start and belongs to the caller.
  template <class F> void for_each_place(std::int64_t column, std::size_t& cursor, F&& f) const {
    if (is_range_) {
      if (column >= first_ && column < end_) f(column - first_);
      return;
    }
    for (; cursor < places_.size() && places_[cursor].first == column; ++cursor) f(places_[cursor].second);
  }

private:
  [[nodiscard]] static std::int64_t checked(std::string_view where, std::int64_t columns, std::int64_t number);
  [[nodiscard]] static std::int64_t find(std::string_view where, std::string_view text, const CsvOptions& options,
                                         const std::string& name);

  std::vector<std::pair<std::int64_t, std::int64_t>> places_{}; ///< columns of the file and positions, sorted
  std::int64_t first_ = 0;
  std::int64_t end_ = 0;
  bool is_range_ = true;
};

} // namespace twill::inline v0::io::detail

#if TWILL_HEADER_ONLY
#include <twill/io/csv_columns.ipp>
#endif
