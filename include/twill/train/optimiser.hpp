#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Optimisers: a rule applied to a network. An optimiser owns the rule's states, made at the first step, and counts
// steps. `step()` updates the weights from the gradients of backward passes. Read next: train/train_step.hpp.

#include <twill/compile/run/executor.hpp>
#include <twill/core/config.hpp>
#include <twill/device/cpu/stream.hpp>
#include <twill/train/rule_options.hpp>
#include <twill/train/rule_state.hpp>
#include <twill/train/sources.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace train { inline namespace TWILL_ISA {

/// The states of a rule for the weights of a network: the parameters of a table after the network's own.
template <ComputeDevice D> class OptimiserState {
public:
  /// The addresses of the weights and the states, in the table's order; states are made, as zeros, at the first call.
  [[nodiscard]] std::span<void* const> addresses(const nn::NetworkState<D>& network,
                                                 std::span<const graph::ParameterInfo> parameters);

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
  [[nodiscard]] std::int64_t load_state_dict(const nn::StateDict& state, const nn::NetworkState<D>& network,
                                             const Expected& expected) {
    auto [taken, steps] = detail::without_steps(state);
    const bool has_stepped = taken.size() > 0 || steps > 0;
    if (addresses_.empty()) {
      if (has_stepped) {
        const auto parameters = expected(); // of a table, or of the trace itself
        const std::span<const graph::ParameterInfo> infos{parameters.begin(), parameters.size()};
        static_cast<void>(nn::detail::match(infos.subspan(network.infos.size()), taken, {}));
      }
      waiting_ = has_stepped ? std::optional{std::move(taken)} : std::nullopt;
      states_.clear(); // of a first step that failed
      infos_ = {};
    } else if (has_stepped)
      overwrite(taken);
    else
      for (std::size_t i = 0; i < infos_.size(); ++i)
        nn::initialise_parameter(states_[i].device(), infos_[i], addresses_.size() - infos_.size() + i, Draw{},
                                 states_[i].data());
    return steps;
  }

private:
  void overwrite(const nn::StateDict& state);

  std::vector<memory::Buffer<D>> states_{};
  std::vector<void*> addresses_{};
  std::span<const graph::ParameterInfo> infos_{}; ///< of the states
  std::optional<nn::StateDict> waiting_{};        ///< loaded before the states were made
};

