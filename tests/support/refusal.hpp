#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// A wrong call of traced functions, and what it is refused for: a row of tests/nn/refusals.test.cpp.

#include <twill/graph/functions.hpp>
#include <twill/graph/value.hpp>

#include <cstdint>
#include <initializer_list>
#include <string_view>

namespace twill::test {

using graph::Graph;
using graph::Value;
using Reason = graph::Problem;

inline constexpr auto float_type = DType::float32;
inline constexpr auto int_type = DType::int64;
constexpr int of(DType dtype) { return static_cast<int>(dtype); }

/// An input of the traced function.
constexpr Value in(Graph& graph, std::initializer_list<std::int64_t> extents, DType dtype = float_type) {
  graph::Extents shape{};
  for (std::int64_t extent : extents) shape.append({extent, 0});
  return {graph, graph.add_input(dtype, shape)};
}
/// One of two named axes.
constexpr Value rows_of(Graph& graph, std::string_view name) {
  graph::Extents shape{};
  shape.append(graph.symbol(name));
  return {graph, graph.add_input(float_type, shape)};
}
constexpr void use(const auto&...) {}

struct Refusal {
  Reason problem;
  std::int64_t left;
  std::int64_t right;
  void (*call)(Graph&);
};

} // namespace twill::test
