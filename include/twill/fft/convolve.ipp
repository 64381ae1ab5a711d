#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of fft/convolve.hpp.

#include <twill/core/error.hpp>
#include <twill/fft/convolve.hpp>

#include <string>

namespace twill { inline namespace v0 { namespace fft { namespace detail {

TWILL_BODY Convolution convolution_of(Part part, const Dims& a, const Dims& b, unsigned mask) {
  Convolution result{{}, convolved_dims(part, a, b, mask), {}};
  result.first.rank = a.rank;
  bool a_is_inside = true;
  bool b_is_inside = true;
  for (int axis = 0; axis < a.rank; ++axis) {
    if ((mask >> axis & 1U) == 0) continue;
    if (a[axis] == 0 || b[axis] == 0)
      throw ValueError("fftconvolve: axis " + std::to_string(axis) + " of shapes " + to_string(a) + " and " +
                       to_string(b) + " has no elements");
    const std::int64_t full = a[axis] + b[axis] - 1;
    result.points[result.points.rank++] = fast_length(full);
    if (part == Part::same) result.first[axis] = (full - a[axis]) / 2;
    if (part == Part::valid) result.first[axis] = std::min(a[axis], b[axis]) - 1;
    a_is_inside = a_is_inside && a[axis] <= b[axis];
    b_is_inside = b_is_inside && b[axis] <= a[axis];
  }
  if (part == Part::valid && !a_is_inside && !b_is_inside)
    throw ValueError("fftconvolve: of shapes " + to_string(a) + " and " + to_string(b) +
                     " neither is inside of the other; `valid` needs one that is at most as large along every axis");
  return result;
}

}}}} // namespace twill::v0::fft::detail
