#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Repetition of traced values, of the whole or of each element, and differences of neighbours along an axis. A
// repetition is a broadcast between two reshapes: one copy, whose gradient is a sum. Not in twill.hpp. Read next:
// ops/concatenate.hpp.

#include <twill/core/call_site.hpp>
#include <twill/core/config.hpp>
#include <twill/graph/reductions.hpp>
#include <twill/ops/slice.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>

namespace twill { inline namespace v0 { namespace graph { namespace detail { inline namespace TWILL_ISA {

/// Whether the axis as a whole is repeated, or each of its elements.
enum class Repeated : bool { whole, elements };

[[nodiscard]] TWILL_CONSTEXPR Value repeated(Value x, int axis, std::int64_t count, Repeated what, CallSite site) {
  if (count < 0) x.graph().refuse(Problem::repetitions_are_negative, count, 0, site);
  if (count == 1 || x.graph().fault.any()) return x;
  const Value parts = around_axis(x, axis); // (outer, axis, inner)
  Extents apart{}, wide{};
  for (int i = 0; i < 3; ++i) {
    const bool is_copy_before = i == 1 && what == Repeated::whole;
    const bool is_copy_after = i == 1 && what == Repeated::elements;
    if (is_copy_before) {
      apart.append({});
      wide.append({count, 0});
    }
    apart.append(parts.shape()[i]);
    wide.append(parts.shape()[i]);
    if (is_copy_after) {
      apart.append({});
      wide.append({count, 0});
    }
  }
  const Extents shape = x.shape();
  return reshape(broadcast_to(reshape(parts, apart), wide), with_extent(shape, axis, shape[axis] * Extent{count, 0}));
}

[[nodiscard]] TWILL_CONSTEXPR Value tiled(Value x, const std::int64_t* counts, int axes, CallSite site) {
  while (x.rank() < axes) x = unsqueeze(x, 0, site);
  for (int i = 0; i < axes; ++i) x = repeated(x, x.rank() - axes + i, counts[i], Repeated::whole, site);
  return x;
}

}}}}} // namespace twill::v0::graph::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace graph { inline namespace TWILL_ISA {

/// The value repeated along its last axes; more counts than axes make new ones in front. errors: a negative count
template <std::integral... Counts>
requires(sizeof...(Counts) > 0) [[nodiscard]] constexpr Value tile(Value x, Counts... counts) {
  const std::int64_t all[]{static_cast<std::int64_t>(counts)...};
  return detail::tiled(x, all, static_cast<int>(sizeof...(Counts)), {});
}
/// The value repeated along its last axes.
template <std::int64_t... Counts>
requires(sizeof...(Counts) > 0) [[nodiscard]] constexpr Value tile(Value x, CallSite site = CallSite::here()) {
  const std::int64_t all[]{Counts...};
  return detail::tiled(x, all, static_cast<int>(sizeof...(Counts)), site);
}

/// Each element of an axis `count` times in a row, PyTorch's repeat_interleave. errors: a negative count
[[nodiscard]] TWILL_CONSTEXPR Value repeat(Value x, int axis, std::int64_t count, CallSite site = CallSite::here()) {
  const int position = checked_axis(x, axis, site);
  return x.rank() == 0 ? x : detail::repeated(x, position, count, detail::Repeated::elements, site);
}
/// Each element of an axis `count` times in a row.
template <int Axis>
[[nodiscard]] constexpr Value repeat(Value x, std::int64_t count, CallSite site = CallSite::here()) {
  return repeat(x, Axis, count, site);
}

/// The difference of each element from the one before it along an axis; differences of differences when asked n times.
/// Truth values differ where they change. errors: an axis known only at run time, a negative n
[[nodiscard]] TWILL_CONSTEXPR Value diff(Value x, int axis, int n, CallSite site = CallSite::here()) {
  const int position = checked_axis(x, axis, site);
  if (n < 0) x.graph().refuse(Problem::repetitions_are_negative, n, 0, site);
  for (int i = 0; i < n && x.rank() > 0 && !x.graph().fault.any(); ++i) {
    const Value after = slice_axis(x, position, {.begin = 1}, site),
                before = slice_axis(x, position, {.end = -1}, site);
    x = x.dtype() == DType::boolean ? not_equal(after, before, site) : after - before;
  }
  return x;
}
/// The difference of each element from the one before it along an axis.
template <int Axis = -1> [[nodiscard]] constexpr Value diff(Value x, int n = 1, CallSite site = CallSite::here()) {
  return diff(x, Axis, n, site);
}

}}}} // namespace twill::v0::graph::TWILL_ISA
