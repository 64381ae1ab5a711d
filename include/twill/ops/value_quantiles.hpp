#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Quantiles of traced values over axes in angle brackets, `quantile<1>(x, 0.9)`, as those of tensors, by NumPy's
// methods: elements are sorted, and two neighbours are read, to which gradients flow. NaN among the elements gives NaN,
// except in `nanquantile` and its like, and so do no elements. An axis may be unknown until run time.
// Not in twill.hpp. Read next: ops/sort.hpp.

#include <twill/core/axes.hpp>
#include <twill/core/call_site.hpp>
#include <twill/core/config.hpp>
#include <twill/expr/quantile_place.hpp>
#include <twill/graph/functions.hpp>
#include <twill/graph/reductions.hpp>
#include <twill/graph/shape_functions.hpp>
#include <twill/ops/gather.hpp>
#include <twill/ops/sort.hpp>

#include <cstddef>
#include <limits>

namespace twill { inline namespace v0 { namespace graph { namespace detail { inline namespace TWILL_ISA {

/// Whether NaN among the elements is the result, or left out.
enum class NanElements : bool { kept, left_out };

/// A set of axes merged into one, which is the last; the others keep their order.
[[nodiscard]] TWILL_CONSTEXPR Value axes_as_last(Value x, unsigned axes) {
  Few<int, max_rank> order{};
  Extents shape{};
  Extent length{};
  int next = 0;
  for (const unsigned wanted : {0U, 1U})
    for (int axis = 0; axis < x.rank(); ++axis) {
      if ((axes >> axis & 1U) != wanted) continue;
      order[static_cast<std::size_t>(next++)] = axis;
      if (wanted == 0)
        shape.append(x.shape()[axis]);
      else
        length = length * x.shape()[axis];
    }
  shape.append(length);
  return reshape(reordered(x, [&](int axis) { return order[static_cast<std::size_t>(axis)]; }), shape);
}

/// The number at a fraction of the way between two neighbours, as kernel/quantile.hpp.
[[nodiscard]] TWILL_CONSTEXPR Value between_neighbours(Value first, Value second, Value fraction) {
  const Value difference = second - first;
  const Value width = where(isnan(difference), 0, difference); // between equal infinities
  const Value nearer = where(fraction < 0.5, first + width * fraction, second - width * (1 - fraction));
  return where(equal(fraction, 0.5), (first + second) * 0.5, nearer);
}

/// Refuses a part that is not between 0 and the whole, which is 1 of quantiles and 100 of percentiles.
TWILL_CONSTEXPR void require_part(Value x, double part, double whole, CallSite site) {
  if (part >= 0 && part <= whole) return;
  x.graph().refuse(whole == 1 ? Problem::quantile_is_outside_0_to_1 : Problem::percentile_is_outside_0_to_100,
                   shown_as_integer(part), shown_as_integer(whole), site);
}

[[nodiscard]] TWILL_CONSTEXPR Value quantile_over(Value x, unsigned axes, double q, twill::Interpolation method,
                                                  NanElements nan, KeepDims keep) {
  if (x.graph().fault.any()) return x;
  constexpr double no_number = std::numeric_limits<double>::quiet_NaN();
  const Value rows = axes_as_last(cast(x, floating_type(x.dtype())), axes);
  const int last = rows.rank() - 1;
  const Value sorted = sort(rows, last).values; // NaN comes last
  const Value is_nan = isnan(rows);
  const Value count = sum(logical_not(is_nan), {last}, KeepDims::yes);
  const auto place = expr::quantiles::neighbours(cast(count, DType::float64), q, method);
  const Value first = take_along_axis(sorted, cast(place.below, DType::int64), last);
  const Value second = take_along_axis(sorted, cast(place.above, DType::int64), last);
  const Value quantile = between_neighbours(first, second, stop_gradient(cast(place.fraction, rows.dtype())));
  const Value has_none = nan == NanElements::left_out
                             ? equal(count, 0)
                             : logical_or(equal(count, 0), sum(is_nan, {last}, KeepDims::yes) > 0);
  Extents shape{};
  for (int axis = 0; axis < x.rank(); ++axis)
    if ((axes >> axis & 1U) == 0)
      shape.append(x.shape()[axis]);
    else if (keep == KeepDims::yes)
      shape.append({});
  return reshape(where(has_none, no_number, quantile), shape);
}

}}}}} // namespace twill::v0::graph::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace graph { inline namespace TWILL_ISA {

/// The value below which a part q of the elements is. errors: a part outside of 0 to 1
template <int... Axes, ReducedDims K = DroppedDims>
[[nodiscard]] constexpr Value quantile(Value x, double q, K = {},
                                       twill::Interpolation method = twill::Interpolation::linear,
                                       CallSite site = CallSite::here()) {
  detail::require_part(x, q, 1, site);
  return detail::quantile_over(x, detail::axes_of<Axes...>(x, site), q, method, detail::NanElements::kept,
                               detail::keep_of<K>);
}
template <int... Axes>
[[nodiscard]] constexpr Value quantile(Value x, double q, twill::Interpolation method,
                                       CallSite site = CallSite::here()) {
  return quantile<Axes...>(x, q, DroppedDims{}, method, site);
}
/// quantile(x, p / 100). errors: a part outside of 0 to 100
template <int... Axes, ReducedDims K = DroppedDims>
[[nodiscard]] constexpr Value percentile(Value x, double p, K keep = {},
                                         twill::Interpolation method = twill::Interpolation::linear,
                                         CallSite site = CallSite::here()) {
  detail::require_part(x, p, 100, site);
  return quantile<Axes...>(x, p / 100, keep, method, site);
}
template <int... Axes>
[[nodiscard]] constexpr Value percentile(Value x, double p, twill::Interpolation method,
                                         CallSite site = CallSite::here()) {
  return percentile<Axes...>(x, p, DroppedDims{}, method, site);
}
/// The middle element, or the mean of the two in the middle, which share the gradient.
template <int... Axes, ReducedDims K = DroppedDims>
[[nodiscard]] constexpr Value median(Value x, K keep = {}, CallSite site = CallSite::here()) {
  return quantile<Axes...>(x, 0.5, keep, twill::Interpolation::linear, site);
}

/// The quantile of the elements that are no NaN; NaN where there are none. errors: a part outside of 0 to 1
template <int... Axes, ReducedDims K = DroppedDims>
[[nodiscard]] constexpr Value nanquantile(Value x, double q, K = {},
                                          twill::Interpolation method = twill::Interpolation::linear,
                                          CallSite site = CallSite::here()) {
  detail::require_part(x, q, 1, site);
  return detail::quantile_over(x, detail::axes_of<Axes...>(x, site), q, method, detail::NanElements::left_out,
                               detail::keep_of<K>);
}
/// nanquantile(x, p / 100). errors: a part outside of 0 to 100
template <int... Axes, ReducedDims K = DroppedDims>
[[nodiscard]] constexpr Value nanpercentile(Value x, double p, K keep = {},
                                            twill::Interpolation method = twill::Interpolation::linear,
                                            CallSite site = CallSite::here()) {
  detail::require_part(x, p, 100, site);
  return nanquantile<Axes...>(x, p / 100, keep, method, site);
}
/// The median of the elements that are no NaN.
template <int... Axes, ReducedDims K = DroppedDims>
[[nodiscard]] constexpr Value nanmedian(Value x, K keep = {}, CallSite site = CallSite::here()) {
  return nanquantile<Axes...>(x, 0.5, keep, twill::Interpolation::linear, site);
}

}}}} // namespace twill::v0::graph::TWILL_ISA
