#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of fft/along.hpp.

#include <twill/core/error.hpp>
#include <twill/fft/along.hpp>

#include <string>

namespace twill { inline namespace v0 { namespace fft { namespace detail {

TWILL_BODY std::int64_t checked_points(const char* function, std::int64_t n, int axis) {
  if (n < 1)
    throw ValueError(std::string(function) + ": axis " + std::to_string(axis) + " is to have " + std::to_string(n) +
                     " points; a transform takes at least 1");
  return n;
}

TWILL_BODY Beside beside(const Dims& extents, const Dims& from, std::int64_t from_parts, const Dims& to,
                         std::int64_t to_parts, int axis) {
  Beside result{};
  const auto append = [](Dims& dims, std::int64_t value) { dims[dims.rank++] = value; };
  for (int other = 0; other < extents.rank; ++other) {
    if (other == axis || extents[other] == 1) continue;
    const std::int64_t from_stride = from[other] * from_parts;
    const std::int64_t to_stride = to[other] * to_parts;
    const int last = result.extents.rank - 1;
    if (last >= 0 && result.from[last] == from_stride * extents[other] &&
        result.to[last] == to_stride * extents[other]) {
      result.extents[last] *= extents[other];
      result.from[last] = from_stride;
      result.to[last] = to_stride;
      continue;
    }
    append(result.extents, extents[other]);
    append(result.from, from_stride);
    append(result.to, to_stride);
  }
  return result;
}

}}}} // namespace twill::v0::fft::detail
