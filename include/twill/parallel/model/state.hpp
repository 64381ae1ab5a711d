#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// State dictionary of a model on a mesh, equal to one network's: names without stages, whole tensors. It is gathered
// over the communicators, part by part along the axes of divided layers and stage by stage along "pipe", onto every
// rank, so that any of them may save it; loading takes only a rank's own share and needs no peer. Read next:
// nn/state_dict.hpp.

#include <twill/core/config.hpp>
#include <twill/parallel/model/parallel_model.hpp>
#include <twill/parallel/model/whole_tensors.hpp>
#include <twill/parallel/pipeline/model/state.hpp>

#include <cstddef>
#include <exception>
#include <string>
#include <utility>

namespace twill { inline namespace v0 { namespace parallel { namespace detail { inline namespace TWILL_ISA {

/// A weight or buffer of stage `stage`, equal to one device's, on every rank of the pipeline and of its axis.
template <class Model> [[nodiscard]] nn::StoredTensor gathered(Model& model, std::size_t stage, std::size_t index) {
  using C = typename Model::communicator_type;
  using Pipe = typename Model::Pipe;
  const graph::ParameterInfo& info = Pipe::infos()[stage][index];
  const int owner = Pipe::ScheduleType::rank_of(static_cast<int>(stage), Pipe::ranks);
  const auto states = model.pipeline().states();
  const void* const own = states[stage] ? states[stage]->buffers[index].data() : nullptr;
  C* first = nullptr; // with the buffers of the next step
  if constexpr (Model::has_replicas)
    if (info.role == graph::Role::buffer) first = &model.groups().template along<"data">();
  return whole_tensor(model.along_pipe(), model.pipeline().groups(), info, owner, own, first);
}

}}}}} // namespace twill::v0::parallel::detail::TWILL_ISA

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

/// Copies of all weights and of the first replica's buffers, of all stages and parts, equal to one network's, on every
/// rank: a collective call of the whole mesh.    throws: this rank's exception; CommunicatorError naming another
template <class M, pipeline::ScheduleKind S, parallel::Communicator C, class Model, FloatingScalar T>
[[nodiscard]] nn::StateDict state_dict(ParallelModel<M, S, C, Model, T>& model) {
  using Pipe = typename ParallelModel<M, S, C, Model, T>::Pipe;
  try {
    nn::StateDict whole{};
    const auto infos = Pipe::infos();
    for (std::size_t stage = 0; stage < infos.size(); ++stage)
      for (std::size_t i = 0; i < infos[stage].size(); ++i) {
        std::string key = pipeline::state_key<Pipe>(stage, infos[stage][i].name.view());
        if (whole.find(key) == nullptr) whole.add(std::move(key), parallel::detail::gathered(model, stage, i));
      }
    return whole;
  } catch (...) {
    model.world().fail(std::current_exception());
    throw;
  }
}

/// Overwrites this rank's weights and buffers by their share of a state of one network. Every rank calls it with the
/// same state, without waiting for another. Nothing is written, on any of them, when something does not match.
/// throws: ShapeError, ValueError naming the key and both sides, or listing what is missing and unexpected
template <class M, pipeline::ScheduleKind S, parallel::Communicator C, class Model, FloatingScalar T>
void load_state_dict(ParallelModel<M, S, C, Model, T>& model, const nn::StateDict& whole) {
  using Pipe = typename ParallelModel<M, S, C, Model, T>::Pipe;
  const auto infos = Pipe::infos();
  pipeline::StateCheck check{whole};
  for (std::size_t stage = 0; stage < infos.size(); ++stage)
    for (const graph::ParameterInfo& info : infos[stage])
      check.expect_whole(pipeline::state_key<Pipe>(stage, info.name.view()), info);
  check.finish();
  nn::StateDict own{};
  for (const auto& [name, tensor] : whole.entries()) {
    const graph::ParameterInfo* found = nullptr;
    for (std::size_t stage = 0; stage < infos.size() && found == nullptr; ++stage)
      for (const graph::ParameterInfo& info : infos[stage])
        if (pipeline::state_key<Pipe>(stage, info.name.view()) == name) found = &info;
    const kernel::RankGroup* const group =
        found != nullptr && found->shard.is_part() ? model.pipeline().groups().find(found->shard.axis) : nullptr;
    own.add(name, group != nullptr ? parallel::part_of_stored(*found, name, tensor, group->rank()) : tensor);
  }
  pipeline::load_state_dict(model.pipeline(), own);
}

}}} // namespace twill::v0::TWILL_ISA
