#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// A device in two numbers, the most arithmetic and the most memory traffic in a second, measured or from a data sheet; and
// what the programs of a pipeline's stages take on it, by counting alone: their arithmetic at the one rate and the bytes that
// their launches read and write at the other, one after the other. Such costs know nothing of caches and of how well a kernel
// does; what was measured does (parallel/pipeline/run/measure.hpp). Read next: parallel/pipeline/schedule/predict.hpp.

#include <twill/compile/traced.hpp>
#include <twill/core/clock.hpp>
#include <twill/core/config.hpp>
#include <twill/expr/evaluate.hpp>
#include <twill/expr/matmul.hpp>
#include <twill/expr/operators.hpp>
#include <twill/parallel/pipeline/model/programs.hpp>
#include <twill/parallel/pipeline/run/costs.hpp>
#include <twill/tensor/tensor.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

namespace twill::inline v0::pipeline {

/// What a measurement says about the machine it ran on.
struct Machine {
  double operations_per_s = 0; ///< a multiply-add is two
  double bytes_per_s = 0;      ///< of memory, read and written together
  double launch_s = 0;         ///< what every launch takes at least
};

} // namespace twill::inline v0::pipeline

namespace twill::inline v0::pipeline::detail::inline TWILL_ISA {

/// The shortest time of some runs of f on a device.
template <ComputeDevice D, class F> [[nodiscard]] double shortest_s(const D& device, int runs, F f) {
  double best = 0;
  for (int run = 0; run <= runs; ++run) {
    const double start = steady_seconds();
    f();
    synchronize(device);
    const double time = steady_seconds() - start;
    if (run > 0) best = run == 1 ? time : std::min(best, time); // the first one touches the memory
  }
  return best;
}

/// What one program of a stage takes.
template <class Program> [[nodiscard]] double counted_s(const graph::SymbolValues& symbols, const Machine& machine) {
  const compile::TableView table = compile::Compiled<Program>::view();
  double bytes = 0;
  double launches = 0;
  for (const compile::Instruction& instruction : table.instructions) {
    launches += instruction.continues ? 0 : 1;
    for (int k = 0; k < instruction.operand_count; ++k) {
      const compile::OperandInfo& operand = table.operands[static_cast<std::size_t>(instruction.first_operand + k)];
      if (operand.kind != compile::OperandKind::memory || operand.value < 0) continue;
      const compile::ValueInfo& value = table.values[static_cast<std::size_t>(operand.value)];
      bytes += static_cast<double>(compile::bytes_of(value.dtype, value.shape, symbols));
    }
  }
  // Arithmetic of products and the like: that of elements is hidden behind their traffic.
  const graph::Graph graph = compile::trace_of<Program>();
  double operations = 0;
  const List<char> needed = compile::detail::needed_nodes(graph);
  for (int id = 0; id < graph.size(); ++id)
    if (needed.data()[id] != 0 && graph.node(id).kind == graph::Kind::operation)
      operations += static_cast<double>(compile::work_of(graph, graph.node(id), symbols).operations);
  return operations / machine.operations_per_s + bytes / machine.bytes_per_s + launches * machine.launch_s;
}

template <class Stage, bool Split>
void count_times(const graph::SymbolValues& symbols, const Machine& machine, StageCost& cost) {
  using F = typename Stage::Source;
  cost.forward_s = counted_s<StageForward<F>>(symbols, machine);
  if constexpr (!Split) {
    cost.input_gradient_s = counted_s<StageBackward<F>>(symbols, machine);
  } else {
    if constexpr (Stage::counts.received > 0)
      cost.input_gradient_s = counted_s<StageInputGradient<F>>(symbols, machine);
    if constexpr (Stage::counts.weights > 0)
      cost.weight_gradient_s = counted_s<StageWeightGradient<F>>(symbols, machine);
  }
}

} // namespace twill::inline v0::pipeline::detail::inline TWILL_ISA

namespace twill::inline v0::pipeline::inline TWILL_ISA {

/// What a device does at best in float32: a product of two matrices of 768 rows and columns, a sum of two vectors of so many
/// bytes, which caches should not hold, and a sum of two of one pack.    cost: three vectors, a tenth of a second on one core
template <ComputeDevice D>
[[nodiscard]] Machine measure_machine(const D& device, std::int64_t vector_bytes = std::int64_t{1} << 26) {
  Machine machine;
  {
    constexpr std::int64_t n = 768;
    Tensor<float, D, Shape<dyn, dyn>> a(device, Dims(n, n)), b(device, Dims(n, n)), c(device, Dims(n, n));
    a.fill(0.5F);
    b.fill(0.25F);
    machine.operations_per_s = 2.0 * n * n * n / detail::shortest_s(device, 5, [&] { c = matmul(a, b); });
  }
  const auto sum_s = [&](std::int64_t elements) {
    Tensor<float, D, Shape<dyn>> a(device, Dims(elements)), b(device, Dims(elements)), c(device, Dims(elements));
    a.fill(1);
    b.fill(2);
    return detail::shortest_s(device, 5, [&] { c = a + 0.5F * b; });
  };
  const std::int64_t many = vector_bytes / static_cast<std::int64_t>(sizeof(float));
  machine.bytes_per_s = 3 * static_cast<double>(vector_bytes) / sum_s(many);
  machine.launch_s = sum_s(16);
  return machine;
}

/// The costs of a pipeline P's stages on a machine that need not be here, for micro-batches whose inputs have these shapes.
template <class P, std::size_t N>
[[nodiscard]] List<StageCost> counted_costs(const std::array<Dims, N>& shapes, const Machine& machine) {
  List<StageCost> costs = stage_bytes<P>(shapes);
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    (detail::count_times<std::tuple_element_t<I, typename P::Stages>,
                         detail::splits_gradients<typename P::ScheduleType, P::ranks>()>(
         P::Plan::template symbols<std::tuple_element_t<I, typename P::Stages>>(shapes, shapes[0][0]), machine,
         costs[I]),
     ...);
  }
  (typename P::Sequence{});
  return costs;
}

} // namespace twill::inline v0::pipeline::inline TWILL_ISA
