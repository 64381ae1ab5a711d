#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Weights named by a model's `forward`. A handle used twice is a tied weight; the same name twice is refused. Names
// nest with `Scope`. Initial values: nn/initialisers.hpp. Read next: nn/linear.hpp.

#include <twill/core/config.hpp>
#include <twill/graph/functions.hpp>
#include <twill/nn/initialisers.hpp>
#include <twill/ops/collective.hpp>

#include <initializer_list>
#include <string_view>

namespace twill { inline namespace v0 { namespace nn { inline namespace TWILL_ISA {

using graph::Initialiser;
using graph::Scope;
using graph::Value;

/// Whether the optimiser may change a weight.
enum class Trainable : bool { no, yes };

/// A weight of a given element type under the current scope, such as float32 in a model of half precision.
[[nodiscard]] TWILL_CONSTEXPR Value parameter(graph::Graph& graph, DType dtype, std::string_view name,
                                              const graph::Extents& shape, Initialiser initialiser,
                                              Trainable trainable = Trainable::yes, int line = __builtin_LINE()) {
  const graph::Role role = trainable == Trainable::yes ? graph::Role::weight : graph::Role::frozen_weight;
  const Value weight{graph, graph.add_parameter(name, dtype, shape, initialiser, role, line)};
  if (graph.split.ranks.size < 2 || !graph.split.sums_weights) return weight;
  return graph::copied_to(weight, graph.split.ranks); // each rank sees a part of the weight's operands
}

/// A weight of the model's element type under the current scope. A weight that is not trainable need not be reached by
/// the loss.
[[nodiscard]] TWILL_CONSTEXPR Value parameter(graph::Graph& graph, std::string_view name,
                                              std::initializer_list<std::int64_t> shape, Initialiser initialiser,
                                              Trainable trainable = Trainable::yes, int line = __builtin_LINE()) {
  graph::Extents extents{};
  for (std::int64_t extent : shape) extents.append({extent, 0});
  return parameter(graph, graph.element, name, extents, initialiser, trainable, line);
}

}}}} // namespace twill::v0::nn::TWILL_ISA
