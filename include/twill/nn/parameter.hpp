#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Weights and buffers named by a model's `forward`. A handle used twice is a tied weight; the same name twice is
// refused. Names nest with `Scope`. Buffers are tensors that the forward pass writes, such as running statistics: saved
// with the weights, changed by no optimiser, read with their values from before the pass, without a gradient. Initial
// values: nn/initialisers.hpp. Read next: nn/linear.hpp.

#include <twill/core/call_site.hpp>
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
                                              Trainable trainable = Trainable::yes, CallSite site = CallSite::here()) {
  const graph::Role role = trainable == Trainable::yes ? graph::Role::weight : graph::Role::frozen_weight;
  const Value weight{graph, graph.add_parameter(name, dtype, shape, initialiser, role, site)};
  if (graph.split.ranks.size < 2 || !graph.split.sums_weights) return weight;
  return graph::copied_to(weight, graph.split.ranks); // each rank sees a part of the weight's operands
}

/// A weight of the model's element type under the current scope. A weight that is not trainable need not be reached by
/// the loss.
[[nodiscard]] TWILL_CONSTEXPR Value parameter(graph::Graph& graph, std::string_view name,
                                              std::initializer_list<std::int64_t> shape, Initialiser initialiser,
                                              Trainable trainable = Trainable::yes, CallSite site = CallSite::here()) {
  graph::Extents extents{};
  for (std::int64_t extent : shape) extents.append({extent, 0});
  return parameter(graph, graph.element, name, extents, initialiser, trainable, site);
}

/// True while the network trains: `eval()` makes it false for the next `forward`. A graph traced for evaluation does
/// not need it.
[[nodiscard]] TWILL_CONSTEXPR Value is_training(graph::Graph& graph) {
  const Value flag = graph::run_scalar(graph, "nn.is_training", 1, DType::boolean);
  graph.run_scalars[static_cast<std::size_t>(flag.node().index)].training_only = true;
  return flag;
}

/// A tensor under the current scope in which every element starts as `initial`.
[[nodiscard]] TWILL_CONSTEXPR Value buffer(graph::Graph& graph, DType dtype, std::string_view name,
                                           const graph::Extents& shape, Initialiser initial,
                                           CallSite site = CallSite::here()) {
  const int stored = graph.add_parameter(name, dtype, shape, initial, graph::Role::buffer, site);
  // The model reads a copy: a backward pass may need it after the buffer has its next value.
  graph::Node read{};
  read.kind = graph::Kind::cast;
  read.dtype = dtype;
  read.shape = shape;
  read.arity = 1;
  read.inputs[0] = stored;
  return {graph, graph.add(read)};
}

/// Sets the value of the buffer from the end of a forward pass in training. value: any type, of the buffer's shape.
TWILL_CONSTEXPR void update_buffer(Value buffer, Value value, CallSite site = CallSite::here()) {
  graph::Graph& graph = buffer.graph();
  const int stored = buffer.node().arity == 1 ? buffer.node().input(0) : buffer.id();
  const graph::Node& target = graph.node(stored);
  if (target.kind != graph::Kind::parameter ||
      graph.parameters[static_cast<std::size_t>(target.index)].role != graph::Role::buffer)
    return graph.refuse(graph::Problem::update_of_a_value_that_is_not_a_buffer, stored, 0, site);
  graph::ParameterInfo& info = graph.parameters[static_cast<std::size_t>(target.index)];
  if (info.is_updated)
    return graph.refuse(graph::Problem::buffer_is_updated_twice, stored, 0, site,
                        graph::Named::weight(info.name.view()));
  info.is_updated = true;
  if (!graph.training) return;
  const Value next = graph::cast(graph::stop_gradient(value), buffer.dtype());
  graph.add_assign(stored, graph::where(is_training(graph), next, buffer).id());
}

}}}} // namespace twill::v0::nn::TWILL_ISA
