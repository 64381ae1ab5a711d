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

/// Rows of a table of `count` vectors of `width` elements, drawn from the standard normal distribution: "name.weight".
/// errors: an index that is no integer, a padding index outside of the table
[[nodiscard]] TWILL_CONSTEXPR Value embedding(Value index, std::int64_t count, std::int64_t width,
                                              std::string_view name, const EmbeddingOptions& options = {},
                                              CallSite site = CallSite::here()) {
  graph::Graph& graph = index.graph();
  if (options.padding >= count) graph.refuse(graph::Problem::padding_index_is_outside, options.padding, count, site);
  const Scope scope{graph, name, site};
  Initialiser initialiser = initialise::normal(0, 1);
  if (options.padding >= 0) {
    initialiser.first_zero = options.padding * width;
    initialiser.zeros = width;
  }
  return embedding(index, parameter(graph, "weight", {count, width}, initialiser, Trainable::yes, site), options, site);
}

}}}} // namespace twill::v0::nn::TWILL_ISA
