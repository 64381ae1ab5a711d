#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Programs of the derivative graphs of rows of the table, for their first shapes: made when they run, as in quick builds, and
// for the first row of a run by the compiler, too. Each row is a source of its own.

#include "tests/support/gradient_table.hpp"

#include <twill/compile/quick.hpp>
#include <twill/compile/run/executor.hpp>

#include <utility>

namespace twill::test {

/// Row I of a group of the table. The group is a constexpr tuple with linkage.
template <const auto& Group, std::size_t I> struct CompiledRow {
  static constexpr const auto& row = std::get<I>(Group);
  static constexpr graph::Graph trace() { return derivative_graph(row.function, row.shapes[0]); }
};

/// Runs a compiled table on arrays of doubles.
inline std::vector<Array> run_compiled(compile::Executor<Cpu>& executor, const std::vector<Array>& inputs) {
  const compile::TableView& table = executor.table();
  std::vector<Array> outputs(static_cast<std::size_t>(table.outputs));
  std::vector<std::vector<float>> narrow(outputs.size());
  std::vector<void*> input_addresses{};
  std::vector<void*> output_addresses(outputs.size());
  for (const Array& input : inputs) input_addresses.push_back(const_cast<double*>(input.elements.data()));
  for (const compile::ValueInfo& value : table.values) {
    if (value.storage != compile::Storage::output) continue;
    const auto k = static_cast<std::size_t>(value.index);
    outputs[k].shape = value.shape.evaluate({});
    outputs[k].elements.resize(static_cast<std::size_t>(outputs[k].shape.elements()));
    narrow[k].resize(outputs[k].elements.size());
    output_addresses[k] =
        value.dtype == DType::float64 ? static_cast<void*>(outputs[k].elements.data()) : narrow[k].data();
  }
  executor.run({}, {.inputs = input_addresses, .outputs = output_addresses});
  for (const compile::ValueInfo& value : table.values)
    if (value.storage == compile::Storage::output && value.dtype == DType::float32)
      outputs[static_cast<std::size_t>(value.index)].elements.assign(
          narrow[static_cast<std::size_t>(value.index)].begin(), narrow[static_cast<std::size_t>(value.index)].end());
  return outputs;
}

inline void check_compiled(const DerivativeCheck& check, const compile::TableView& table,
                           std::span<const compile::KernelFunction> kernels) {
  compile::Executor<Cpu> executor{Cpu{}, table, kernels, compile::Arena::kept};
  check_derivatives(check, [&](const std::vector<Array>& inputs) { return run_compiled(executor, inputs); });
}

/// Checks rows First to Last - 1 of a group, of which the first is also compiled.
template <const auto& Group, std::size_t First, std::size_t Last> void check_rows() {
  const auto check = [&]<std::size_t I>(std::integral_constant<std::size_t, I>) {
    using Source = CompiledRow<Group, I>;
    const graph::Graph graph = Source::trace();
    const Dims result = graph.node(graph.outputs[1]).shape.evaluate({});
    const DerivativeCheck of_row = check_of(Source::row, Source::row.shapes[0], result);
    using Quick = compile::Quick<Source>;
    check_compiled(of_row, Quick::view(), Quick::template kernels<Team>());
    if constexpr (I == First) check_compiled(of_row, compile::Compiled<Source>::view(), compile::kernels<Source>);
  };
  [&]<std::size_t... I>(std::index_sequence<I...>) { (check(std::integral_constant<std::size_t, First + I>{}), ...); }
  (std::make_index_sequence<Last - First>{});
}

} // namespace twill::test
