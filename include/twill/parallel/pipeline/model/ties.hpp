#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Tied weights, used by several stages because a model names a handle twice. Each stage has the weight; the gradients
// of all owners are summed in the order of the stages before an update, which is then equal everywhere: over the
// communicator of the ranks they are sent to the first owner, and the sum is sent back. Read next:
// parallel/pipeline/run/rank_step.hpp.

#include <twill/core/config.hpp>
#include <twill/device/copy.hpp>
#include <twill/nn/network.hpp>
#include <twill/parallel/group/communicator.hpp>
#include <twill/parallel/pipeline/schedule/schedule.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace parallel { namespace pipeline { inline namespace TWILL_ISA {

/// The weights of all stages; null for stages elsewhere.
template <ComputeDevice D> using StageStates = std::vector<std::shared_ptr<nn::NetworkState<D>>>;

/// The places of a tied weight, its first owner first.
struct TiedWeight {
  struct Owner {
    std::size_t stage = 0;
    std::size_t index = 0; ///< among the stage's weights
  };
  std::vector<Owner> owners{};
};

/// The weights whose name occurs in several stages, from the weights of each stage.
[[nodiscard]] std::vector<TiedWeight> tied_weights(const std::vector<ListView<graph::ParameterInfo>>& stages);

/// One rank's part in the sum of tied gradients.
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

}}}}} // namespace twill::v0::parallel::pipeline::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/parallel/pipeline/model/ties.ipp>
#endif
