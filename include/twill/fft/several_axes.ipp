#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of fft/several_axes.hpp.

#include <twill/core/error.hpp>
#include <twill/fft/several_axes.hpp>

#include <string>

namespace twill { inline namespace v0 { namespace fft { namespace detail {

TWILL_BODY void require_points(const char* function, const Dims& points, int axes) {
  if (points.rank != axes)
    throw ValueError(std::string(function) + ": " + std::to_string(points.rank) + " numbers of points for " +
                     std::to_string(axes) + " axes; name one for each axis");
}

}}}} // namespace twill::v0::fft::detail
