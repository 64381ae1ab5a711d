#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Views of traced values around one axis: (outer, axis, inner), with the axes before it and those after it merged.
// These functions bring traced values into that shape and back.

#include <twill/core/config.hpp>
#include <twill/graph/functions.hpp>

namespace twill { inline namespace v0 { namespace graph { namespace detail { inline namespace TWILL_ISA {

/// The value as (outer, axis, inner).
[[nodiscard]] TWILL_CONSTEXPR Value around_axis(Value x, int axis) {
  const Extents shape = x.shape();
  Extents around{};
  around.rank = 3;
  for (int i = 0; i < shape.rank; ++i) {
    Extent& part = around[i < axis ? 0 : i == axis ? 1 : 2];
    part = part * shape[i];
  }
  return reshape(x, around);
}

/// The shape with another extent along an axis.
[[nodiscard]] TWILL_CONSTEXPR Extents with_extent(Extents shape, int axis, Extent extent) {
  shape[axis] = extent;
  return shape;
}

}}}}} // namespace twill::v0::graph::detail::TWILL_ISA
