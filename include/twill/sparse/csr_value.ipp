#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of sparse/csr_value.hpp.

#include <twill/sparse/csr_value.hpp>

namespace twill { inline namespace v0 { namespace sparse { namespace detail { inline namespace TWILL_ISA {

TWILL_BODY Structure described_structure(std::string_view where, const kernel::Launch& launch, std::int64_t rows,
                                         std::int64_t columns) {
  const Dims& offsets = launch.shapes[0];
  const Dims& indices = launch.shapes[1];
  if (columns_of(offsets) != rows + 1)
    throw ShapeError(join_text(
        {where, ": there are ", columns_of(offsets), " row offsets for ", rows, " rows; there is one more than rows"}));
  Structure a{.rows = rows,
              .columns = columns,
              .entries = columns_of(indices),
              .row_offsets = input<std::int64_t>(launch, 0),
              .column_indices = input<std::int64_t>(launch, 1)};
  for (int axis = 0; axis < offsets.rank - 1; ++axis) a.count *= offsets[axis];
  return a;
}

TWILL_BODY Structure launched_structure(std::string_view where, const kernel::Launch& launch, std::int64_t rows,
                                        std::int64_t columns) {
  const Structure a = described_structure(where, launch, rows, columns);
  check_offsets(where, a);
  return a;
}

}}}}} // namespace twill::v0::sparse::detail::TWILL_ISA
