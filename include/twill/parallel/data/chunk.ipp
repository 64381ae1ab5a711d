#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of parallel/data/chunk.hpp.

#include <twill/parallel/data/chunk.hpp>

namespace twill { inline namespace v0 { namespace parallel { inline namespace TWILL_ISA {

TWILL_BODY std::vector<Rows> chunk_rows(std::int64_t rows, std::int64_t pieces) {
  if (pieces < 1) throw ValueError("chunk: there is at least one piece, got " + std::to_string(pieces));
  const std::int64_t each = std::max<std::int64_t>((rows + pieces - 1) / pieces, 1);
  std::vector<Rows> result;
  for (std::int64_t begin = 0; begin < std::max<std::int64_t>(rows, 1); begin += each)
    result.push_back({begin, std::min(each, rows - begin)});
  return result;
}

}}}} // namespace twill::v0::parallel::TWILL_ISA
