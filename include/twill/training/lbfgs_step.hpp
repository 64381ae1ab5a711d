#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// L-BFGS for a network: a step evaluates loss and gradients of one batch many times, so the batch is the whole data
// set, or a large part of it, and the model draws no random numbers. Weights are moved by the host, in float64.
// Not in twill.hpp. Read next: optim/lbfgs.hpp.

#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/device/copy.hpp>
#include <twill/graph/graph.hpp>
#include <twill/optim/lbfgs.hpp>
#include <twill/training/detail/staged_loss.hpp>
#include <twill/training/step_loss.hpp>
#include <twill/training/training_state.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace training { inline namespace TWILL_ISA {

/// L-BFGS on the trainable weights of a network.
template <class Network, class L> class LbfgsStep {
  using D = typename Network::device_type;
  using T = typename Network::Element;
  static_assert(sizeof(T) >= sizeof(float), "twill: lbfgs_step: weights in half precision are too coarse for a line "
                                            "search; use a network of float or double, or of nn::Autocast");

public:
  /// Steps by a loss. throws: ValueError for an option outside its range
  LbfgsStep(Network& network, L, optim::LbfgsOptions options) : method{options}, network_{&network} {}

  /// One step, of several iterations; the loss of the weights before it. Buffers, such as running statistics, change in
  /// each evaluation. Arguments: the model's inputs, then the loss's targets.
  /// throws: ShapeError, DeviceError, OutOfMemoryError, with the weights as they were
  template <AnyTensor... Tensors> StepLoss<double, D> operator()(const Tensors&... tensors) {
    if constexpr (detail::fits_loss<"lbfgs_step", L, Network, Tensors...>()) { // else refused
      const auto& state = *network_->state();
      std::vector<double> weights = gathered(state.buffers);
      const auto evaluate = [&](std::span<const double> x, std::span<double> gradient) {
        write(x);
        network_->zero_grad();
        const auto loss = detail::staged_loss<L>(*network_, tensors...);
        loss.backward();
        const std::vector<double> all = gathered(state.gradients);
        std::copy(all.begin(), all.end(), gradient.begin());
        return static_cast<double>(loss.item());
      };
      const std::vector<double> before{weights.begin(), weights.end()};
      double loss = 0;
      try {
        loss = method.step(weights, evaluate);
      } catch (...) {
        write(before);
        throw;
      }
      write(weights);
      ++steps_;
      return StepLoss<double, D>{loss};
    } else {
      return StepLoss<double, D>{0};
    }
  }

  /// Steps so far.
  [[nodiscard]] std::int64_t steps() const { return steps_; }

  /// The method's curvature and counts, and the number of steps, to resume elsewhere with the weights.
  [[nodiscard]] nn::StateDict state_dict() const {
    nn::StateDict state = method.state_dict();
    add_steps(state, steps_);
    return state;
  }

  /// Resumes from such a state. Options stay the program's own, so that the report lists none.
  /// throws: ValueError naming what is missing or has another shape, or both numbers of weights, with nothing changed
  OptionsReport load_state_dict(const nn::StateDict& state) {
    LoadedOptions options{method, state};
    const CountedStates counted = without_steps(options.states());
    optim::Lbfgs loaded{method.options};
    loaded.load_state_dict(counted.states);
    std::size_t weights = 0;
    each_weight([&](std::size_t, std::size_t count) { weights += count; });
    if (loaded.size() != 0 && loaded.size() != weights)
      throw ValueError("lbfgs: load_state_dict: the state is of " + std::to_string(loaded.size()) +
                       " weights, the network has " + std::to_string(weights));
    method = std::move(loaded);
    steps_ = counted.steps;
    return options.set();
  }

  optim::Lbfgs method; ///< its options may change between steps

private:
  /// Calls f(index, count) for each trainable weight.
  template <class F> void each_weight(const F& f) const {
    const auto& infos = network_->state()->infos;
    for (std::size_t i = 0; i < infos.size(); ++i)
      if (infos[i].role == graph::Role::weight) f(i, static_cast<std::size_t>(infos[i].shape.elements().factor));
  }

  /// The elements of all trainable weights, or of their gradients. Waits for the device.
  [[nodiscard]] std::vector<double> gathered(const std::vector<memory::Buffer<D>>& buffers) const {
    std::vector<double> all{};
    std::vector<T> values{};
    each_weight([&](std::size_t i, std::size_t count) {
      values.resize(count);
      copy_bytes(Cpu{}, values.data(), buffers[i].device(), buffers[i].data(), count * sizeof(T), CopyOptions{});
      all.insert(all.end(), values.begin(), values.end());
    });
    return all;
  }

  /// Overwrites all trainable weights.
  void write(std::span<const double> x) const {
    std::size_t first = 0;
    each_weight([&](std::size_t i, std::size_t count) {
      const std::vector<T> values(x.begin() + static_cast<std::ptrdiff_t>(first),
                                  x.begin() + static_cast<std::ptrdiff_t>(first + count));
      const auto& buffer = network_->state()->buffers[i];
      copy_bytes(buffer.device(), buffer.data(), Cpu{}, values.data(), count * sizeof(T), CopyOptions{});
      first += count;
    });
    network_->state()->note_update();
  }

  Network* network_;
  std::int64_t steps_ = 0;
};

}}}} // namespace twill::v0::training::TWILL_ISA

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

/// L-BFGS: `auto step = lbfgs_step(model, nn::mse);`, then `step(x, y)` with all samples, a few times. The model has to
/// outlive it.
template <class Network, class L>
[[nodiscard]] auto lbfgs_step(Network& network, L loss, optim::LbfgsOptions options = {}) {
  return training::LbfgsStep<Network, L>{network, loss, options};
}

}}} // namespace twill::v0::TWILL_ISA
