#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Padding of a traced value: margins of a number, or of its own elements reflected at the edges without repeating them.
// A margin of numbers passes no gradient; reflected elements add theirs. Read next: ops/slice.hpp.

#include <twill/core/call_site.hpp>
#include <twill/core/config.hpp>
#include <twill/ops/concatenate.hpp>
#include <twill/ops/slice.hpp>

#include <bit>
#include <cstdint>

namespace twill { inline namespace v0 { namespace graph { inline namespace TWILL_ISA {

/// How many elements to add before an axis and after it.
struct Margin {
  std::int64_t before = 0; ///< at the front
  std::int64_t after = 0;  ///< at the end
};

/// The value with elements equal to a number before and after one axis. errors: a negative margin
[[nodiscard]] TWILL_CONSTEXPR Value pad(Value x, int axis, Margin margin, double number = 0,
                                        CallSite site = CallSite::here()) {
  const int position = checked_axis(x, axis, site);
  if (x.rank() == 0) return x;
  if (margin.before < 0 || margin.after < 0)
    x.graph().refuse(Problem::margin_is_negative, margin.before, margin.after, site);
  const std::int64_t extent = x.size(position, site);
  if (x.graph().fault.any() || (margin.before == 0 && margin.after == 0)) return x;
  const Extent wider{margin.before + extent + margin.after, 0};
  const Value parts = detail::around_axis(x, position);
  const Value y = add_operation(place_operation, {parts}, x.dtype(), detail::with_extent(parts.shape(), 1, wider),
                                {margin.before, 1, std::bit_cast<std::int64_t>(number)});
  return reshape(y, detail::with_extent(x.shape(), position, wider));
}

/// The margin with reflected elements of the axis: 2 1 | 0 1 2 | 1 0. errors: a margin not below the extent
[[nodiscard]] TWILL_CONSTEXPR Value pad_reflect(Value x, int axis, Margin margin, CallSite site = CallSite::here()) {
  const int position = checked_axis(x, axis, site);
  if (x.rank() == 0) return x;
  const std::int64_t extent = x.size(position, site);
  if (margin.before < 0 || margin.after < 0)
    x.graph().refuse(Problem::margin_is_negative, margin.before, margin.after, site);
  if (margin.before >= extent || margin.after >= extent)
    x.graph().refuse(Problem::margin_reaches_beyond_the_axis,
                     margin.before > margin.after ? margin.before : margin.after, extent, site);
  if (x.graph().fault.any()) return x;
  const auto reflected = [&](std::int64_t first, std::int64_t length) {
    return flip(narrow(x, position, first, length, site), {position}, site);
  };
  Value y = x;
  if (margin.before > 0) y = concatenate({reflected(1, margin.before), y}, position, site);
  if (margin.after > 0) y = concatenate({y, reflected(extent - 1 - margin.after, margin.after)}, position, site);
  return y;
}

}}}} // namespace twill::v0::graph::TWILL_ISA
