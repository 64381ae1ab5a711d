#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Training steps as one planned program: forward, loss, backward and update are one table in one arena, and a steady
// step allocates nothing. Rates, probabilities and seeds may change between steps, batches may be smaller than the
// largest. Read next: parallel/data/data_parallel.hpp.

#include <twill/compile/plan/fused_sgd.hpp>
#include <twill/compile/report/nan_attribution.hpp>
#include <twill/compile/traced.hpp>
#include <twill/core/config.hpp>
#include <twill/nn/device_trace.hpp>
#include <twill/train/optimiser.hpp>
#include <twill/train/step_program.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace train { inline namespace TWILL_ISA {

/// The loss of a step, read when it is needed. It is overwritten by the next step.
template <class T, ComputeDevice D> class StepLoss {
public:
  /// The loss of step `step`, read from its slot on demand.
  StepLoss(const memory::Buffer<D>& slot, const std::int64_t& newest, std::int64_t step)
      : slot_{&slot}, newest_{&newest}, step_{step} {}

  /// Waits for the step and reads its loss. throws: ValueError when a later step has overwritten it
  [[nodiscard]] T item() const {
    if (step_ != *newest_)
      throw ValueError("item: the loss of step " + std::to_string(step_) + " was overwritten by step " +
                       std::to_string(*newest_) + "; read it before the next step");
    return read_item(slot_->device(), static_cast<const T*>(slot_->data()), Dims{});
  }
  /// The number; waits for the step.
  operator T() const { return item(); }

private:
  const memory::Buffer<D>* slot_;
  const std::int64_t* newest_;
  std::int64_t step_;
};

