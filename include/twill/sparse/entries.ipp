#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of sparse/entries.hpp.

#include <twill/core/error.hpp>
#include <twill/core/text.hpp>
#include <twill/sparse/entries.hpp>

#include <algorithm>

namespace twill { inline namespace v0 { namespace sparse {

TWILL_BODY Sorted sorted_entries(std::string_view where, const Dims& shape, const std::vector<std::int64_t>& rows,
                                 const std::vector<std::int64_t>& columns) {
  if (rows.size() != columns.size())
    throw ShapeError(
        join_text({where, ": there are ", rows.size(), " row indices and ", columns.size(), " column indices"}));
  if (shape.rank != 2 || shape[0] < 0 || shape[1] < 0)
    throw ShapeError(join_text({where, ": a matrix has rows and columns, the shape is ", to_string(shape)}));
  Sorted sorted{std::vector<std::int64_t>(static_cast<std::size_t>(shape[0]) + 1, 0),
                std::vector<std::int64_t>(rows.size())};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i] < 0 || rows[i] >= shape[0] || columns[i] < 0 || columns[i] >= shape[1])
      throw IndexError(join_text({where, ": entry ", i, " is at (", rows[i], ", ", columns[i],
                                  "), outside of a matrix of shape ", to_string(shape)}));
    ++sorted.row_offsets[static_cast<std::size_t>(rows[i]) + 1];
  }
  for (std::size_t r = 1; r < sorted.row_offsets.size(); ++r) sorted.row_offsets[r] += sorted.row_offsets[r - 1];
  std::vector<std::int64_t> next(sorted.row_offsets.begin(), sorted.row_offsets.end() - 1);
  for (std::size_t i = 0; i < rows.size(); ++i)
    sorted.order[static_cast<std::size_t>(next[static_cast<std::size_t>(rows[i])]++)] = static_cast<std::int64_t>(i);
  const auto before = [&](std::int64_t i, std::int64_t j) {
    return columns[static_cast<std::size_t>(i)] < columns[static_cast<std::size_t>(j)];
  };
  for (std::size_t r = 0; r + 1 < sorted.row_offsets.size(); ++r) {
    const auto begin = sorted.order.begin() + sorted.row_offsets[r];
    const auto end = sorted.order.begin() + sorted.row_offsets[r + 1];
    if (!std::is_sorted(begin, end, before)) std::stable_sort(begin, end, before);
  }
  return sorted;
}

TWILL_BODY std::vector<std::int64_t> rows_of_entries(const std::vector<std::int64_t>& row_offsets) {
  std::vector<std::int64_t> rows{};
  if (row_offsets.empty()) return rows;
  rows.reserve(static_cast<std::size_t>(row_offsets.back()));
  for (std::size_t r = 0; r + 1 < row_offsets.size(); ++r)
    rows.insert(rows.end(), static_cast<std::size_t>(row_offsets[r + 1] - row_offsets[r]),
                static_cast<std::int64_t>(r));
  return rows;
}

}}} // namespace twill::v0::sparse
