#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// The costs that `predict` wants of a pipeline's stages: bytes from their programs, exact, and times from the timeline of a step
// that was carried out. Read next: parallel/pipeline/schedule/predict.hpp.

#include <twill/compile/memory_use.hpp>
#include <twill/core/config.hpp>
#include <twill/parallel/pipeline/model/pipeline.hpp>
#include <twill/parallel/pipeline/run/step_options.hpp>
#include <twill/parallel/pipeline/schedule/predict.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace twill::inline v0::pipeline::detail::inline TWILL_ISA {

template <class Stage>
[[nodiscard]] StageCost bytes_of_stage(const graph::SymbolValues& symbols, Checkpointing checkpointing) {
  StageCost cost;
  cost.kept_bytes =
      checkpointing == Checkpointing::always ? Stage::bytes_of_received(symbols) : Stage::bytes_kept(symbols);
  if constexpr (requires { Stage::bytes_between(symbols); }) cost.between_bytes = Stage::bytes_between(symbols);
  using Shown = compile::Face<StageInference<typename Stage::Source>>;
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

} // namespace twill::inline v0::pipeline::detail::inline TWILL_ISA

namespace twill::inline v0::pipeline::inline TWILL_ISA {

/// The bytes of each stage of a pipeline P for micro-batches whose inputs have these shapes. Times are left at zero. What is
/// kept is that of a micro-batch which is computed again, if all are.
template <class P, std::size_t N>
[[nodiscard]] List<StageCost> stage_bytes(const std::array<Dims, N>& shapes,
                                          const StageCheckpointing& checkpointing = {}) {
  List<StageCost> costs;
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    (costs.push_back(detail::bytes_of_stage<std::tuple_element_t<I, typename P::Stages>>(
         P::Plan::template symbols<std::tuple_element_t<I, typename P::Stages>>(shapes, shapes[0][0]),
         checkpointing(static_cast<int>(I)))),
     ...);
  }
  (typename P::Sequence{});
  return costs;
}

/// Takes times from what was carried out: for each stage the mean over micro-batches. A whole backward pass counts as the
/// gradient of the input.
void take_times(const Timeline& timeline, List<StageCost>& costs);

} // namespace twill::inline v0::pipeline::inline TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/parallel/pipeline/run/costs.ipp>
#endif
