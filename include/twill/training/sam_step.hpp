#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Sharpness-aware minimisation (SAM, Foret et al., 2021): a step by the gradients at the worst weights near the present
// ones, which finds minima that are flat. Two forward and two backward passes, in stages; the rule is any of those that
// there are. Not in twill.hpp. Read next: training/optimiser.hpp.

#include <twill/core/config.hpp>
#include <twill/optim/sam.hpp>
#include <twill/training/detail/staged_loss.hpp>
#include <twill/training/optimiser.hpp>
#include <twill/training/step_loss.hpp>

#include <cstddef>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace training { inline namespace TWILL_ISA {

/// Sharpness-aware steps on a network with a loss and a rule. Its rule, states and count are those of an optimiser.
template <class Network, class L, optim::Rule R> class SamStep : private Optimiser<Network, R> {
  using D = typename Network::device_type;
  using T = typename Network::Element;
  using Base = Optimiser<Network, R>;

public:
  /// Steps by a loss and a rule. throws: ValueError for a negative rho
  SamStep(Network& network, L, R given, optim::SamOptions options)
      : Base{network, std::move(given)}, network_{&network}, ascent_{network, optim::SamAscent{options}} {}

  using Base::load_state_dict;
  using Base::rule;
  using Base::state;
  using Base::state_dict;
  using Base::steps;

  /// One step; its loss, that of the weights before it. Buffers, such as running statistics, are those of the first
  /// pass. Arguments: the model's inputs, then the loss's targets.
  /// throws: ShapeError, DeviceError, OutOfMemoryError, with the weights as they were
  template <AnyTensor... Tensors> StepLoss<T, D> operator()(const Tensors&... tensors) {
    if constexpr (detail::fits_loss<"sam_step", L, Network, Tensors...>()) { // else refused
      this->zero_grad();
      const auto loss = detail::staged_loss<L>(*network_, tensors...);
      this->backward(loss);
      keep_weights();
      try {
        ascent_.step();
        this->zero_grad();
        this->backward(detail::staged_loss<L>(*network_, tensors...));
      } catch (...) {
        put_back_weights();
        throw;
      }
      put_back_weights();
      this->step();
      return StepLoss<T, D>{loss.item()};
    } else {
      return StepLoss<T, D>{T{}};
    }
  }

  /// The options, which may change between steps.
  [[nodiscard]] optim::SamOptions& options() { return ascent_.rule.options; }

private:
  void keep_weights() {
    const auto& now = network_->state()->buffers;
    kept_.resize(now.size());
    for (std::size_t i = 0; i < now.size(); ++i) {
      if (!kept_[i] || !(kept_[i].device() == now[i].device()))
        kept_[i] = memory::Buffer<D>(now[i].device(), now[i].bytes());
      copy_bytes(now[i].device(), kept_[i].data(), now[i].device(), now[i].data(), now[i].bytes(), CopyOptions{});
    }
  }
  void put_back_weights() {
    const auto& now = network_->state()->buffers;
    for (std::size_t i = 0; i < now.size(); ++i)
      copy_bytes(now[i].device(), now[i].data(), now[i].device(), kept_[i].data(), now[i].bytes(), CopyOptions{});
    network_->state()->note_update();
  }

  Network* network_;
  Optimiser<Network, optim::SamAscent> ascent_;
  std::vector<memory::Buffer<D>> kept_{}; ///< weights and buffers between the passes
};

}}}} // namespace twill::v0::training::TWILL_ISA

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

/// Sharpness-aware minimisation: `auto step = sam_step(model, nn::cross_entropy, optim::MomentumSgd{{.rate = 0.1}},
/// {.rho = 0.05});`, then `step(image, label)` for each batch. The model has to outlive it.
template <class Network, class L, optim::Rule R>
[[nodiscard]] auto sam_step(Network& network, L loss, R rule, optim::SamOptions options = {}) {
  return training::SamStep<Network, L, R>{network, loss, std::move(rule), options};
}

}}} // namespace twill::v0::TWILL_ISA
