#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Tied weights of a pipeline whose ranks hold nothing of each other's stages: the gradients of all owners travel to the first
// one, are added up there in the order of the stages, and the sum travels back. Read next: parallel/pipeline/run/rank_step.hpp.

#include <twill/core/config.hpp>
#include <twill/parallel/group/communicator.hpp>
#include <twill/parallel/pipeline/model/ties.hpp>
#include <twill/parallel/pipeline/schedule/schedule.hpp>

#include <cstddef>
#include <vector>

namespace twill::inline v0::pipeline::inline TWILL_ISA {

/// One rank's part in the adding up of tied gradients.
template <parallel::Communicator C, ComputeDevice D> class RankTies {
public:
  RankTies(C& communicator, const Schedule& schedule, const StageStates<D>& states)
      : communicator_{communicator}, schedule_{schedule}, states_{states} {}

  /// Gives each owner of a tied weight the sum of all gradients. All ranks call it.
  void add(const std::vector<TiedWeight>& tied) {
    for (const TiedWeight& weight : tied) {
      const auto first = weight.owners[0];
      const int root = rank_of(first);
      for (std::size_t i = 1; i < weight.owners.size(); ++i) {
        const auto other = weight.owners[i];
        const int peer = rank_of(other);
        if (rank() == root) add_from(first, other, peer);
        if (rank() == peer && peer != root) communicator_.run(parallel::Call::send(gradient(other), root));
      }
      for (std::size_t i = 1; i < weight.owners.size(); ++i) {
        const auto other = weight.owners[i];
        const int peer = rank_of(other);
        if (peer == root && rank() == root)
          copy_bytes(states_[other.stage]->device, gradient(other).data, states_[first.stage]->device,
                     gradient(first).data, gradient(first).bytes(), CopyOptions{});
        else if (rank() == root)
          communicator_.run(parallel::Call::send(gradient(first), peer));
        else if (rank() == peer)
          communicator_.run(parallel::Call::receive(gradient(other), root));
      }
    }
  }

private:
  using Owner = TiedWeight::Owner;

  [[nodiscard]] int rank() const { return communicator_.rank(); }
  [[nodiscard]] int rank_of(const Owner& owner) const { return schedule_.rank(static_cast<int>(owner.stage)); }

  void add_from(const Owner& first, const Owner& other, int peer) {
    nn::NetworkState<D>& own = *states_[first.stage];
    const parallel::Elements sum = gradient(first);
    memory::Buffer<D> moved(own.device, sum.bytes());
    if (peer == rank())
      copy_bytes(own.device, moved.data(), states_[other.stage]->device, gradient(other).data, sum.bytes(),
                 CopyOptions{});
    else
      communicator_.run(parallel::Call::receive({moved.data(), sum.count, sum.dtype}, peer));
    own.add(own.device, sum.dtype, sum.count, sum.data, moved.data());
    synchronize(own.device);
  }

  [[nodiscard]] parallel::Elements gradient(const Owner& owner) const {
    const nn::NetworkState<D>& state = *states_[owner.stage];
    const graph::ParameterInfo& info = state.infos[owner.index];
    return {state.gradients[owner.index].data(), info.shape.elements().factor, info.dtype};
  }

  C& communicator_;
  const Schedule& schedule_;
  const StageStates<D>& states_;
};

} // namespace twill::inline v0::pipeline::inline TWILL_ISA
