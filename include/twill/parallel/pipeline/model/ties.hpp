#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Tied weights, used by several stages because a model names a handle twice. Each stage has the weight; before an
// update, which is then equal everywhere, the gradients of all owners are summed from the last stage to the first, as
// one network does: over the communicator of the ranks each owner sends its sum to the owner before it, and the first
// one sends the whole back to all. Read next: parallel/pipeline/run/rank_step.hpp.

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
      for (std::size_t i = weight.owners.size() - 1; i > 0; --i) add(weight.owners[i], weight.owners[i - 1]);
      for (std::size_t i = 1; i < weight.owners.size(); ++i) copy(weight.owners[0], weight.owners[i]);
    }
  }

private:
  using Owner = TiedWeight::Owner;

  [[nodiscard]] int rank() const { return communicator_.rank(); }
  [[nodiscard]] int rank_of(const Owner& owner) const { return schedule_.rank(static_cast<int>(owner.stage)); }

  /// Adds the gradient of an owner to that of the one before it.
  void add(const Owner& later, const Owner& earlier) {
    if (rank() == rank_of(earlier)) {
      nn::NetworkState<D>& own = *states_[earlier.stage];
      const parallel::Elements sum = gradient(earlier);
      memory::Buffer<D> moved(own.device, sum.bytes());
      move(later, earlier, moved.data());
      own.add(own.device, sum.dtype, sum.count, sum.data, moved.data());
      synchronize(own.device);
    } else if (rank() == rank_of(later)) {
      move(later, earlier, nullptr);
    }
  }
  /// Overwrites the gradient of an owner by another one's.
  void copy(const Owner& from, const Owner& to) {
    if (rank() == rank_of(to))
      move(from, to, gradient(to).data);
    else if (rank() == rank_of(from))
      move(from, to, nullptr);
  }
  /// Both ranks' part of moving a gradient into memory of an owner.
  void move(const Owner& from, const Owner& to, void* target) {
    if (rank_of(from) == rank_of(to)) {
      const parallel::Elements sum = gradient(from);
      copy_bytes(states_[to.stage]->device, target, states_[from.stage]->device, sum.data, sum.bytes(), CopyOptions{});
    } else if (rank() == rank_of(to)) {
      const parallel::Elements sum = gradient(to);
      communicator_.run(parallel::Call::receive({target, sum.count, sum.dtype}, rank_of(from)));
    } else {
      communicator_.run(parallel::Call::send(gradient(from), rank_of(to)));
    }
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
