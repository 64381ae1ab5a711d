#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Embeddings: tables of vectors read by index. Gradients are summed in the order of the indices, with equal bits on any
// number of threads. An index outside of the table reads zeros, see ops/gather.hpp. Names and initial values: PyTorch.

#include <twill/core/call_site.hpp>
#include <twill/core/config.hpp>
#include <twill/nn/parameter.hpp>
#include <twill/ops/gather.hpp>

#include <cstdint>
#include <limits>
#include <string_view>

namespace twill { inline namespace v0 { namespace nn { inline namespace TWILL_ISA {

/// Options of an embedding: the row that stays zero.
struct EmbeddingOptions {
  std::int64_t padding = -1; ///< the index whose row starts as zeros and gets no gradient; -1: none
};

/// Rows of a weight (count, width) owned by the caller, for tied weights. index: (...), result: (..., width).
[[nodiscard]] TWILL_CONSTEXPR Value embedding(Value index, Value weight, const EmbeddingOptions& options = {},
                                              CallSite site = CallSite::here()) {
  if (weight.rank() > 0)
    index.graph().require_within(index.id(), {.what = "an index of an embedding", .end = weight.shape()[0]});
  const Value rows = graph::take(weight, index, 0, site);
  if (options.padding < 0) return rows;
  return graph::where(graph::unsqueeze(graph::equal(index, options.padding), -1, site), graph::stop_gradient(rows),
                      rows);
}

}}}} // namespace twill::v0::nn::TWILL_ISA

namespace twill { inline namespace v0 { namespace nn { namespace detail { inline namespace TWILL_ISA {

/// The weight of a table, whose padding row is zero.
[[nodiscard]] TWILL_CONSTEXPR Value embedding_table(graph::Graph& graph, std::int64_t count, std::int64_t width,
                                                    std::int64_t padding, CallSite site) {
  if (padding >= count) graph.refuse(graph::Problem::padding_index_is_outside, padding, count, site);
  Initialiser initialiser = initialise::normal(0, 1);
  if (padding >= 0) {
    initialiser.first_zero = padding * width;
    initialiser.zeros = width;
  }
  return parameter(graph, "weight", {count, width}, initialiser, Trainable::yes, site);
}

}}}}} // namespace twill::v0::nn::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace nn { inline namespace TWILL_ISA {

/// Rows of a table of `count` vectors of `width` elements, drawn from the standard normal distribution: "name.weight".
/// errors: an index that is no integer, a padding index outside of the table
[[nodiscard]] TWILL_CONSTEXPR Value embedding(Value index, std::int64_t count, std::int64_t width,
                                              std::string_view name, const EmbeddingOptions& options = {},
                                              CallSite site = CallSite::here()) {
  const Scope scope{index.graph(), name, site};
  const Value weight = detail::embedding_table(index.graph(), count, width, options.padding, site);
  return embedding(index, weight, options, site);
}

/// How the rows of a bag become one.
enum class BagMode : std::uint8_t { sum, mean, max };

/// Options of a bag of embeddings.
struct EmbeddingBagOptions {
  BagMode mode = BagMode::mean; ///< of the rows of a bag
  std::int64_t padding = -1;    ///< the index that is left out of every bag, and gets no gradient; -1: none
  Value weights{};              ///< of each index, in the shape of the index; of sums only
  bool has_last_offset = false; ///< of bags by offsets: one more ends the last bag, PyTorch's include_last_offset
};

/// The sum, mean or greatest of the rows that each bag of indices names, in a weight (count, width) owned by the
/// caller. index: (bags, indices), result: (bags, width); bags of nothing but padding give 0.
/// errors: an index that is no integer or has no two axes, weights of means or greatest rows
[[nodiscard]] TWILL_CONSTEXPR Value embedding_bag(Value index, Value weight, const EmbeddingBagOptions& options = {},
                                                  CallSite site = CallSite::here()) {
  graph::Graph& graph = index.graph();
  const bool is_weighted = options.weights.id() >= 0;
  if (index.rank() != 2) graph.refuse(graph::Problem::index_has_another_rank, index.rank(), 2, site);
  if (is_weighted && options.mode != BagMode::sum)
    graph.refuse(graph::Problem::bag_weights_are_for_sums_only, static_cast<int>(options.mode), 0, site);
  if (graph.fault.any()) return weight;
  Value rows = embedding(index, weight, {.padding = options.padding}, site);
  if (is_weighted) rows = rows * graph::unsqueeze(graph::cast(options.weights, rows.dtype()), -1, site);
  if (options.padding < 0) {
    if (options.mode == BagMode::max) return graph::max(rows, {1}, graph::KeepDims::no, site);
    return options.mode == BagMode::mean ? graph::mean(rows, {1}, graph::KeepDims::no, site)
                                         : graph::sum(rows, {1}, graph::KeepDims::no, site);
  }
  const Value counts = graph::unsqueeze(graph::not_equal(index, options.padding), -1, site);
  const Value number = graph::sum(graph::cast(counts, rows.dtype()), {1}, graph::KeepDims::no, site);
  if (options.mode == BagMode::max) {
    const Value greatest = graph::max(graph::where(counts, rows, -std::numeric_limits<double>::infinity()), {1},
                                      graph::KeepDims::no, site);
    return graph::where(number > 0, greatest, 0.0);
  }
  const Value total = graph::sum(graph::where(counts, rows, 0.0), {1}, graph::KeepDims::no, site);
  return options.mode == BagMode::sum ? total : total / graph::maximum(number, 1.0);
}

/// Bags of rows of a table of `count` vectors of `width` elements, drawn from the standard normal distribution:
/// "name.weight". errors: those of a bag, a padding index outside of the table
[[nodiscard]] TWILL_CONSTEXPR Value embedding_bag(Value index, std::int64_t count, std::int64_t width,
                                                  std::string_view name, const EmbeddingBagOptions& options = {},
                                                  CallSite site = CallSite::here()) {
  const Scope scope{index.graph(), name, site};
  const Value weight = detail::embedding_table(index.graph(), count, width, options.padding, site);
  return embedding_bag(index, weight, options, site);
}

}}}} // namespace twill::v0::nn::TWILL_ISA
