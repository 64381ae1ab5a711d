#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of sparse/structure.hpp.

#include <twill/core/error.hpp>
#include <twill/core/text.hpp>
#include <twill/sparse/structure.hpp>

namespace twill { inline namespace v0 { namespace sparse {

TWILL_BODY void check_offsets(std::string_view where, const Structure& a) {
  for (std::int64_t matrix = 0; matrix < a.count; ++matrix) {
    const std::int64_t* const offsets = a.row_offsets + matrix * (a.rows + 1);
    if (offsets[0] != 0) throw ValueError(join_text({where, ": the first row offset is ", offsets[0], ", not 0"}));
    for (std::int64_t r = 0; r < a.rows; ++r)
      if (offsets[r + 1] < offsets[r])
        throw ValueError(join_text(
            {where, ": row offsets have to ascend; those of row ", r, " are ", offsets[r], " and ", offsets[r + 1]}));
    if (offsets[a.rows] != a.entries)
      throw ValueError(join_text(
          {where, ": the last row offset is ", offsets[a.rows], ", there are ", a.entries, " column indices"}));
  }
}

}}} // namespace twill::v0::sparse

namespace twill { inline namespace v0 { namespace sparse { inline namespace TWILL_ISA {

TWILL_BODY std::int64_t first_row_of_part(const Structure& a, std::int64_t part, std::int64_t parts) {
  const std::int64_t work = a.rows + a.entries; // of a matrix
  if (part >= parts) return a.count * a.rows;
  const std::int64_t total = a.count * work;
  const std::int64_t before = total / parts * part + total % parts * part / parts;
  const std::int64_t matrix = before / work;
  std::int64_t first = 0;
  std::int64_t last = a.rows;
  while (first < last) { // the first row before which there is so much work
    const std::int64_t middle = first + (last - first) / 2;
    if (a.row(matrix, middle).begin + middle < before % work)
      first = middle + 1;
    else
      last = middle;
  }
  return matrix * a.rows + first;
}

}}}} // namespace twill::v0::sparse::TWILL_ISA
