#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of sparse/csr_matrix.hpp.

#include <twill/core/text.hpp>
#include <twill/sparse/csr_matrix.hpp>

namespace twill { inline namespace v0 { namespace sparse { namespace detail {

TWILL_BODY void check_structure(std::string_view where, const Structure& a) {
  check_offsets(where, a);
  for (std::int64_t r = 0; r < a.rows; ++r) {
    const auto [begin, end] = a.row(0, r);
    for (std::int64_t entry = begin; entry < end; ++entry) {
      const std::int64_t column = a.column_indices[entry];
      if (column < 0 || column >= a.columns)
        throw IndexError(
            join_text({where, ": row ", r, " has an element in column ", column, " of ", a.columns, " columns"}));
      if (entry > begin && column <= a.column_indices[entry - 1])
        throw ValueError(join_text({where, ": row ", r, " has column ", column, " after column ",
                                    a.column_indices[entry - 1], "; columns ascend, from_coo sorts them"}));
    }
  }
}

TWILL_BODY void check_lengths(std::string_view where, const Dims& shape, std::int64_t offsets, std::int64_t indices,
                              std::int64_t values) {
  if (offsets != shape[0] + 1)
    throw ShapeError(join_text(
        {where, ": there are ", offsets, " row offsets for ", shape[0], " rows; there is one more than rows"}));
  if (indices != values)
    throw ShapeError(join_text({where, ": there are ", indices, " column indices and ", values, " values"}));
}

}}}} // namespace twill::v0::sparse::detail
