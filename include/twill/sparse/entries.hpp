#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Entries of sparse matrices in the host's memory: sorted by row and column, added up where they share a place, and
// moved to a device as a matrix. Read next: sparse/assembly.hpp.

#include <twill/core/config.hpp>
#include <twill/core/promotion.hpp>
#include <twill/core/shape.hpp>
#include <twill/sparse/csr_matrix.hpp>
#include <twill/tensor/create.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace twill { inline namespace v0 { namespace sparse {

/// Entries sorted by row and column: entry i of the result is entry order[i] of what was given.
struct Sorted {
  std::vector<std::int64_t> row_offsets{};
  std::vector<std::int64_t> order{};
};

/// Sorts coordinates by row, then column; entries of one place stay in their order.
/// throws: IndexError naming the entry and the shape    cost: linear where the columns of each row ascend
[[nodiscard]] Sorted sorted_entries(std::string_view where, const Dims& shape, const std::vector<std::int64_t>& rows,
                                    const std::vector<std::int64_t>& columns);

/// The row of each entry.
[[nodiscard]] std::vector<std::int64_t> rows_of_entries(const std::vector<std::int64_t>& row_offsets);

}}} // namespace twill::v0::sparse

namespace twill { inline namespace v0 { namespace sparse { inline namespace TWILL_ISA {

/// A matrix on a device from arrays of the host. requires: they are one
template <AnyShape S, class T, Device D>
[[nodiscard]] CsrMatrix<T, D, S> arranged(const Dims& shape, const std::vector<std::int64_t>& row_offsets,
                                          const std::vector<std::int64_t>& column_indices, const std::vector<T>& values,
                                          const D& device) {
  using Matrix = CsrMatrix<T, D, S>;
  return Matrix::unchecked(shape,
                           from_values<typename Matrix::Offsets::shape_type>(row_offsets, Dims(shape[0] + 1), device),
                           from_values(column_indices, device), from_values(values, device));
}

/// The matrix of entries in host memory, on a device; `where` begins the message. Entries of one place are added up.
/// throws: ShapeError, IndexError naming the entry
template <AnyShape S, class T, Device D>
[[nodiscard]] CsrMatrix<T, D, S>
assemble(std::string_view where, const Dims& shape, const std::vector<std::int64_t>& rows,
         const std::vector<std::int64_t>& columns, const std::vector<T>& values, const D& device) {
  const Sorted sorted = sorted_entries(where, shape, rows, columns);
  detail::check_lengths(where, shape, shape[0] + 1, static_cast<std::int64_t>(columns.size()),
                        static_cast<std::int64_t>(values.size()));
  std::vector<std::int64_t> offsets{0};
  std::vector<std::int64_t> indices{};
  std::vector<T> sums{};
  offsets.reserve(sorted.row_offsets.size());
  indices.reserve(columns.size());
  sums.reserve(columns.size());
  using C = compute_t<T>;
  for (std::size_t r = 0; r + 1 < sorted.row_offsets.size(); ++r) {
    for (std::int64_t i = sorted.row_offsets[r]; i < sorted.row_offsets[r + 1];) {
      const std::int64_t column = columns[static_cast<std::size_t>(sorted.order[static_cast<std::size_t>(i)])];
      C sum{};
      bool is_first = true; // a zero is not added to it: -0 stays
      for (; i < sorted.row_offsets[r + 1]; ++i) {
        const auto entry = static_cast<std::size_t>(sorted.order[static_cast<std::size_t>(i)]);
        if (columns[entry] != column) break;
        sum = is_first ? static_cast<C>(values[entry]) : static_cast<C>(sum + static_cast<C>(values[entry]));
        is_first = false;
      }
      indices.push_back(column);
      sums.push_back(static_cast<T>(sum));
    }
    offsets.push_back(static_cast<std::int64_t>(indices.size()));
  }
  return arranged<S>(shape, offsets, indices, sums, device);
}

}}}} // namespace twill::v0::sparse::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/sparse/entries.ipp>
#endif
