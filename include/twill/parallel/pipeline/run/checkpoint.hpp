#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// A training of a pipeline in one process as a checkpoint, which holds what one device would have: whole weights and states, a
// tied weight once, the count of steps, the rule's options, the draws to come. A pipeline that was cut goes on as one network,
// or on a mesh, and back. Read next: parallel/model/checkpoint.hpp.

#include <twill/core/config.hpp>
#include <twill/io/training.hpp>
#include <twill/parallel/pipeline/model/state.hpp>
#include <twill/parallel/pipeline/run/step.hpp>

namespace twill { inline namespace v0 { namespace io { inline namespace TWILL_ISA {

/// Copies everything that a pipeline and a step on it need to go on. Waits for the devices.
template <pipeline::ScheduleKind S, FloatingScalar T, pipeline::RankPlaces D, class... Parts, class L, optim::Rule R>
[[nodiscard]] Checkpoint checkpoint_of(pipeline::BasicPipeline<S, T, D, Parts...>& model,
                                       pipeline::PipelineStep<pipeline::BasicPipeline<S, T, D, Parts...>, L, R>& step) {
  Checkpoint checkpoint{};
  checkpoint.add("model", pipeline::state_dict(model));
  checkpoint.add("optimiser", step.state_dict());
  Draw draw = model.next_draw();
  set_draw(checkpoint, "random.device", draw); // what one device's generator would say
  --draw.step;
  set_draw(checkpoint, "random.model", draw);
  return checkpoint;
}

/// Goes on from a checkpoint of the same model and rule, with the options of the checkpoint or of the program.
/// throws: ShapeError, ValueError naming what does not fit, with nothing changed
template <pipeline::ScheduleKind S, FloatingScalar T, pipeline::RankPlaces D, class... Parts, class L, optim::Rule R>
train::OptionsReport restore(const Checkpoint& checkpoint, pipeline::BasicPipeline<S, T, D, Parts...>& model,
                             pipeline::PipelineStep<pipeline::BasicPipeline<S, T, D, Parts...>, L, R>& step,
                             OptionsOf of = OptionsOf::checkpoint) {
  const nn::StateDict states = detail::rule_state_of(checkpoint, of);
  const Draw of_model = draw_of(checkpoint, "random.device");
  step.require_loadable(states);
  pipeline::load_state_dict(model, checkpoint.state("model"));
  model.set_next_draw(of_model);
  return step.load_state_dict(states);
}

}}}} // namespace twill::v0::io::TWILL_ISA
