#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// States of a rule for the weights of one network, such as momenta: buffers on the devices of the weights, made at the
// first step, or filled then from a state dictionary that was loaded earlier. When the network moves, they follow.
// Read next: training/training_state.hpp, training/optimiser.hpp.

#include <twill/core/config.hpp>
#include <twill/core/list.hpp>
#include <twill/device/cpu/stream.hpp>
#include <twill/nn/network.hpp>
#include <twill/training/training_state.hpp>

#include <algorithm>
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

/// The states of a rule for the weights of a network: the parameters of a table after the network's own.
template <ComputeDevice D> class OptimiserState {
public:
  /// States for the weights of this network, not made yet.
  explicit OptimiserState(std::shared_ptr<nn::NetworkState<D>> network) : network_{std::move(network)} {}

  /// The addresses of the weights and the states, in the table's order; states are made, as zeros, at the first call.
  [[nodiscard]] std::span<void* const> addresses(ListView<graph::ParameterInfo> parameters);

  /// Waits for the device and reads a state of one element. throws: ValueError when there is none of this name (yet)
  [[nodiscard]] double item(std::string_view name) const;
  /// A state of one element, like `item`; nothing when there is none.
  [[nodiscard]] std::optional<double> find_item(std::string_view name) const;

  /// The rule's states in the order of the graph's parameters.
  [[nodiscard]] std::span<const memory::Buffer<D>> states() const { return states_; }

  /// Copies of the states by their names, and the count of steps; before the first step only loaded states. Waits for
  /// the device.
  [[nodiscard]] nn::StateDict state_dict(std::int64_t steps) const;

  /// Takes over the result of `state_dict`, now or, if the states are not made yet, at the first step; then
  /// `expected()` are all parameters of an update of the network, for comparison. Returns the count of steps.
  /// throws: ValueError, ShapeError naming the state and both sides, with nothing changed
  template <class Expected>
  [[nodiscard]] std::int64_t load_state_dict(const nn::StateDict& state, const Expected& expected) {
    auto [taken, steps] = without_steps(state);
    const bool has_stepped = taken.size() > 0 || steps > 0;
    if (addresses_.empty()) {
      if (has_stepped) {
        const auto parameters = expected(); // of a table, or of the trace itself
        const ListView<graph::ParameterInfo> infos{parameters.begin(), parameters.size()};
        static_cast<void>(nn::match(infos.subspan(network_->infos.size()), taken, {}));
      }
      waiting_ = has_stepped ? std::optional{std::move(taken)} : std::nullopt;
      take_over_ = &OptimiserState::overwrite;
      states_.clear(); // of a first step that failed
      infos_ = {};
    } else if (has_stepped)
      overwrite(taken);
    else
      for (std::size_t i = 0; i < infos_.size(); ++i)
        nn::initialise_parameter(states_[i].device(), infos_[i], addresses_.size() - infos_.size() + i, RandomDraw{},
                                 states_[i].data());
    return steps;
  }

private:
  /// Makes the states that are missing and moves those whose weights have moved.
  TWILL_COLD void make(ListView<graph::ParameterInfo> parameters);
  void overwrite(const nn::StateDict& state);

  std::shared_ptr<nn::NetworkState<D>> network_;
  std::vector<memory::Buffer<D>> states_{};
  std::vector<void*> addresses_{};
  ListView<graph::ParameterInfo> infos_{}; ///< of the states
  std::optional<nn::StateDict> waiting_{}; ///< loaded before the states were made
  /// `overwrite`, once a dictionary was loaded: programs that load none hold no code for it.
  void (OptimiserState::*take_over_)(const nn::StateDict&) = nullptr;
};

template <ComputeDevice D>
std::span<void* const> OptimiserState<D>::addresses(ListView<graph::ParameterInfo> parameters) {
  const std::span<void* const> weights = network_->addresses();
  if (addresses_.size() != parameters.size() || !std::equal(weights.begin(), weights.end(), addresses_.begin()))
    make(parameters);
  return ListView<void*>{addresses_.data(), addresses_.size()}.span();
}

