// SPDX-License-Identifier: Apache-2.0
//
// The whole table of derivatives, lowered and interpreted: rules, fusion and plan for every shape of every row, without
// compiling a kernel. tests/compile/gradients_*.test.cpp run the compiled programs.

#include "tests/support/batching_check.hpp"
#include "tests/support/gradient_table.hpp"
#include "tests/support/table_interpreter.hpp"

using namespace twill;
using namespace twill::test;

namespace {

/// Calls f with each row of the table.
template <class F> constexpr void for_each_row(F&& f) {
  std::apply([&](const auto&... row) { (f(row), ...); }, all_rows);
}

/// A node of each sort over floating inputs, and whether its rule gives a gradient to any of them.
constexpr bool has_derivative(graph::Node node, const std::array<DType, 4>& types) {
  graph::Graph graph{};
  graph::Extents shape{};
  shape.append({3, 0});
  node.dtype = DType::float64;
  node.shape = shape;
  graph::Few<bool, graph::max_inputs> wanted{};
  for (std::size_t k = 0; k < node.arity; ++k) {
    node.inputs[k] = graph.add_input(types[k], shape);
    wanted[k] = is_floating(types[k]);
  }
  const int id = graph.add(node);
  const graph::Value cotangent{graph, graph.add_input(DType::float64, shape)};
  for (int gradient : graph::detail::node_gradient(graph, id, cotangent, wanted).ids)
    if (gradient >= 0) return true;
  return false;
}

constexpr bool has_derivative(kernel::Primitive primitive) {
  if (kernel::info(primitive).boolean_result || primitive >= kernel::Primitive::random_uniform) return false;
  graph::Node node{};
  node.kind = graph::Kind::primitive;
  node.primitive = primitive;
  node.arity = static_cast<std::uint8_t>(kernel::info(primitive).arity);
  std::array<DType, 4> types{DType::float64, DType::float64, DType::float64, DType::float64};
  if (primitive == kernel::Primitive::where) types[0] = DType::boolean;
  return has_derivative(node, types);
}

constexpr bool has_derivative(kernel::Reduction reduction) {
  graph::Node node{};
  node.kind = graph::Kind::reduce;
  node.reduction = reduction;
  node.arity = 1;
  return has_derivative(node, {DType::float64});
}

/// The first sort of node that has a rule and no row, as a number; -1 when there is none.
struct Missing {
  int primitive = -1;
  int reduction = -1;
};

constexpr Missing missing_rows() {
  std::array<bool, kernel::primitive_count> primitives{};
  std::array<bool, 6> reductions{};
  for_each_row([&](const auto& row) {
    graph::Graph graph{DType::float64};
    std::array<Value, std::remove_cvref_t<decltype(row)>::inputs> x{};
    for (std::size_t k = 0; k < x.size(); ++k)
      x[k] = {graph, graph.add_input(DType::float64, graph::extents_of(row.shapes[0][k]))};
    static_cast<void>(std::apply(row.function, x));
    for (const graph::Node& node : graph.nodes) {
      if (node.kind == graph::Kind::primitive) primitives[static_cast<std::size_t>(node.primitive)] = true;
      if (node.kind == graph::Kind::reduce) reductions[static_cast<std::size_t>(node.reduction)] = true;
    }
  });
  Missing missing{};
  for (std::size_t i = 0; i < primitives.size(); ++i)
    if (!primitives[i] && has_derivative(static_cast<kernel::Primitive>(i))) missing.primitive = static_cast<int>(i);
  for (std::size_t i = 0; i < reductions.size(); ++i)
    if (!reductions[i] && has_derivative(static_cast<kernel::Reduction>(i))) missing.reduction = static_cast<int>(i);
  return missing;
}

static_assert(missing_rows().primitive == -1, "a primitive has a derivative and no row in gradient_table.hpp");
static_assert(missing_rows().reduction == -1, "a reduction has a derivative and no row in gradient_table.hpp");
static_assert(has_derivative(kernel::Primitive::tanh) && !has_derivative(kernel::Primitive::floor));
static_assert(has_derivative(kernel::Reduction::max) && !has_derivative(kernel::Reduction::any));

} // namespace

TEST_CASE("first and second derivatives of every row agree with finite differences, on all shapes",
          "[graph][gradient]") {
  struct Case {
    DerivativeCheck check;
    graph::Graph graph;
  };
  std::vector<Case> cases{};
  for_each_row([&](const auto& row) {
    for (const auto& shapes : row.shapes) {
      graph::Graph graph = derivative_graph(row.function, shapes);
      const Dims result = graph.node(graph.outputs[1]).shape.evaluate({});
      cases.push_back({check_of(row, shapes, result), std::move(graph)});
    }
  });
  for (const Case& each : cases) {
    INFO(each.check.name);
    REQUIRE(!each.graph.fault.any());
    const compile::Lowered lowered = compile::lower(each.graph);
    check_derivatives(each.check, [&](const std::vector<Array>& inputs) {
      return interpret(lowered, {{}, inputs, {}, {}}).outputs;
    });
  }
}

TEST_CASE("vmap of every row and of its derivatives is a loop over the examples", "[graph][vmap]") {
  const auto run = [](const graph::Graph& graph, const std::vector<Array>& inputs) {
    return interpret(compile::lower(graph), {{}, inputs, {}, {}}).outputs;
  };
  for_each_row([&](const auto& row) {
    constexpr std::size_t inputs = std::remove_cvref_t<decltype(row)>::inputs;
    for (const auto& shapes : row.shapes) {
      INFO(row.name << " on " << to_string(shapes.front()) << " to " << to_string(shapes.back()));
      const graph::Graph graph = derivative_graph(row.function, shapes);
      check_batching<inputs>(row.function, {row.ranges.begin(), row.ranges.end()}, {shapes.begin(), shapes.end()},
                             graph.node(graph.outputs[1]).shape.evaluate({}), run, row.step > 1e-4 ? 1e-5 : 1e-9);
    }
  });
}

TEST_CASE("gradients by parameters of incomplete functions are refused by the function's name", "[graph][gradient]") {
  const auto fault_of = [](const auto& function) { return derivative_graph(function, std::array{Dims(3)}).fault; };
  const graph::Fault beta = fault_of([](graph::Value a) { return graph::betainc(a, 2, 0.25); });
  CHECK(beta.problem == graph::Problem::operation_has_no_gradient);
  CHECK(std::string{beta.name} == "betainc");
  CHECK(std::string{fault_of([](graph::Value b) { return graph::betainc(2, b, 0.25); }).name} == "betainc");
  CHECK(std::string{fault_of([](graph::Value a) { return graph::gammainc(a, 2); }).name} == "gammainc");
  graph::Graph graph{DType::float64};
  const graph::Value a{graph, graph.add_input(DType::float64, graph::extents_of(Dims(3)))};
  const graph::Value b{graph, graph.add_input(DType::int64, graph::extents_of(Dims(2, 1)))};
  const graph::Value broadcast = graph::betainc(a, b, 0.5F);
  CHECK(broadcast.shape().evaluate({}) == Dims(2, 3));
  CHECK(broadcast.dtype() == DType::float64);
}
