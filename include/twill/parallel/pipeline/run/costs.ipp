#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of parallel/pipeline/run/costs.hpp.

#include <twill/compile/plan/memory_use.hpp>
#include <twill/parallel/fit/stage_replay.hpp>
#include <twill/parallel/pipeline/run/costs.hpp>

namespace twill { inline namespace v0 { namespace parallel { namespace pipeline { namespace detail {
inline namespace TWILL_ISA {

TWILL_BODY StageCost bytes_of_stage(const fit::StagePlan& stage, const graph::SymbolValues& symbols,
                                    Checkpointing checkpointing) {
  StageCost cost{};
  fit::Ledger ledger{};
  fit::StageReplay replay{stage, ledger};
  if (stage.counts.received > 0) replay.inputs.emplace(0, replay.make_inputs(symbols));
  replay.forward(
      0, symbols, [](int) { return true; }, checkpointing == Checkpointing::always);
  replay.outputs.clear();
  cost.kept_bytes = ledger.now().total();
  if (stage.splits_gradients) {
    replay.cotangents.emplace(0, replay.make_cotangents(symbols));
    replay.input_gradient(0);
    replay.input_gradients.clear();
    cost.between_bytes = ledger.now().total();
  }
  for (const int id : stage.inference.graph().outputs) {
    const graph::Node& node = stage.inference.graph().node(id);
    cost.output_bytes += compile::bytes_of(node.dtype, node.shape, symbols);
  }
  for (const graph::ParameterInfo& info : stage.inference.view().parameters) {
    const std::int64_t bytes = compile::bytes_of(info.dtype, info.shape, symbols);
    cost.fixed_bytes += compile::pool_bytes(bytes);
    if (info.role != graph::Role::weight) continue;
    cost.fixed_bytes += compile::pool_bytes(bytes); // its gradient
    cost.gradient_bytes += bytes;
  }
  return cost;
}

TWILL_BODY void count_times(const fit::StagePlan& stage, const graph::SymbolValues& symbols, const Machine& machine,
                            StageCost& cost) {
  const auto seconds = [&](const fit::PlannedProgram& program) {
    return counted_s(program.view(), program.graph(), symbols, machine);
  };
  cost.forward_s = seconds(stage.forward);
  if (!stage.splits_gradients) {
    cost.input_gradient_s = seconds(stage.backward);
    return;
  }
  if (stage.counts.received > 0) cost.input_gradient_s = seconds(stage.input_gradient);
  if (stage.counts.weights > 0) cost.weight_gradient_s = seconds(stage.weight_gradient);
}

}}}}}} // namespace twill::v0::parallel::pipeline::detail::TWILL_ISA
