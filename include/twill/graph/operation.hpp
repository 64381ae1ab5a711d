#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Nodes of operations with kernels of their own. An operation is a constexpr object with a name and a gradient rule
// (graph/node.hpp); compile/program_type.hpp finds its kernel. Read next: ops/matmul.hpp, an example.

#include <twill/core/config.hpp>
#include <twill/graph/value.hpp>

#include <cstdint>
#include <initializer_list>

namespace twill { inline namespace v0 { namespace graph {

/// A node of the operation: its result 0. `attributes` are integers that its kernel reads.
[[nodiscard]] TWILL_CONSTEXPR Value add_operation(const Operation& operation, std::initializer_list<Value> inputs,
                                                  DType dtype, const Extents& shape,
                                                  std::initializer_list<std::int64_t> attributes = {}) {
  Graph& graph = inputs.begin()->graph();
  Node node{};
  node.kind = Kind::operation;
  node.operation = &operation;
  node.dtype = dtype;
  node.shape = shape;
  node.index = graph.add_attributes(attributes);
  for (const Value& input : inputs) node.inputs[node.arity++] = input.id();
  return {graph, graph.add(node)};
}

/// The element type by which the kernel of an operation is chosen.
[[nodiscard]] TWILL_CONSTEXPR DType typing_type(const Graph& graph, const Node& node) {
  const int by = node.operation->typed_by;
  return by < 0 ? node.dtype : graph.nodes.items[node.inputs.items[by]].dtype;
}

/// Result k = 1, 2, … of the operation whose result 0 is `first`.
[[nodiscard]] TWILL_CONSTEXPR Value add_result(Value first, int k, DType dtype, const Extents& shape) {
  Node node{};
  node.kind = Kind::result;
  node.dtype = dtype;
  node.shape = shape;
  node.index = k;
  node.arity = 1;
  node.inputs[0] = first.id();
  return {first.graph(), first.graph().add(node)};
}

}}} // namespace twill::v0::graph
