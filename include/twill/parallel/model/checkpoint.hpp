#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Checkpoints of pipelines in one process and of models on a mesh of ranks, equal to one device's: whole weights and
// states under the names of one network, a tied weight once, the count of steps, the rule's options, the next draws.
// Training resumes bit for bit on one device, as a pipeline, and on a mesh of any form, by `io::restore`. Other draws
// of a mesh's devices resume if there are as many ranks. Read next: io/training.hpp.

#include <twill/core/config.hpp>
#include <twill/io/training.hpp>
#include <twill/parallel/data/distributed.hpp>
#include <twill/parallel/group/collectives.hpp>
#include <twill/parallel/model/parallel_model.hpp>
#include <twill/parallel/model/state.hpp>
#include <twill/parallel/pipeline/model/state.hpp>
#include <twill/parallel/pipeline/run/step.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <string>

namespace twill { inline namespace v0 { namespace io { namespace detail { inline namespace TWILL_ISA {

inline constexpr const char* ranks_name = "random.ranks";
[[nodiscard]] inline std::string draw_name_of_rank(std::size_t rank) { return join_text({"random.rank.", rank}); }

/// The entries of one network, with `next` as its next draw.
[[nodiscard]] inline Checkpoint checkpoint_of(const nn::StateDict& model, const nn::StateDict& optimiser,
                                              RandomDraw next) {
  Checkpoint checkpoint{};
  checkpoint.add("model", model);
  checkpoint.add("optimiser", optimiser);
  set_draw(checkpoint, "random.device", next); // the generator's state on one device
  --next.step;
  set_draw(checkpoint, "random.model", next);
  return checkpoint;
}

}}}}} // namespace twill::v0::io::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace io { inline namespace TWILL_ISA {

/// Copies everything that a pipeline and a step on it need to resume. Waits for the devices.
template <pipeline::ScheduleKind S, FloatingScalar T, pipeline::RankPlaces D, class... Parts, class L, optim::Rule R>
[[nodiscard]] Checkpoint checkpoint_of(pipeline::BasicPipeline<S, T, D, Parts...>& model,
                                       pipeline::PipelineStep<pipeline::BasicPipeline<S, T, D, Parts...>, L, R>& step) {
  return detail::checkpoint_of(pipeline::state_dict(model), step.state_dict(), model.next_draw());
}

/// Resumes from a checkpoint of the same model and rule, with the options of the checkpoint or of the program.
/// throws: ShapeError, ValueError naming the mismatch, with nothing changed
template <pipeline::ScheduleKind S, FloatingScalar T, pipeline::RankPlaces D, class... Parts, class L, optim::Rule R>
training::OptionsReport restore(const Checkpoint& checkpoint, pipeline::BasicPipeline<S, T, D, Parts...>& model,
                                pipeline::PipelineStep<pipeline::BasicPipeline<S, T, D, Parts...>, L, R>& step,
                                OptionsOf of = OptionsOf::checkpoint) {
  const nn::StateDict states = detail::rule_state_of(checkpoint, of);
  const RandomDraw of_model = draw_of(checkpoint, "random.device");
  step.require_loadable(states);
  pipeline::load_state_dict(model, checkpoint.state("model"));
  model.set_next_draw(of_model);
  return step.load_state_dict(states);
}

/// Copies everything that a model on a mesh and a step on it need to resume; equal on every rank, so that any of them
/// may save it. A collective call of the whole mesh.    throws: this rank's exception; CommunicatorError naming another
template <class M, pipeline::ScheduleKind S, parallel::Communicator C, class Model, FloatingScalar T, class Step>
[[nodiscard]] Checkpoint checkpoint_of(ParallelModel<M, S, C, Model, T>& model, Step& step) {
  const nn::StateDict weights = state_dict(model);
  Checkpoint checkpoint = detail::checkpoint_of(weights, step.state_dict(), model.pipeline().next_draw());
  C& world = model.world();
  const RandomDraw own = generator(typename C::Device(world.device())).state();
  parallel::detail::HostNumbers<C, 2> numbers{world};
  const auto all = numbers.exchange({static_cast<std::int64_t>(own.seed), static_cast<std::int64_t>(own.step)},
                                    [&](const parallel::Call& call) { world.run(call); });
  checkpoint.set(detail::ranks_name, world.size());
  for (std::size_t rank = 0; 2 * rank < all.size(); ++rank)
    set_draw(checkpoint, detail::draw_name_of_rank(rank),
             {static_cast<std::uint64_t>(all[2 * rank]), static_cast<std::uint32_t>(all[2 * rank + 1])});
  return checkpoint;
}

/// Resumes from a checkpoint of the same model and rule, on a mesh of any form or on one device. A collective call of
/// the whole mesh, with the same checkpoint on every rank, and the options of the checkpoint or, on every rank, of the
/// program.
/// throws: ShapeError, ValueError naming the mismatch, with nothing changed; CommunicatorError naming another rank
template <class M, pipeline::ScheduleKind S, parallel::Communicator C, class Model, FloatingScalar T, class Step>
training::OptionsReport restore(const Checkpoint& checkpoint, ParallelModel<M, S, C, Model, T>& model, Step& step,
                                OptionsOf of = OptionsOf::checkpoint) {
  C& world = model.world();
  try {
    const nn::StateDict states = detail::rule_state_of(checkpoint, of);
    const RandomDraw of_model = draw_of(checkpoint, "random.device");
    std::optional<RandomDraw> of_rank{};
    if (checkpoint.has_value(detail::ranks_name) && checkpoint.integer(detail::ranks_name) == world.size())
      of_rank = draw_of(checkpoint, detail::draw_name_of_rank(static_cast<std::size_t>(world.rank())));
    step.require_loadable(states);
    load_state_dict(model, checkpoint.state("model"));
    training::OptionsReport options = step.load_state_dict(states);
    model.pipeline().set_next_draw(of_model);
    if (of_rank) generator(typename C::Device(world.device())).set_state(*of_rank);
    parallel::barrier(world); // ranks may share a device, whose generator the next one would set back
    return options;
  } catch (...) {
    world.fail(std::current_exception());
    throw;
  }
}

}}}} // namespace twill::v0::io::TWILL_ISA
