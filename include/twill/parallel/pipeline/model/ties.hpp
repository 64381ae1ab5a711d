#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Weights that several stages use, as a model does that names a handle twice. Each stage has the weight; the gradients of all
// are added up in the order of the stages before an update, which is then the same everywhere. Read next:
// parallel/pipeline/run/step.hpp.

#include <twill/core/config.hpp>
#include <twill/device/copy.hpp>
#include <twill/nn/network.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace twill::inline v0::pipeline::inline TWILL_ISA {

/// The weights of all stages; null for those that are elsewhere.
template <ComputeDevice D> using StageStates = std::vector<std::shared_ptr<nn::NetworkState<D>>>;

/// Where a tied weight stands, its first owner first.
struct TiedWeight {
  struct Owner {
    std::size_t stage = 0;
    std::size_t index = 0; ///< among the stage's weights
  };
  std::vector<Owner> owners{};
};

/// The weights whose name several stages have, from the weights of each stage.
[[nodiscard]] std::vector<TiedWeight> tied_weights(const std::vector<std::span<const graph::ParameterInfo>>& stages);

/// Gives each owner of a tied weight the sum of the gradients of all.
/// requires: no stage is at work
template <ComputeDevice D> void add_tied_gradients(const StageStates<D>& stages, const std::vector<TiedWeight>& tied) {
  for (const TiedWeight& weight : tied) {
    const auto [stage, index] = weight.owners[0];
    nn::NetworkState<D>& first = *stages[stage];
    const graph::ParameterInfo& info = first.infos[index];
    memory::Buffer<D>& total = first.gradients[index];
    if (!total) continue;
    for (std::size_t i = 1; i < weight.owners.size(); ++i) {
      const nn::NetworkState<D>& other = *stages[weight.owners[i].stage];
      memory::Buffer<D> moved(first.device, total.bytes());
      copy_bytes(first.device, moved.data(), other.device, other.gradients[weight.owners[i].index].data(),
                 total.bytes(), CopyOptions{});
      first.add(first.device, info.dtype, info.shape.elements().factor, total.data(), moved.data());
    }
    synchronize(first.device);
    for (std::size_t i = 1; i < weight.owners.size(); ++i) {
      const nn::NetworkState<D>& other = *stages[weight.owners[i].stage];
      copy_bytes(other.device, other.gradients[weight.owners[i].index].data(), first.device, total.data(),
                 total.bytes(), CopyOptions{});
    }
  }
}

} // namespace twill::inline v0::pipeline::inline TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/parallel/pipeline/model/ties.ipp>
#endif