/// Runs whole steps on a network with a loss and a rule.
template <class Network, class L, optim::Rule R> class TrainStep {
  using D = typename Network::device_type;
  using T = typename Network::Element;
  using M = nn::traced_on_t<typename Network::model_type, D>;

  template <class... Targets> using Whole = WholeStep<M, T, L, R, Targets...>;

public:
  /// The source of a step on tensors of these types, for inspection.
  template <AnyTensor... Tensors> using source = detail::source_for<Whole, M, Tensors...>;

  /// A step on a network, by a loss and a rule; the program is compiled in, planned here.
  TrainStep(Network& network, L, R given)
      : rule{std::move(given)},
        network_{&network},
        devices_(network.devices().begin(), network.devices().end()),
        loss_{network.device(), sizeof(T)} {}

  /// One step. Arguments: the model's inputs, then the loss's targets.
  /// throws: ShapeError, DeviceError, OutOfMemoryError; ValueError if a batch is too large for the model's budget
  template <AnyTensor... Tensors> StepLoss<T, D> operator()(const Tensors&... tensors) {
    try {
      return make_step(tensors...);
    } catch (...) { // if several ranks share the model, it reaches them all
      network_->state()->groups.fail(std::current_exception());
      throw;
    }
  }

  /// One step that searches for the first NaN or infinity: instruction by instruction, many times slower than a step,
  /// with equal numbers. throws: ValueError naming the layer, the operation and the shapes
  template <AnyTensor... Tensors> StepLoss<T, D> checked(const Tensors&... tensors) {
    compile::FiniteWatcher watcher{};
    const StepLoss<T, D> loss = watched(watcher, tensors...);
    if (!watcher.found.is_found()) return loss;
    using Source = source<Tensors...>;
    const std::array<Dims, sizeof...(Tensors)> shapes{tensors.shape()...};
    throw ValueError("checked: step " + std::to_string(steps_) + ": " +
                     compile::nan_attribution<Source>(
                         watcher.found, compile::resolve_symbols(compile::TableFor<Source, D>::view(), shapes)));
  }

  /// One step that shows the results of some layers' kernels, forward and backward, in the order of their work: layers
  /// whose path matches the pattern, in which * stands for anything. `look(const compile::Observation&)` is called
  /// after the step, which is slow but changes the same bits. Values marked by `nn::tap` and their gradients are named.
  template <class Look, AnyTensor... Tensors>
  StepLoss<T, D> tapped(std::string_view pattern, const Look& look, const Tensors&... tensors) {
    compile::Tap tap{compile::trace_of<source<Tensors...>>(), pattern};
    const StepLoss<T, D> loss = watched(tap, tensors...);
    for (const compile::Observation& seen : tap.observations()) look(seen);
    return loss;
  }

  /// The bytes of the arena that a step with tensors of these types and shapes uses, before anything runs.
  template <AnyTensor... Tensors> [[nodiscard]] std::size_t arena_bytes(const Tensors&... tensors) {
    nn::check_inputs<M, T, D, true, Tensors...>();
    follow_network();
    Program& program = programs_.template at<source<Tensors...>>(network_->devices(), network_->run_scalars());
    const std::array<Dims, sizeof...(Tensors)> shapes{tensors.shape()...};
    return program.executor.arena_bytes(compile::resolve_symbols(program.executor.table(), shapes));
  }

  /// The bytes of the arena in one of the model's device slots.
  template <AnyTensor... Tensors> [[nodiscard]] std::size_t arena_bytes(nn::Slot slot, const Tensors&... tensors) {
    nn::check_inputs<M, T, D, true, Tensors...>();
    follow_network();
    Program& program = programs_.template at<source<Tensors...>>(network_->devices(), network_->run_scalars());
    const std::array<Dims, sizeof...(Tensors)> shapes{tensors.shape()...};
    return program.executor.arena_bytes(compile::resolve_symbols(program.executor.table(), shapes), slot.number);
  }

  /// The memory of one slot's device for steps on tensors of these types and shapes, before anything runs.
  template <AnyTensor... Tensors>
  [[nodiscard]] compile::MemoryUse memory(nn::Slot slot, const Tensors&... tensors) const {
    const compile::TableView table = compile::TableFor<source<Tensors...>, D>::view();
    const std::array<Dims, sizeof...(Tensors)> shapes{tensors.shape()...};
    return compile::memory_use(table, compile::resolve_symbols(table, shapes), slot.number);
  }

  /// The memory of a captured step beside arena and weights, on devices that capture steps: fixed places of its inputs.
  template <AnyTensor... Tensors> [[nodiscard]] std::size_t capture_bytes(const Tensors&... tensors) {
    nn::check_inputs<M, T, D, true, Tensors...>();
    follow_network();
    Program& program = programs_.template at<source<Tensors...>>(network_->devices(), network_->run_scalars());
    const std::array<Dims, sizeof...(Tensors)> shapes{tensors.shape()...};
    return program.executor.capture_bytes(compile::resolve_symbols(program.executor.table(), shapes));
  }

  /// Whether steps on tensors of the types of the last step run as captured graphs, and if not, why.
  [[nodiscard]] compile::CaptureReport capture_report() const {
    if (last_ == nullptr) return {.reason = "there was no step yet"};
    return last_->executor.capture_report();
  }

  /// The implementation of the last step's products, convolutions and attentions, on devices with vendors' libraries: a
  /// library or a kernel of twill's, with which epilogue, and why. Empty before the first step.
  [[nodiscard]] auto library_choices() const requires(!HostDevice<D> && Network::slots == 1) {
    using List = decltype(last_->executor.library_choices());
    return last_ == nullptr ? List{} : last_->executor.library_choices();
  }

  /// Updates so far.
  [[nodiscard]] std::int64_t steps() const { return steps_; }

  /// A single number of the rule, such as `optim::gradient_norm_state`, after the last step. Waits for it.
  [[nodiscard]] double state(std::string_view name) const { return state_.item(name); }

  /// The rule's states, the count of steps and the rule's options, to resume elsewhere. Waits for the device.
  [[nodiscard]] nn::StateDict state_dict() const { return detail::with_options(state_.state_dict(steps_), rule); }
  /// Resumes from such a state; if it holds no options, the rule keeps its own.
  /// throws: ValueError, ShapeError naming the option or the state and both sides, with nothing changed
  OptionsReport load_state_dict(const nn::StateDict& state) {
    detail::LoadedOptions options{rule, state};
    steps_ = state_.load_state_dict(options.states(), *network_->state(),
                                    [] { return trace_update<M, T, R>(optim::Updated::whole_weights).parameters; });
    return options.set();
  }

  R rule;                                                 ///< its options may change between steps
  compile::Capture capture = compile::Capture::automatic; ///< whether steps become graphs, if devices have them

private:
  struct Program : detail::StepProgram<D, Network::slots> {
    Program(std::span<const D> devices, compile::TableView table,
            std::span<const compile::KernelFunctionOn<team_t<D>>> kernels, const compile::RunScalars& model)
        : detail::StepProgram<D, Network::slots>{devices, table, kernels, model}, numbers{this->run_scalars} {
      if constexpr (HostDevice<D> && D::has_memory && Network::slots == 1) this->executor.edit(fused_sgd);
    }
    RuleNumbers<R> numbers;
    compile::FuseSgdUpdates fused_sgd{}; ///< of bindings
  };

  template <AnyTensor... Tensors> StepLoss<T, D> make_step(const Tensors&... tensors) {
    nn::check_inputs<M, T, D, true, Tensors...>();
    detail::require_in_slots<source<Tensors...>>("train_step", network_->devices(), tensors...);
    follow_network();
    Program& program = programs_.template at<source<Tensors...>>(network_->devices(), network_->run_scalars());
    std::tuple<std::optional<Tensors>...> copies{};
    const auto addresses = detail::row_major_addresses(copies, tensors...);
    const std::array<Dims, sizeof...(Tensors)> shapes{tensors.shape()...};
    if constexpr (compile::Budget<M>) program.keep_within(M::budget_bytes, shapes);
    program.numbers.write(rule, steps_ + 1, program.run_scalars);
    program.take(network_->run_scalars());
    DrawOfStep draw{*network_->state()};
    if (program.draws) draw.take(program.run_scalars);
    void* output = loss_.data();
    program.executor.allow(capture);
    last_ = &program;
    const auto parameters = state_.addresses(*network_->state(), program.executor.table().parameters);
    nn::run_with_hooks(program.executor, network_->layer_hooks(), [&] {
      program.executor.run_on(shapes, {.inputs = addresses,
                                       .parameters = parameters,
                                       .outputs = {&output, 1},
                                       .run_scalars = program.run_scalars.bits(),
                                       .first_row = 0,
                                       .groups = &network_->state()->groups});
      draw.is_used = true; // whatever observing hooks do
    });
    network_->state()->note_update();
    ++steps_;
    return {loss_, steps_, steps_};
  }

  /// The draw of a step; a failed step returns it, so that its repetition draws equal numbers.
  struct DrawOfStep {
    explicit DrawOfStep(nn::NetworkState<D>& of) : state{of} {}
    DrawOfStep(const DrawOfStep&) = delete;
    DrawOfStep& operator=(const DrawOfStep&) = delete;
    ~DrawOfStep() {
      if (taken && !is_used) state.give_back(*taken);
    }
    void take(compile::RunScalars& run_scalars) {
      taken = state.next_draw();
      run_scalars.set_draw(taken->seed, taken->step);
    }
    nn::NetworkState<D>& state;
    std::optional<Draw> taken{};
    bool is_used = false;
  };

  /// One step observed by a watcher.
  template <AnyTensor... Tensors> StepLoss<T, D> watched(compile::Watcher& watcher, const Tensors&... tensors) {
    follow_network();
    Program& program = programs_.template at<source<Tensors...>>(network_->devices(), network_->run_scalars());
    const auto stop = [](Program* watched) { watched->executor.watch(nullptr); };
    program.executor.watch(&watcher);
    const std::unique_ptr<Program, decltype(stop)> until_done{&program, stop};
    return (*this)(tensors...);
  }

  /// Moves the programs to the network's devices, and the rule's states with the weights.
  void follow_network() {
    const std::span<const D> devices = network_->devices();
    if (std::equal(devices.begin(), devices.end(), devices_.begin())) return;
    devices_.assign(devices.begin(), devices.end());
    programs_.clear();
    last_ = nullptr;
    loss_ = memory::Buffer<D>(network_->device(), sizeof(T));
  }

  Network* network_;
  std::vector<D> devices_; ///< on which the programs run
  memory::Buffer<D> loss_; ///< in slot 0
  OptimiserState<D> state_{};
  detail::StepPrograms<Program> programs_{};
  const Program* last_ = nullptr;
  std::int64_t steps_ = 0;
};

}}}} // namespace twill::v0::train::TWILL_ISA

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

/// Forward, loss, backward and update as one planned program: `auto step = train_step(model, nn::cross_entropy,
/// rule);`, then `step(image, label)` for each batch. The model has to outlive it.
template <class Network, class L, optim::Rule R> [[nodiscard]] auto train_step(Network& network, L loss, R rule) {
  return train::TrainStep<Network, L, R>{network, loss, std::move(rule)};
}

}}} // namespace twill::v0::TWILL_ISA
