#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Tied weights, used by several stages because a model names a handle twice. Each stage has the weight; the gradients
// of all owners are summed in the order of the stages before an update, which is then equal everywhere: in one process,
// or over a communicator, where they are sent to the first owner and the sum is sent back. Read next:
// parallel/pipeline/run/rank_step.hpp.

#include <twill/core/config.hpp>
#include <twill/device/copy.hpp>
#include <twill/nn/network.hpp>
#include <twill/parallel/group/communicator.hpp>
#include <twill/parallel/pipeline/schedule/schedule.hpp>

#include <concepts>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace pipeline { inline namespace TWILL_ISA {

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
[[nodiscard]] std::vector<TiedWeight> tied_weights(const std::vector<std::span<const graph::ParameterInfo>>& stages);

}}}} // namespace twill::v0::pipeline::TWILL_ISA

namespace twill { inline namespace v0 { namespace pipeline { namespace detail { inline namespace TWILL_ISA {

/// Copies between devices of any kinds, through the host if they differ, and returns when the memory may be used.
template <ComputeDevice To, ComputeDevice From>
void copy_across(const To& to_device, void* to, const From& from_device, const void* from, std::size_t bytes) {
  if constexpr (std::same_as<To, From> || std::same_as<To, Cpu> || std::same_as<From, Cpu>) {
    copy_bytes(to_device, to, from_device, from, bytes, CopyOptions{});
    synchronize(to_device);
  } else {
    std::vector<std::byte> host(bytes);
    copy_bytes(Cpu{}, host.data(), from_device, from, bytes, CopyOptions{});
    copy_bytes(to_device, to, Cpu{}, host.data(), bytes, CopyOptions{});
    synchronize(to_device);
  }
}

/// Gives each owner of a tied weight the sum of the gradients of all. `visit(stage, f)` calls f with the weights of a
/// stage.
template <class Visit> void add_tied_gradients_of(const std::vector<TiedWeight>& tied, const Visit& visit) {
  for (const TiedWeight& weight : tied)
    visit(weight.owners[0].stage, [&]<class D>(nn::NetworkState<D>& first) {
      const graph::ParameterInfo& info = first.infos[weight.owners[0].index];
      memory::Buffer<D>& total = first.gradients[weight.owners[0].index];
      if (!total) return;
      const auto for_each_other = [&](auto f) {
        for (std::size_t i = 1; i < weight.owners.size(); ++i)
          visit(weight.owners[i].stage,
                [&](auto& other) { f(other.device, other.gradients[weight.owners[i].index].data()); });
      };
      for_each_other([&](const auto& device, void* gradient) {
        memory::Buffer<D> moved(first.device, total.bytes());
        copy_across(first.device, moved.data(), device, gradient, total.bytes());
        first.add(first.device, info.dtype, info.shape.elements().factor, total.data(), moved.data());
      });
      synchronize(first.device);
      for_each_other([&](const auto& device, void* gradient) {
        copy_across(device, gradient, first.device, total.data(), total.bytes());
      });
    });
}

}}}}} // namespace twill::v0::pipeline::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace pipeline { inline namespace TWILL_ISA {

/// Gives each owner of a tied weight the sum of the gradients of all.
/// requires: no stage is running
template <ComputeDevice D> void add_tied_gradients(const StageStates<D>& stages, const std::vector<TiedWeight>& tied) {
  detail::add_tied_gradients_of(tied, [&](std::size_t stage, const auto& f) { f(*stages[stage]); });
}

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

}}}} // namespace twill::v0::pipeline::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/parallel/pipeline/model/ties.ipp>
#endif
