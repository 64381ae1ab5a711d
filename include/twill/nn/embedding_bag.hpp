#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Bags of embeddings of different lengths: one line of indices and the place where each bag begins, torch's
// EmbeddingBag with offsets. Sums and means are scattered into their bags, the greatest rows found by two stable sorts,
// so that a bag's length is no part of the plan. Not in twill.hpp. Read next: nn/embedding.hpp, nn/max_norm.hpp.

#include <twill/core/call_site.hpp>
#include <twill/core/config.hpp>
#include <twill/nn/embedding.hpp>
#include <twill/ops/cumsum.hpp>
#include <twill/ops/sort.hpp>

#include <cstdint>
#include <string_view>

namespace twill { inline namespace v0 { namespace nn { namespace detail { inline namespace TWILL_ISA {

/// A place beyond every axis, where scatters add nothing.
inline constexpr std::int64_t no_bag = std::int64_t{1} << 40;

/// How often each of `count` places occurs in a line of places; those outside are not counted.
[[nodiscard]] TWILL_CONSTEXPR Value occurrences(Value places, const graph::Extents& count, DType dtype) {
  graph::Graph& graph = places.graph();
  const Value none = graph::broadcast_to(graph::constant(graph, dtype, 0), count);
  const Value ones = graph::broadcast_to(graph::constant(graph, dtype, 1), places.shape());
  return graph::index_add(none, 0, places, ones);
}

/// The number of each index's bag: the last one that begins at the index or before it. Padding has none.
[[nodiscard]] TWILL_CONSTEXPR Value bag_numbers(Value index, Value offsets, std::int64_t padding) {
  const Value begin =
      graph::where(offsets >= 0, graph::cast(offsets, DType::int64), no_bag); // computed: may be the end
  const Value number = graph::cumsum(occurrences(begin, index.shape(), DType::int64), 0) - 1;
  const Value in_bag = graph::where(number >= 0, number, no_bag);
  return padding < 0 ? in_bag : graph::where(graph::equal(index, padding), no_bag, in_bag);
}

/// The greatest row of each bag, element by element, of the first index where several are equal; 0 of empty bags.
/// bag: (indices), rows: (indices, width)
[[nodiscard]] TWILL_CONSTEXPR Value greatest_of_bags(Value bag, Value rows, const graph::Extents& bags, CallSite site) {
  // Ordered by value, then by bag without changing the order in a bag, each bag begins with its greatest element.
  const Value by_value = graph::argsort(rows, 0, graph::Order::descending, site);
  const Value by_bag = graph::argsort(graph::take(bag, by_value, 0, site), 0, graph::Order::ascending, site);
  const Value count = occurrences(bag, bags, DType::int64);
  const Value begin = graph::cumsum(count, 0, site) - count;
  const Value place = graph::take_along_axis(by_value, graph::take(by_bag, begin, 0, site), 0, site);
  return graph::where(graph::unsqueeze(count > 0, -1, site), graph::take_along_axis(rows, place, 0, site), 0.0);
}

/// Refuses indices and offsets of other ranks and types, and weights of anything but sums.
TWILL_CONSTEXPR bool check_bags(Value index, Value offsets, Value weight, const EmbeddingBagOptions& options,
                                CallSite site) {
  using graph::Problem;
  graph::Graph& graph = index.graph();
  for (const Value& line : {index, offsets}) {
    if (line.rank() != 1) graph.refuse(Problem::index_has_another_rank, line.rank(), 1, site);
    if (is_floating(line.dtype()) || line.dtype() == DType::boolean)
      graph.refuse(Problem::indices_are_not_integers, static_cast<int>(line.dtype()), 0, site);
  }
  if (weight.rank() != 2) graph.refuse(Problem::axis_is_outside_the_rank, 1, weight.rank(), site);
  if (options.weights.id() >= 0 && options.mode != BagMode::sum)
    graph.refuse(Problem::bag_weights_are_for_sums_only, static_cast<int>(options.mode), 0, site);
  return !graph.fault.any();
}

}}}}} // namespace twill::v0::nn::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace nn { inline namespace TWILL_ISA {

/// The sum, mean or greatest of the rows of bags of any lengths, in a weight (count, width) owned by the caller.
/// index: (indices), offsets: (bags), where each bag begins, in ascending order; a bag ends where the next one begins,
/// the last one with the indices. Equal offsets make empty bags, which give 0, as bags of nothing but padding do;
/// indices before the first offset are in no bag, nor are those from the last one on where it is an end,
/// `.has_last_offset`. `.weights`: (indices). result: (bags, width).
/// errors: an index or offsets that are no integers or have no single axis, weights of means or greatest rows, a number
/// of offsets unknown until run time where the last one is an end
/// throws: IndexError in a run, for an input outside of the table, or an offset outside of [0, indices]
/// cost: a pass over the rows; of the greatest, two sorts of (indices, width)
[[nodiscard]] TWILL_CONSTEXPR Value embedding_bag(Value index, Value offsets, Value weight,
                                                  const EmbeddingBagOptions& options = {},
                                                  CallSite site = CallSite::here()) {
  if (!detail::check_bags(index, offsets, weight, options, site)) return weight;
  if (options.has_last_offset) { // what follows the end is one bag more
    EmbeddingBagOptions begins = options;
    begins.has_last_offset = false;
    const std::int64_t ends = offsets.size(0, site);
    if (offsets.graph().fault.any()) return weight;
    return graph::narrow(embedding_bag(index, offsets, weight, begins, site), 0, 0, ends - 1, site);
  }
  graph::Graph& graph = index.graph();
  graph.require_within(offsets.id(), {.what = "an offset of a bag", .may_be_end = true, .end = index.shape()[0]});
  const Value bag = detail::bag_numbers(index, offsets, options.padding);
  Value rows = embedding(index, weight, {}, site);
  if (options.mode == BagMode::max) return detail::greatest_of_bags(bag, rows, offsets.shape(), site);
  if (options.weights.id() >= 0) rows = rows * graph::unsqueeze(graph::cast(options.weights, rows.dtype()), -1, site);
  const Value none =
      graph::broadcast_to(graph::constant(graph, rows.dtype(), 0), {offsets.shape()[0], weight.shape()[1]});
  const Value total = graph::index_add(none, 0, bag, rows, site);
  if (options.mode == BagMode::sum) return total;
  const Value number = graph::maximum(detail::occurrences(bag, offsets.shape(), DType::int64), 1);
  return total / graph::cast(graph::unsqueeze(number, -1, site), rows.dtype());
}

/// Bags of any lengths of rows of a table of `count` vectors of `width` elements, drawn from the standard normal
/// distribution: "name.weight". errors: those of a bag, a padding index outside of the table
[[nodiscard]] TWILL_CONSTEXPR Value embedding_bag(Value index, Value offsets, std::int64_t count, std::int64_t width,
                                                  std::string_view name, const EmbeddingBagOptions& options = {},
                                                  CallSite site = CallSite::here()) {
  const Scope scope{index.graph(), name, site};
  const Value weight = detail::embedding_table(index.graph(), count, width, options.padding, site);
  return embedding_bag(index, offsets, weight, options, site);
}

}}}} // namespace twill::v0::nn::TWILL_ISA