template <ComputeDevice D>
std::span<void* const> OptimiserState<D>::addresses(const nn::NetworkState<D>& network,
                                                    std::span<const graph::ParameterInfo> parameters) {
  const std::span<void* const> weights = network.addresses();
  if (addresses_.size() == parameters.size() && std::equal(weights.begin(), weights.end(), addresses_.begin()))
    return addresses_;
  std::vector<void*> addresses(weights.begin(), weights.end()); // in use when all states are valid
  addresses.reserve(parameters.size());
  for (std::size_t i = weights.size(); i < parameters.size(); ++i) {
    const std::size_t k = i - weights.size();
    const D& device = network.device_of(parameters[i]);
    if (k >= states_.size()) {
      memory::Buffer<D> made(device, nn::NetworkState<D>::bytes_of(parameters[i]));
      nn::initialise_parameter(device, parameters[i], i, Draw{}, made.data());
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
    overwrite(*waiting_);
    waiting_.reset();
  }
  addresses_ = std::move(addresses);
  return addresses_;
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
  detail::add_steps(result, steps);
  return result;
}

template <ComputeDevice D> void OptimiserState<D>::overwrite(const nn::StateDict& state) {
  const nn::detail::Matched matched = nn::detail::match(infos_, state, {});
  for (std::size_t i = 0; i < infos_.size(); ++i)
    copy_bytes(states_[i].device(), states_[i].data(), Cpu{}, matched.tensors[i]->bytes.data(), states_[i].bytes(),
               CopyOptions{});
}

/// The places of a rule's numbers among the run-time numbers of a table.
template <optim::Rule R> class RuleNumbers {
public:
  RuleNumbers() = default;
  /// Finds the rule's numbers among the run-time numbers of a program.
  explicit RuleNumbers(const compile::RunScalars& run_scalars) {
    for (std::size_t i = 0; i < R::numbers.size(); ++i) index_[i] = run_scalars.find(R::numbers[i]);
    step_ = run_scalars.find(optim::step_scalar);
  }
  /// Writes the values of the rule's numbers in this step.
  void write(const R& rule, std::int64_t step, compile::RunScalars& run_scalars) const {
    const auto values = rule.values(step);
    for (std::size_t i = 0; i < values.size(); ++i)
      if (index_[i] >= 0) run_scalars.set_at(static_cast<std::size_t>(index_[i]), values[i]);
    if (step_ >= 0) run_scalars.set_at(static_cast<std::size_t>(step_), static_cast<double>(step));
  }

private:
  std::array<int, R::numbers.size()> index_{};
  int step_ = -1;
};

/// Updates the weights of a network by a rule. `Source` takes the gradients, and maybe its own numbers.
template <class Network, optim::Rule R,
          class Source = UpdateWeights<typename Network::model_type, typename Network::Element, R>>
class Optimiser {
  using D = typename Network::device_type;
  using Executor = compile::executor_t<D, Network::slots>;

public:
  /// States of the rule for each trainable weight of the network, zero at first.
  Optimiser(Network& network, R given)
      : rule{std::move(given)},
        network_{network.state()},
        run_scalars_{table().run_scalars},
        numbers_{run_scalars_},
        executor_{make_executor(network.devices())},
        devices_(network.devices().begin(), network.devices().end()) {}

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
    if (const auto devices = network_->devices(); !std::equal(devices.begin(), devices.end(), devices_.begin())) {
      executor_ = make_executor(devices); // the network has moved
      devices_.assign(devices.begin(), devices.end());
    }
    numbers_.write(rule, steps_ + 1, run_scalars_);
    run_scalars_.set_if_present(optim::is_scaled_scalar, is_unscaled_ ? 0 : 1);
    const auto parameters = state_.addresses(*network_, executor_->table().parameters);
    executor_->run({}, {.inputs = gradients,
                        .parameters = parameters,
                        .run_scalars = run_scalars_.bits(),
                        .groups = &network_->groups});
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

  /// Calls of `step` so far.
  [[nodiscard]] std::int64_t steps() const { return steps_; }

  /// A single number of the rule, such as `optim::gradient_norm_state`, after the last step. Waits for it.
  [[nodiscard]] double state(std::string_view name) const { return state_.item(name); }
  /// A single number of the rule, like `state`; nothing if the rule has no such number.
  [[nodiscard]] std::optional<double> find_state(std::string_view name) const { return state_.find_item(name); }

  /// Sets a number of the source for the next steps, if it has one of this name.
  void set(std::string_view name, double number) { run_scalars_.set_if_present(name, number); }

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
    static_cast<void>(state_.addresses(*network_, executor_->table().parameters));
    return state_.states();
  }

  /// The rule's states, the count of steps and the rule's options, to resume elsewhere. Waits for the device.
  [[nodiscard]] nn::StateDict state_dict() const { return detail::with_options(state_.state_dict(steps_), rule); }
  /// Resumes from such a state; if it holds no options, the rule keeps its own.
  /// throws: ValueError, ShapeError naming the option or the state and both sides, with nothing changed
  OptionsReport load_state_dict(const nn::StateDict& state) {
    detail::LoadedOptions options{rule, state};
    steps_ = state_.load_state_dict(options.states(), *network_, [] { return table().parameters; });
    return options.set();
  }

  R rule; ///< its options may change between steps

private:
  /// The loss scale on the device.
  [[nodiscard]] Tensor<float, D, Shape<>> loss_scale() {
    const memory::Buffer<D>& scale = states().front();
    return {scale, static_cast<float*>(scale.data()), Dims{}, Dims{}};
  }

  static std::unique_ptr<Executor> make_executor(std::span<const D> devices) {
    return std::make_unique<Executor>(devices, compile::TableFor<Source, D>::view(),
                                      compile::TableFor<Source, D>::template kernels<team_t<D>>(),
                                      compile::Arena::for_each_run);
  }

  std::shared_ptr<nn::NetworkState<D>> network_;
  compile::RunScalars run_scalars_;
  RuleNumbers<R> numbers_;
  std::unique_ptr<Executor> executor_;
  std::vector<D> devices_; ///< of the executor
  OptimiserState<D> state_{};
  std::int64_t steps_ = 0;
  bool is_unscaled_ = false;
};

}}}} // namespace twill::v0::train::TWILL_ISA

#if !TWILL_HEADER_ONLY
namespace twill { inline namespace v0 { namespace train { inline namespace TWILL_ISA {
TWILL_INSTANCE template class OptimiserState<Cpu>;
}}}} // namespace twill::v0::train::TWILL_ISA
#endif
