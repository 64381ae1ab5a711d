// SPDX-License-Identifier: Apache-2.0
//
// Frozen traces: at run time the graph is that of the compiler, whether or not it fits the usual room.

#include <twill/compile/traced.hpp>
#include <twill/graph/gradient.hpp>
#include <twill/graph/random.hpp>
#include <twill/graph/reductions.hpp>
#include <twill/ops/matmul.hpp>

#include <catch2/catch.hpp>

#include <bit>
#include <cstdint>
#include <limits>

using namespace twill;

namespace {

/// Nodes of many kinds, this many times.
template <int Times> struct Layers {
  static constexpr graph::Graph trace() {
    graph::Graph graph{DType::float32};
    graph::Extents shape{};
    shape.append(graph.symbol("batch"));
    shape.append({3, 0});
    graph::Value x{graph, graph.add_input(DType::float32, shape)};
    graph::Extents square{};
    square.append({3, 0});
    square.append({3, 0});
    const graph::Value w{graph, graph.add_parameter("weight", DType::float32, square, {}, graph::Role::weight, {})};
    for (int i = 0; i < Times; ++i) {
      const graph::Scope scope{graph, "layer", i};
      const graph::Value turned = graph::transpose(w);
      const graph::Value product = graph::matmul(x, turned);
      const graph::Value smooth = sigmoid(product);
      const graph::Value mean = graph::mean(smooth, {0}, graph::KeepDims::yes);
      const graph::Value limit = graph::where(mean > 0.5, mean, -std::numeric_limits<double>::infinity());
      const graph::Value noise = graph::random_uniform(graph, shape);
      x = maximum(noise, limit);
      x = graph::cast(graph::cast(x * -0.0, DType::bfloat16), DType::float32);
    }
    const graph::Value total = graph::sum(x, {0, 1});
    const graph::Value by_weight = graph::gradient(total, w);
    graph.outputs.push_back(by_weight.id());
    graph.outputs.push_back(total.id());
    return graph;
  }
};

/// A number of all that a graph says. A second trace at run time could have another: C++ leaves open in which order
/// operands are evaluated.
constexpr std::uint64_t digest(const graph::Graph& graph) {
  std::uint64_t sum = 0;
  const auto add = [&](auto number) { sum = (sum ^ static_cast<std::uint64_t>(number)) * 0x9E3779B97F4A7C15 + 1; };
  const auto add_extent = [&](const graph::Extent& extent) { add(extent.factor), add(extent.symbols); };
  for (const graph::Node& node : graph.nodes) {
    add(node.kind), add(node.dtype), add(node.primitive), add(node.reduction), add(node.arity), add(node.axis);
    add(node.slot), add(node.index), add(node.scope), add(node.region), add(std::bit_cast<std::int64_t>(node.value));
    for (const std::int8_t axis : node.permutation) add(axis);
    for (const int input : node.inputs) add(input);
    add_extent(node.over);
    for (int axis = 0; axis < node.shape.rank; ++axis) add_extent(node.shape[axis]);
    if (node.operation == nullptr) continue;
    for (const char character : node.operation->name) add(character);
  }
  for (const int output : graph.outputs) add(output);
  for (const std::int64_t attribute : graph.attributes) add(attribute);
  for (const graph::Name& scope : graph.scopes) add(scope.hash);
  return sum;
}

template <class Source> void check() {
  constexpr std::uint64_t traced = digest(Source::trace());
  REQUIRE(digest(compile::trace_of<Source>()) == traced);
  constexpr graph::InputInfo result = compile::Traced<Source>::template output<0>();
  STATIC_REQUIRE(result.dtype == DType::float32);
  STATIC_REQUIRE(result.shape == graph::Extents{3, 3});
}

} // namespace

TEST_CASE("the graph of a small trace at run time is the compiler's", "[compile]") { check<Layers<1>>(); }

TEST_CASE("the graph of a trace that exceeds the usual room at run time is the compiler's", "[compile]") {
  check<Layers<16>>();
}
