#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Reductions, norms and losses of rows at ties, zeros, huge values, infinities and NaN, with first and second derivatives of
// weighted sums: the part of edge_functions.hpp whose functions look at whole rows.

#include "tests/support/edge_functions.hpp"

#include <twill/nn/normalisation.hpp>

namespace twill::test {

/// A function of a matrix, whose rows are seen one by one.
struct EdgeRows {
  std::string_view name;
  Value (*function)(Value x);
};

namespace detail {
/// 1, 2, … along the rows of a matrix.
constexpr Value numbers_like(Value x) {
  graph::Extents columns{};
  columns.append(x.shape()[1]);
  return graph::broadcast_to(graph::cast(graph::iota(x.graph(), columns), x.dtype()) + 1, x.shape());
}
/// Classes 0, 1, 2, 3, 0, … of the rows.
constexpr Value classes_of(Value x) {
  graph::Extents rows{};
  rows.append(x.shape()[0]);
  return graph::iota(x.graph(), rows) % x.size(-1);
}
} // namespace detail

// In the order of tests/golden/scripts/edges.py.
inline constexpr EdgeRows edge_rows[] = {
    {"sum", [](Value x) { return graph::sum(x, {1}); }},
    {"mean", [](Value x) { return graph::mean(x, {1}); }},
    {"prod", [](Value x) { return graph::prod(x, {1}); }},
    {"max", [](Value x) { return graph::max(x, {1}); }},
    {"min", [](Value x) { return graph::min(x, {1}); }},
    {"var", [](Value x) { return graph::var(x, {1}); }},
    {"softmax", [](Value x) { return graph::softmax(x); }},
    {"log_softmax", [](Value x) { return graph::log_softmax(x); }},
    {"logsumexp", [](Value x) { return graph::logsumexp(x); }},
    {"layer_norm", [](Value x) { return graph::layer_norm(x); }},
    {"rms_norm", [](Value x) { return graph::rms_norm(x); }},
    {"normalize", [](Value x) { return graph::normalize(x); }},
    {"cosine_similarity", [](Value x) { return graph::cosine_similarity(x, detail::numbers_like(x)); }},
    {"cross_entropy",
     [](Value x) { return nn::cross_entropy(x, detail::classes_of(x), {.reduce = nn::Reduce::none}); }},
    {"cross_entropy of smoothed labels",
     [](Value x) {
       return nn::cross_entropy(x, detail::classes_of(x), {.label_smoothing = 0.2, .reduce = nn::Reduce::none});
     }},
    {"cross_entropy of probabilities",
     [](Value x) { return nn::cross_entropy(x, detail::numbers_like(x) * 0.1, {.reduce = nn::Reduce::none}); }},
    {"nll", [](Value x) { return nn::nll(x, detail::classes_of(x), {.reduce = nn::Reduce::none}); }},
};

/// A function's value, the gradient of its sum weighted by 1, 2, … along rows, and that of the gradient's.
constexpr std::array<Value, 3> with_derivatives(const EdgeRows& f, Value x) {
  const auto weighted = [](Value v) { return graph::sum(v.shape().rank == 2 ? v * detail::numbers_like(v) : v); };
  const Value y = f.function(x), first = graph::gradient(weighted(y), x);
  return {y, first, graph::gradient(weighted(first), x)};
}

} // namespace twill::test
