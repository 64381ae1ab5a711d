#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Costs of a pipeline's stages by counting, for `simulate`: bytes from their programs, exact, and times on a device
// given by two numbers, the most arithmetic and the most memory traffic in a second. A program takes its arithmetic at
// the first rate and the bytes that its launches read and write at the second, one after the other. Such costs ignore
// caches and the quality of a kernel. Read next: parallel/pipeline/schedule/predict.hpp.

#include <twill/compile/plan/memory_use.hpp>
#include <twill/compile/traced.hpp>
#include <twill/core/config.hpp>
#include <twill/parallel/pipeline/model/pipeline.hpp>
#include <twill/parallel/pipeline/model/programs.hpp>
#include <twill/parallel/pipeline/run/step_options.hpp>
#include <twill/parallel/pipeline/schedule/predict.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>

namespace twill { inline namespace v0 { namespace parallel { namespace pipeline {

/// A device in two numbers, measured or from a data sheet, and the time of every launch.
struct Machine {
  double operations_per_s = 0; ///< a multiply-add is two
  double bytes_per_s = 0;      ///< of memory, read and written together
  double launch_s = 0;         ///< the least time of every launch
};

}}}} // namespace twill::v0::parallel::pipeline

namespace twill { inline namespace v0 { namespace parallel { namespace pipeline { inline namespace TWILL_ISA {

/// Seconds of a program, by its table and its trace, for these numbers of its symbols: arithmetic of products and the
/// like, for that of elementwise code is hidden by its traffic; bytes; launches. A rate of 0 is not counted.
[[nodiscard]] double counted_s(const compile::TableView& table, const graph::Graph& trace,
                               const graph::SymbolValues& symbols, const Machine& machine);

}}}}} // namespace twill::v0::parallel::pipeline::TWILL_ISA

namespace twill { inline namespace v0 { namespace parallel { namespace pipeline { namespace detail {
inline namespace TWILL_ISA {

template <class Stage>
[[nodiscard]] StageCost bytes_of_stage(const graph::SymbolValues& symbols, Checkpointing checkpointing) {
  StageCost cost;
  cost.kept_bytes =
      checkpointing == Checkpointing::always ? Stage::bytes_of_received(symbols) : Stage::bytes_kept(symbols);
  if constexpr (requires { Stage::bytes_between(symbols); }) cost.between_bytes = Stage::bytes_between(symbols);
  using Shown = compile::Signature<StageInference<typename Stage::Source>>;
  for (std::size_t i = 0; i < Shown::sizes.outputs; ++i)
    cost.output_bytes += compile::bytes_of(Shown::frozen.outputs[i].dtype, Shown::frozen.outputs[i].shape, symbols);
  for (const graph::ParameterInfo& info : Stage::shown().parameters) {
    const std::int64_t bytes = compile::bytes_of(info.dtype, info.shape, symbols);
    cost.fixed_bytes += compile::pool_bytes(bytes);
    if (info.role != graph::Role::weight) continue;
    cost.fixed_bytes += compile::pool_bytes(bytes); // its gradient
    cost.gradient_bytes += bytes;
  }
  return cost;
}

/// Seconds of one program of a stage.
template <class Program> [[nodiscard]] double program_s(const graph::SymbolValues& symbols, const Machine& machine) {
  return counted_s(compile::Compiled<Program>::view(), compile::trace_of<Program>(), symbols, machine);
}

template <class Stage, bool Split>
void count_times(const graph::SymbolValues& symbols, const Machine& machine, StageCost& cost) {
  using F = typename Stage::Source;
  cost.forward_s = program_s<StageForward<F>>(symbols, machine);
  if constexpr (!Split) {
    cost.input_gradient_s = program_s<StageBackward<F>>(symbols, machine);
  } else {
    if constexpr (Stage::counts.received > 0)
      cost.input_gradient_s = program_s<StageInputGradient<F>>(symbols, machine);
    if constexpr (Stage::counts.weights > 0)
      cost.weight_gradient_s = program_s<StageWeightGradient<F>>(symbols, machine);
  }
}

}}}}}} // namespace twill::v0::parallel::pipeline::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace parallel { namespace pipeline { inline namespace TWILL_ISA {

/// The bytes of each stage of a pipeline P for micro-batches whose inputs have these shapes. Times are left at zero.
/// Kept bytes are those of a recomputed micro-batch, if all are.
template <class P, std::size_t N>
[[nodiscard]] List<StageCost> stage_bytes(const std::array<Dims, N>& shapes,
                                          const StageCheckpointing& checkpointing = {}) {
  List<StageCost> costs;
  P::for_each_number([&]<std::size_t I>(std::integral_constant<std::size_t, I>) {
    using Stage = std::tuple_element_t<I, typename P::Stages>;
    costs.push_back(detail::bytes_of_stage<Stage>(P::Plan::template symbols<Stage>(shapes, shapes[0][0]),
                                                  checkpointing(static_cast<int>(I))));
  });
  return costs;
}

/// The costs of a pipeline P's stages on a machine that need not be here, for micro-batches whose inputs have these
/// shapes.
template <class P, std::size_t N>
[[nodiscard]] List<StageCost> counted_costs(const std::array<Dims, N>& shapes, const Machine& machine) {
  List<StageCost> costs = stage_bytes<P>(shapes);
  P::for_each_number([&]<std::size_t I>(std::integral_constant<std::size_t, I>) {
    using Stage = std::tuple_element_t<I, typename P::Stages>;
    detail::count_times<Stage, detail::splits_gradients<typename P::ScheduleType, P::ranks>()>(
        P::Plan::template symbols<Stage>(shapes, shapes[0][0]), machine, costs[I]);
  });
  return costs;
}

}}}}} // namespace twill::v0::parallel::pipeline::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/parallel/pipeline/run/costs.ipp>
#endif