template <ComputeDevice D> void OptimiserState<D>::make(ListView<graph::ParameterInfo> parameters) {
  const std::span<void* const> weights = network_->addresses();
  std::vector<void*> addresses(weights.begin(), weights.end()); // in use when all states are valid
  addresses.reserve(parameters.size());
  for (std::size_t i = weights.size(); i < parameters.size(); ++i) {
    const std::size_t k = i - weights.size();
    const D& device = network_->device_of(parameters[i]);
    if (k >= states_.size()) {
      memory::Buffer<D> made(device, nn::NetworkState<D>::bytes_of(parameters[i]));
      nn::initialise_parameter(device, parameters[i], i, RandomDraw{}, made.data());
      states_.push_back(std::move(made));
    } else if (memory::Buffer<D>& state = states_[k]; !(state.device() == device)) { // follows the weights
      memory::Buffer<D> moved(device, state.bytes());
      copy_bytes(device, moved.data(), state.device(), state.data(), state.bytes(), CopyOptions{});
      state = std::move(moved);
    }
    addresses.push_back(states_[k].data());
  }
  infos_ = parameters.subspan(weights.size());
  if (waiting_) {
    (this->*take_over_)(*waiting_);
    waiting_.reset();
  }
  addresses_ = std::move(addresses);
}

template <ComputeDevice D> double OptimiserState<D>::item(std::string_view name) const {
  if (const auto found = find_item(name)) return *found;
  throw ValueError("state: the rule keeps no single number '" + std::string{name} + "', or has not made a step yet");
}

template <ComputeDevice D> std::optional<double> OptimiserState<D>::find_item(std::string_view name) const {
  for (std::size_t i = 0; i < infos_.size(); ++i) {
    if (infos_[i].name.view() != name || !infos_[i].shape.elements().is_one()) continue;
    const memory::Buffer<D>& buffer = states_[i];
    if (infos_[i].dtype == DType::float64)
      return read_item(buffer.device(), static_cast<const double*>(buffer.data()), Dims{});
    return static_cast<double>(read_item(buffer.device(), static_cast<const float*>(buffer.data()), Dims{}));
  }
  return {};
}

template <ComputeDevice D> nn::StateDict OptimiserState<D>::state_dict(std::int64_t steps) const {
  nn::StateDict result = waiting_ ? *waiting_ : nn::StateDict{};
  for (std::size_t i = 0; i < infos_.size() && !waiting_; ++i) {
    auto [tensor, data] = nn::StoredTensor::make(infos_[i].dtype, infos_[i].shape.evaluate({}));
    copy_bytes(Cpu{}, data, states_[i].device(), states_[i].data(), tensor.bytes.size(), CopyOptions{});
    result.add(std::string{infos_[i].name.view()}, std::move(tensor));
  }
  add_steps(result, steps);
  return result;
}

template <ComputeDevice D> void OptimiserState<D>::overwrite(const nn::StateDict& state) {
  const nn::Matched matched = nn::match(infos_, state, {});
  for (std::size_t i = 0; i < infos_.size(); ++i)
    copy_bytes(states_[i].device(), states_[i].data(), Cpu{}, matched.tensors[i]->bytes.data(), states_[i].bytes(),
               CopyOptions{});
}

/// The states of a rule for one network. `Update` is the source of an update of all its weights.
template <class Network, class Update> class NetworkStates : public OptimiserState<typename Network::device_type> {
public:
  using OptimiserState<typename Network::device_type>::OptimiserState;

  /// `load_state_dict`, compared with the trace of the update.
  [[nodiscard]] std::int64_t load(const nn::StateDict& state) {
    return this->load_state_dict(state, [] { return Update::trace().parameters; });
  }
};

}}}} // namespace twill::v0::training::TWILL_ISA

#if !TWILL_HEADER_ONLY
namespace twill { inline namespace v0 { namespace training { inline namespace TWILL_ISA {
TWILL_INSTANCE template class OptimiserState<Cpu>;
}}}} // namespace twill::v0::training::TWILL_ISA
#endif
