#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Checkpoints of pipeline training in one process, equal to one device's: whole weights and states, a tied weight once,
// the count of steps, the rule's options, the next draws. A cut pipeline resumes as one network, or on a mesh, and
// back. Read next: parallel/model/checkpoint.hpp.

#include <twill/core/config.hpp>
#include <twill/io/training.hpp>
#include <twill/parallel/pipeline/model/state.hpp>
#include <twill/parallel/pipeline/run/step.hpp>

namespace twill { inline namespace v0 { namespace io { inline namespace TWILL_ISA {

/// Copies everything that a pipeline and a step on it need to resume. Waits for the devices.
template <pipeline::ScheduleKind S, FloatingScalar T, pipeline::RankPlaces D, class... Parts, class L, optim::Rule R>
[[nodiscard]] Checkpoint checkpoint_of(pipeline::BasicPipeline<S, T, D, Parts...>& model,
                                       pipeline::PipelineStep<pipeline::BasicPipeline<S, T, D, Parts...>, L, R>& step) {
  Checkpoint checkpoint{};
  checkpoint.add("model", pipeline::state_dict(model));
  checkpoint.add("optimiser", step.state_dict());
  Draw draw = model.next_draw();
  set_draw(checkpoint, "random.device", draw); // the generator's state on one device
  --draw.step;
  set_draw(checkpoint, "random.model", draw);
  return checkpoint;
}

/// Resumes from a checkpoint of the same model and rule, with the options of the checkpoint or of the program.
/// throws: ShapeError, ValueError naming the mismatch, with nothing changed
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
