#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Structure of CSR matrices (compressed sparse rows) in a host's memory: row r holds the entries from row_offsets[r] up
// to row_offsets[r + 1], each with a column index. A model may compute offsets and indices, so nothing outside of the
// arrays is read for any numbers: offsets are clamped, and entries outside of the columns count as absent. Read next:
// sparse/products.hpp.

#include <twill/core/config.hpp>
#include <twill/device/cpu/team.hpp>
#include <twill/kernel/blocks.hpp>

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace twill { inline namespace v0 { namespace sparse {

/// The entries of one row, as a range of places in the arrays of a matrix.
struct Entries {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

/// The structure of a stack of CSR matrices of one shape and one number of entries.
struct Structure {
  std::int64_t count = 1;                       ///< of matrices
  std::int64_t rows = 0;                        ///< of each
  std::int64_t columns = 0;                     ///< of each
  std::int64_t entries = 0;                     ///< of each, its non-zeros
  const std::int64_t* row_offsets = nullptr;    ///< (count, rows + 1)
  const std::int64_t* column_indices = nullptr; ///< (count, entries)

  /// The entries of row r of a matrix.
  [[nodiscard]] constexpr Entries row(std::int64_t matrix, std::int64_t r) const {
    const std::int64_t* const at = row_offsets + matrix * (rows + 1) + r;
    const std::int64_t begin = at[0] < 0 ? 0 : at[0] > entries ? entries : at[0];
    return {begin, at[1] < begin ? begin : at[1] > entries ? entries : at[1]};
  }
  /// The column of an entry of a matrix, -1 where it is outside of the matrix.
  [[nodiscard]] constexpr std::int64_t column(std::int64_t matrix, std::int64_t entry) const {
    const std::int64_t column = column_indices[matrix * entries + entry];
    return column >= 0 && column < columns ? column : -1;
  }
};

/// A structure that a model computed on a GPU, where the host does not look at it: offsets may not ascend, and entries
/// may be outside of the columns.
struct ComputedStructure {
  Structure arrays{};
};

/// Refuses row offsets of a stack that do not ascend from 0 to the number of entries. `where` begins the message.
/// throws: ValueError naming the row and both offsets
void check_offsets(std::string_view where, const Structure& a);

inline namespace TWILL_ISA {

/// The first row of a part, among the rows of all matrices: parts have equal numbers of rows and entries together.
/// Source: Merrill and Garland, Merge-based parallel sparse matrix-vector multiplication, 2016, without splitting rows.
[[nodiscard]] std::int64_t first_row_of_part(const Structure& a, std::int64_t part, std::int64_t parts);

/// Calls f(matrix, row) for every row, on all threads where the work is worth it; an entry costs `entry_bytes`.
template <class F> void for_each_row(const Team& team, const Structure& a, std::int64_t entry_bytes, const F& f) {
  const auto rows = [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t r = begin; r < end; ++r) f(r / a.rows, r % a.rows);
  };
  if (team.size() == 1 || a.count * a.entries * entry_bytes < kernel::worth_sharing_bytes)
    return rows(0, a.count * a.rows);
  team.parallel([&](int rank, int size) {
    std::int64_t begin = 0; // the greatest first row so far: no row twice where offsets do not ascend
    for (int part = 1; part <= rank; ++part) begin = std::max(begin, first_row_of_part(a, part, size));
    rows(begin, std::max(begin, first_row_of_part(a, rank + 1, size)));
  });
}

} // namespace TWILL_ISA
}}} // namespace twill::v0::sparse

#if TWILL_HEADER_ONLY
#include <twill/sparse/structure.ipp>
#endif
