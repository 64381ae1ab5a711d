#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Optimisers: a rule applied to a network. An optimiser owns the rule's states, made at the first step, and counts
// steps. `step()` updates the weights from the gradients of backward passes. Read next: training/train_step.hpp.

#include <twill/core/config.hpp>
#include <twill/training/optimiser_state.hpp>
#include <twill/training/sources.hpp>
#include <twill/training/step_program.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace training { inline namespace TWILL_ISA {

/// Updates the weights of a network by a rule. `Source` takes the gradients, and maybe its own numbers.
template <class Network, optim::Rule R,
          class Source = UpdateWeights<typename Network::model_type, typename Network::Element, R>>
class Optimiser : public TrainingState<R, NetworkStates<Network, Source>> {
  using D = typename Network::device_type;
  using Base = TrainingState<R, NetworkStates<Network, Source>>;
  using Base::states_, Base::steps_;

public:
  using Base::rule;

  /// States of the rule for each trainable weight of the network, zero at first.
  Optimiser(Network& network, R given) : Base{std::move(given), network.state()}, network_{network.state()} {}

  /// One step over all weights. throws: ValueError naming a weight without a gradient
  void step() {
    std::vector<void*> gradients{};
    for (std::size_t i = 0; i < network_->infos.size(); ++i) {
      if (network_->infos[i].role != graph::Role::weight) continue;
      if (!network_->gradients[i])
        throw ValueError("step: '" + std::string{network_->infos[i].name.view()} +
                         "' has no gradient; call backward first");
      gradients.push_back(network_->gradients[i].data());
    }
    update_.run_scalars.set_if_present(optim::is_scaled_scalar, is_unscaled_ ? 0 : 1);
    update_.run(
        network_->devices(), rule, steps_ + 1,
        {.inputs = gradients, .parameters = states_.addresses(table().parameters), .groups = &network_->groups});
    network_->note_update();
    ++steps_;
    is_unscaled_ = false;
  }

  /// Runs a loss's backward pass, with the rule's loss scale if it has one; `step` divides by it.
  template <nn::AnyTracked Loss> void backward(const Loss& loss) {
    if constexpr (optim::ScaledRule<R>) {
      nn::apply([](graph::Value x, graph::Value scale) { return x * graph::cast(scale, x.dtype()); }, loss,
                loss_scale())
          .backward();
    } else {
      loss.backward();
    }
  }

  /// Divides the gradients by the loss scale now, to read them before `step`, which then does not.
  /// throws: ValueError when that was done already
  void unscale() requires optim::ScaledRule<R> {
    if (is_unscaled_)
      throw ValueError("unscale: the gradients were divided by the loss scale before; call step, or backward again");
    using Gradient = Tensor<typename Network::Element, D, Shape<dyn>>;
    using Divide = decltype(
        [](graph::Value gradient, graph::Value scale) { return graph::cast(gradient / scale, gradient.dtype()); });
    for (memory::Buffer<D>& gradient : network_->gradients) {
      if (!gradient) continue;
      auto* const first = static_cast<typename Network::Element*>(gradient.data());
      const Dims shape(static_cast<std::int64_t>(gradient.bytes() / sizeof(*first)));
      const D device = gradient.device();
      const auto scale = loss_scale().to(device);
      const Gradient divided = compiled(Divide{})(Gradient(gradient, first, shape, Dims(1)), scale);
      copy_bytes(device, gradient.data(), device, divided.data(), gradient.bytes(), CopyOptions{});
    }
    network_->forget_rests();
    is_unscaled_ = true;
  }

  /// Releases the gradients.
  void zero_grad() {
    is_unscaled_ = false;
    for (memory::Buffer<D>& gradient : network_->gradients) gradient.reset();
  }

  /// A single number of the rule, like `state`; nothing if the rule has no such number.
  [[nodiscard]] std::optional<double> find_state(std::string_view name) const { return states_.find_item(name); }

  /// Sets a number of the source for the next steps, if it has one of this name.
  void set(std::string_view name, double number) { update_.run_scalars.set_if_present(name, number); }

  /// The factor of the next loss's gradient. Waits for the last step.
  [[nodiscard]] double scale() requires optim::ScaledRule<R> {
    const Tensor<float, D, Shape<>> scale = loss_scale();
    if constexpr (D::has_memory) return static_cast<double>(scale.item());
    return 1;
  }

  /// The program of a step. Its parameters are the weights, then the rule's states.
  [[nodiscard]] static compile::TableView table() { return compile::TableFor<Source, D>::view(); }
  /// The memory of the rule's states, made now if there was no step yet.
  [[nodiscard]] std::span<const memory::Buffer<D>> states() {
    static_cast<void>(states_.addresses(table().parameters));
    return states_.states();
  }

private:
  /// The loss scale on the device.
  [[nodiscard]] Tensor<float, D, Shape<>> loss_scale() {
    const memory::Buffer<D>& scale = states().front();
    return {scale, static_cast<float*>(scale.data()), Dims{}, Dims{}};
  }

  std::shared_ptr<nn::NetworkState<D>> network_;
  UpdateProgram<R, Source, D, Network::slots> update_{compile::Arena::for_each_run};
  bool is_unscaled_ = false;
};

}}}} // namespace twill::v0::training::TWILL_ISA
