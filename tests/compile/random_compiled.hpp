#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Random graphs through the whole compiler: traced from a seed, differentiated, fused, planned, and either compiled into
// kernels or interpreted, then run and compared with the graph run node by node.

#include "tests/support/compiled_rows.hpp"
#include "tests/support/random_graph.hpp"
#include "tests/support/table_interpreter.hpp"

#include <twill/compile/quick.hpp>
#include <twill/compile/run/executor.hpp>

#include <catch2/catch.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace twill::test {

inline constexpr RandomGraphOptions compiled_options{.steps = 9};

template <std::uint64_t Seed> struct RandomSource {
  static constexpr graph::Graph trace() { return random_graph_alone(Seed, compiled_options); }
};

/// An array's elements as bytes of its type, and back.
inline std::vector<std::byte> packed(const Array& array, DType dtype) {
  std::vector<std::byte> bytes(array.elements.size() * size_of(dtype) + 1);
  for (std::size_t i = 0; i < array.elements.size(); ++i)
    store(dtype, bytes.data() + i * size_of(dtype), array.elements[i]);
  return bytes;
}
inline Array unpacked(const std::vector<std::byte>& bytes, DType dtype, const Dims& shape) {
  Array array{shape, {}};
  for (std::int64_t i = 0; i < shape.elements(); ++i)
    array.elements.push_back(load(dtype, bytes.data() + static_cast<std::size_t>(i) * size_of(dtype)));
  return array;
}

inline std::string difference(const Array& expected, const Array& got, const std::string& where) {
  for (std::size_t i = 0; i < expected.elements.size(); ++i) {
    const double a = expected.elements[i];
    const double b = got.elements[i];
    const bool same = std::isnan(a)   ? std::isnan(b)
                      : std::isinf(a) ? a == b
                                      : std::fabs(a - b) <= 2e-5 * (1 + std::fabs(a) + std::fabs(b));
    if (!same)
      return where + ", element " + std::to_string(i) + ": " + std::to_string(a) + " became " + std::to_string(b);
  }
  return {};
}

/// What a run of a graph leaves behind, as bytes.
struct GraphRun {
  std::vector<std::vector<std::byte>> outputs{};
  std::vector<std::vector<std::byte>> parameters{};

  friend bool operator==(const GraphRun&, const GraphRun&) = default;
};

/// Runs a graph's table on the graph's numbers.
inline GraphRun run_table(const RandomGraph& made, const compile::TableView& table,
                          std::span<const compile::KernelFunction> kernels) {
  const Environment& environment = made.environment;
  GraphRun run{};
  std::vector<std::vector<std::byte>> inputs{};
  for (std::size_t i = 0; i < environment.inputs.size(); ++i)
    inputs.push_back(packed(environment.inputs[i], made.graph.node(made.graph.inputs[i].node).dtype));
  for (std::size_t i = 0; i < environment.parameters.size(); ++i)
    run.parameters.push_back(packed(environment.parameters[i], made.graph.node(made.graph.parameters[i].node).dtype));
  for (const int id : made.graph.outputs) {
    const graph::Node& node = made.graph.node(id);
    run.outputs.emplace_back(
        static_cast<std::size_t>(node.shape.evaluate(environment.symbols).elements()) * size_of(node.dtype) + 1);
  }
  const auto addresses = [](std::vector<std::vector<std::byte>>& arrays) {
    std::vector<void*> result{};
    for (auto& array : arrays) result.push_back(array.data());
    return result;
  };
  const auto input_addresses = addresses(inputs);
  const auto parameter_addresses = addresses(run.parameters);
  const auto output_addresses = addresses(run.outputs);
  std::vector<std::uint64_t> run_scalars{};
  for (std::size_t k = 0; k < environment.run_scalars.size(); ++k)
    run_scalars.push_back(kernel::bits_of(table.run_scalars[k].dtype, environment.run_scalars[k]));
  compile::Executor<Cpu> executor{Cpu{}, table, kernels, compile::Arena::kept};
  executor.run(environment.symbols, {.inputs = input_addresses,
                                     .parameters = parameter_addresses,
                                     .outputs = output_addresses,
                                     .run_scalars = run_scalars});
  synchronize(Cpu{});
  return run;
}

/// Where a run differs from the graph, node by node; empty: nowhere.
inline std::string fault_of(RandomGraph& made, const GraphRun& run) {
  const Results expected = evaluate(made.graph, made.environment);
  for (std::size_t k = 0; k < run.outputs.size(); ++k) {
    const DType dtype = made.graph.node(made.graph.outputs[k]).dtype;
    const Array got = unpacked(run.outputs[k], dtype, expected.outputs[k].shape);
    if (auto fault = difference(expected.outputs[k], got, "output " + std::to_string(k)); !fault.empty()) return fault;
  }
  for (std::size_t k = 0; k < run.parameters.size(); ++k) {
    const DType dtype = made.graph.node(made.graph.parameters[k].node).dtype;
    const Array got = unpacked(run.parameters[k], dtype, expected.parameters[k].shape);
    if (auto fault = difference(expected.parameters[k], got, "parameter " + std::to_string(k)); !fault.empty())
      return fault;
  }
  return {};
}

/// The table of a graph, made and interpreted at run time.
inline compile::QuickTable quick_table(const graph::Graph& graph) {
  static const std::array<compile::OperationKernel, 2> products{
      compile::OperationKernel{{&graph::matmul_operation, DType::float32},
                               &compile::detail::run_operation<&graph::matmul_operation, float>},
      compile::OperationKernel{{&graph::matmul_operation, DType::float64},
                               &compile::detail::run_operation<&graph::matmul_operation, double>}};
  return compile::QuickTable{graph, products};
}

} // namespace twill::test
