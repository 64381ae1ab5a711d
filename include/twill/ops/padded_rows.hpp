#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Padded rows of sequences that are stored one after the other, such as targets of several lengths in one line. Not in
// twill.hpp. Read next: ops/gather.hpp, nn/losses/concatenated_ctc.hpp.

#include <twill/core/call_site.hpp>
#include <twill/core/config.hpp>
#include <twill/ops/cumsum.hpp>
#include <twill/ops/gather.hpp>

#include <cstdint>

namespace twill { inline namespace v0 { namespace graph { inline namespace TWILL_ISA {

/// Rows of `longest` elements from rows of given lengths, one after the other: x (elements, ...), lengths (rows)
/// integers, result (rows, longest, ...). Beyond its length a row has the number `fill`, and all beyond the end of x.
/// errors: lengths that are no integers or have no single axis
/// throws: IndexError in a run, for lengths that are inputs and not in [0, longest]
[[nodiscard]] TWILL_CONSTEXPR Value padded_rows(Value x, Value lengths, std::int64_t longest, double fill = 0,
                                                CallSite site = CallSite::here()) {
  Graph& graph = x.graph();
  if (is_floating(lengths.dtype()) || lengths.dtype() == DType::boolean)
    graph.refuse(Problem::recurrent_lengths_are_not_integers, static_cast<int>(lengths.dtype()), 0, site);
  if (lengths.rank() != 1) graph.refuse(Problem::index_has_another_rank, lengths.rank(), 1, site);
  if (x.rank() < 1) graph.refuse(Problem::axis_is_outside_the_rank, 0, x.rank(), site);
  if (longest < 0) graph.refuse(Problem::slice_reaches_outside_of_the_axis, longest, 0, site);
  if (graph.fault.any()) return x;
  graph.require_within(lengths.id(), {.what = "a length of a row", .may_be_end = true, .end = {longest, 0}});
  const Value count = cast(lengths, DType::int64);
  const Value begin = cumsum(count, 0, site) - count;
  const Value place = iota(graph, {{1, 0}, {longest, 0}});
  const Value end = sum(broadcast_to(constant(graph, DType::int64, 1), {x.shape()[0]}));
  const Value index = unsqueeze(begin, -1, site) + place;
  Value is_inside = logical_and(place < unsqueeze(count, -1, site), index < end);
  const Value rows = take(x, where(is_inside, index, 0), 0, site);
  for (int axis = 1; axis < x.rank(); ++axis) is_inside = unsqueeze(is_inside, -1, site);
  return where(is_inside, rows, constant(graph, x.dtype(), fill));
}

}}}} // namespace twill::v0::graph::TWILL_ISA
