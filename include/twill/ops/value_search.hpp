#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Search in sorted vectors for traced values, under the names of that of tensors: positions and numbers of bins, to
// which no gradient flows. Lengths may be unknown until run time. Not in twill.hpp. Read next: ops/value_samples.hpp.

#include <twill/core/call_site.hpp>
#include <twill/core/config.hpp>
#include <twill/core/promotion.hpp>
#include <twill/core/samples.hpp>
#include <twill/graph/operators.hpp>
#include <twill/graph/reductions.hpp>
#include <twill/graph/shape_functions.hpp>

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

}}}} // namespace twill::v0::graph::TWILL_ISA
