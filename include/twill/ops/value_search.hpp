#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Search and counts for traced values, under the names of those of tensors: positions, numbers of bins, members of
// sets and counts of a fixed number of bins, to which no gradient flows. Lengths may be unknown until run time, but a
// result's length may not depend on values: `unique`, `nonzero`, `masked_select` and others are of tensors alone.
// Not in twill.hpp. Read next: ops/value_samples.hpp.

#include <twill/core/call_site.hpp>
#include <twill/core/config.hpp>
#include <twill/core/promotion.hpp>
#include <twill/core/samples.hpp>
#include <twill/graph/operators.hpp>
#include <twill/graph/reductions.hpp>
#include <twill/graph/shape_functions.hpp>

#include <cstdint>
#include <limits>

namespace twill { inline namespace v0 { namespace graph { namespace detail { inline namespace TWILL_ISA {

/// Whether a comes before b; NaN counts as the greatest.
[[nodiscard]] TWILL_CONSTEXPR Value comes_before(Value a, Value b) {
  return is_floating(a.dtype()) ? logical_or(a < b, logical_and(isnan(b), logical_not(isnan(a)))) : a < b;
}

[[nodiscard]] TWILL_CONSTEXPR Value place_in(Value sorted, Value values, bool is_after_equals, CallSite site) {
  if (sorted.rank() != 1) sorted.graph().refuse(Problem::index_has_another_rank, sorted.rank(), 1, site);
  if (sorted.graph().fault.any()) return values;
  const DType dtype = promote(sorted.dtype(), values.dtype());
  const Value sought = unsqueeze(stop_gradient(cast(values, dtype)), -1), known = stop_gradient(cast(sorted, dtype));
  return sum(is_after_equals ? logical_not(comes_before(sought, known)) : comes_before(known, sought), {-1});
}

/// The elements as a vector, also of rank 0.
[[nodiscard]] TWILL_CONSTEXPR Value in_a_row(Value x, CallSite site) {
  return x.rank() == 0 ? unsqueeze(x, 0, site) : flatten(x, 0, -1, site);
}

/// Whether each of the values, as a column, is the number of a bin.
[[nodiscard]] TWILL_CONSTEXPR Value is_of_bin(Value x, std::int64_t bins, CallSite site) {
  if (is_floating(x.dtype())) x.graph().refuse(Problem::indices_are_not_integers, static_cast<int>(x.dtype()), 0, site);
  if (x.graph().fault.any()) return x;
  Extents numbers{};
  numbers.append({bins, 0});
  const Value column = unsqueeze(in_a_row(cast(x, DType::int64), site), -1, site);
  return equal(column, iota(x.graph(), numbers));
}

}}}}} // namespace twill::v0::graph::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace graph { inline namespace TWILL_ISA {

/// Positions for inserting the values into a sorted vector (int64, in the shape of the values): before equal elements,
/// or after them with `side_right`. NaN counts as the greatest. errors: a sorted value that is no vector
/// cost: a comparison of each value with each element
[[nodiscard]] TWILL_CONSTEXPR Value searchsorted(Value sorted, Value values, LeftSide = {},
                                                 CallSite site = CallSite::here()) {
  return detail::place_in(sorted, values, false, site);
}
[[nodiscard]] TWILL_CONSTEXPR Value searchsorted(Value sorted, Value values, RightSide,
                                                 CallSite site = CallSite::here()) {
  return detail::place_in(sorted, values, true, site);
}

/// The number of the bin of each value (int64, in the shape of x): 0 below the first edge, the number of edges from the
/// last one on. Edges ascend. errors and cost: those of `searchsorted`
[[nodiscard]] TWILL_CONSTEXPR Value digitize(Value x, Value edges, BinEdge closed = BinEdge::lower,
                                             CallSite site = CallSite::here()) {
  return detail::place_in(edges, x, closed == BinEdge::lower, site);
}

/// Whether each element of x is among those of `set` (truth values, in the shape of x). NaN is in no set.
/// cost: a comparison of each element with each of the set
[[nodiscard]] TWILL_CONSTEXPR Value isin(Value x, Value set, CallSite site = CallSite::here()) {
  const DType dtype = promote(x.dtype(), set.dtype());
  const Value sought = unsqueeze(stop_gradient(cast(x, dtype)), -1, site);
  const Value known = detail::in_a_row(stop_gradient(cast(set, dtype)), site);
  return sum(equal(sought, known), {-1}) > 0;
}

/// The counts of 0, 1, ... `bins` - 1 among integers, int64 (bins). Other values are not counted: tensors' `bincount`
/// refuses negative ones and takes as many bins as the largest needs. errors: values that are no integers
/// cost: a comparison of each value with each bin
[[nodiscard]] TWILL_CONSTEXPR Value bincount(Value x, std::int64_t bins, CallSite site = CallSite::here()) {
  return sum(detail::is_of_bin(x, bins, site), {0}, KeepDims::no, site);
}
/// The sums of the weights of equal integers (bins), through which their gradients flow. Weights have the shape of x.
[[nodiscard]] TWILL_CONSTEXPR Value bincount(Value x, Value weights, std::int64_t bins,
                                             CallSite site = CallSite::here()) {
  const Value is_of = detail::is_of_bin(x, bins, site);
  const Value own = detail::in_a_row(broadcast_to(weights, x.shape()), site);
  if (x.graph().fault.any()) return x;
  return sum(where(is_of, unsqueeze(own, -1, site), 0), {0}, KeepDims::no, site);
}

/// The number of elements in each of `bins` equally wide bins from low to high, int64 (bins), by the edges of tensors'
/// `histogram`; the last bin includes high, elements outside are not counted. errors: no bins, bounds out of order
/// cost: a comparison of each element with each edge
[[nodiscard]] TWILL_CONSTEXPR Value histogram(Value x, std::int64_t bins, double low, double high,
                                              CallSite site = CallSite::here()) {
  if (bins < 1 || !(low < high) || high - low > std::numeric_limits<double>::max())
    x.graph().refuse(Problem::histogram_needs_bins_between_bounds_in_order, bins, 1, site);
  if (x.graph().fault.any()) return x;
  Extents numbers{};
  numbers.append({bins, 0});
  const Value bin = iota(x.graph(), numbers);
  const double width = (high - low) / static_cast<double>(bins);
  const auto edge = [&](Value number) { return cast(number, DType::float64) * width + low; };
  const Value column = unsqueeze(detail::in_a_row(cast(stop_gradient(x), DType::float64), site), -1, site);
  const Value is_last = logical_and(equal(bin, bins - 1), column <= high);
  const Value is_below = logical_and(bin < bins - 1, column < edge(bin + 1));
  return sum(logical_and(column >= edge(bin), logical_or(is_below, is_last)), {0}, KeepDims::no, site);
}

}}}} // namespace twill::v0::graph::TWILL_ISA
