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
#include <twill/training/optimiser.hpp>
#include <twill/training/optimiser_state.hpp>
#include <twill/training/sources.hpp>
#include <twill/training/step_loss.hpp>
#include <twill/training/step_program.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace twill { inline namespace v0 { namespace training { namespace detail { inline namespace TWILL_ISA {

/// The third argument of `train_step` where it is missing.
struct NoRule {};

}}}}} // namespace twill::v0::training::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace training { inline namespace TWILL_ISA {

/// Runs whole steps on a network with a loss and a rule.
template <class Network, class L, optim::Rule R>
class TrainStep : public TrainingState<R, NetworkStates<Network, update_of_t<Network, R>>> {
  using D = typename Network::device_type;
  using T = typename Network::Element;
  using M = nn::traced_model_t<Network>;
  using Base = TrainingState<R, NetworkStates<Network, update_of_t<Network, R>>>;
  using Base::states_, Base::steps_;

  template <class... Targets> using Whole = WholeStep<M, T, L, R, Targets...>;

public:
  /// The source of a step on tensors of these types, for inspection.
  template <AnyTensor... Tensors> using source = source_for<Whole, M, Tensors...>;

  using Base::rule;

  /// A step on a network, by a loss and a rule; the program is compiled in, planned here.
  TrainStep(Network& network, L, R given)
      : Base{std::move(given), network.state()}, network_{&network}, loss_{network.device(), sizeof(T)} {}

  /// One step. Arguments: the model's inputs, then the loss's targets.
  /// throws: ShapeError, DeviceError, OutOfMemoryError; ValueError if a batch is empty or too large for the model's
  /// budget
  template <AnyTensor... Tensors> StepLoss<T, D> operator()(const Tensors&... tensors) {
    nn::check_inputs<nn::CallOf<"train_step", M>, T, D, L, Tensors...>();
    if constexpr (nn::arguments_fit<M, T, D, L, Tensors...>) // else refused
      try {
        return make_step(tensors...);
      } catch (...) { // if several ranks share the model, it reaches them all
        network_->state()->groups.fail(std::current_exception());
        throw;
      }
    else
      return {loss_, steps_, steps_};
  }

  /// Does not compile: a step takes tensors.
  template <class... Arguments>
  requires(!(AnyTensor<Arguments> && ...)) StepLoss<T, D>
  operator()(const Arguments&...) {
    static_assert(sizeof...(Arguments) == 0, "twill: train_step: a step takes tensors; evaluate an expression first: "
                                             "const Tensor x = image / 255;");
    return {loss_, steps_, steps_};
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
    Program& program = program_for<Tensors...>();
    return program.executor.arena_bytes(program.symbols_of(tensors...));
  }

  /// The bytes of the arena in one of the model's device slots.
  template <AnyTensor... Tensors> [[nodiscard]] std::size_t arena_bytes(nn::Slot slot, const Tensors&... tensors) {
    Program& program = program_for<Tensors...>();
    return program.executor.arena_bytes(program.symbols_of(tensors...), slot.number);
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
    Program& program = program_for<Tensors...>();
    return program.executor.capture_bytes(program.symbols_of(tensors...));
  }

  /// Whether steps on tensors of the types of the last step run as captured graphs, and if not, why.
  [[nodiscard]] compile::CaptureReport capture_report() const {
    return programs_.capture_report("there was no step yet");
  }

  /// The implementation of the last step's products, convolutions and attentions, on devices with vendors' libraries: a
  /// library or a kernel of twill's, with which epilogue, and why. Empty before the first step.
  [[nodiscard]] auto library_choices() const requires(!HostDevice<D> && Network::slots == 1) {
    using List = decltype(programs_.last()->executor.library_choices());
    return programs_.last() == nullptr ? List{} : programs_.last()->executor.library_choices();
  }

  compile::Capture capture = compile::Capture::automatic; ///< whether steps become graphs, if devices have them

private:
  static constexpr bool fuses_updates = HostDevice<D> && D::has_memory && Network::slots == 1;
  static compile::FuseSgdUpdates fused_updates() {
    using Weight = std::conditional_t<std::is_same_v<T, double>, double, float>;
    if constexpr (fuses_updates)
      return {dtype_of<Weight>, &compile::fused_sgd<Weight>};
    else
      return {dtype_of<Weight>, nullptr};
  }

  struct Program : StepProgram<M, D, Network::slots> {
    Program(std::span<const D> devices, compile::TableView table,
            std::span<const compile::KernelFunctionOn<team_t<D>>> kernels, const compile::RunScalars& model)
        : StepProgram<M, D, Network::slots>{devices, table, kernels, model}, numbers{this->run_scalars} {
      if constexpr (fuses_updates) this->executor.edit(fused_sgd);
    }
    RuleNumbers<R> numbers;
    compile::FuseSgdUpdates fused_sgd = fused_updates(); ///< of bindings
  };

  /// The program of a step on tensors of these types, on the network's devices.
  template <AnyTensor... Tensors> Program& program_for() {
    nn::check_inputs<nn::CallOf<"train_step", M>, T, D, L, Tensors...>();
    return programs_.template at<source<Tensors...>>(network_->devices(), network_->run_scalars());
  }

  template <AnyTensor... Tensors> StepLoss<T, D> make_step(const Tensors&... tensors) {
    using Source = source<Tensors...>;
    require_in_slots<Source>(network_->devices(), tensors...);
    require_rows(Source::called(), std::array{tensors.shape()...});
    Program& program = programs_.template next<Source>(network_->devices(), network_->run_scalars(), capture);
    if (!(loss_.device() == network_->device())) loss_ = memory::Buffer<D>(network_->device(), sizeof(T));
    program.numbers.write(rule, steps_ + 1, program.run_scalars);
    DrawOfRun draw{program, *network_->state()};
    if (program.draws) program.set_draw(draw.take());
    void* output = loss_.data();
    program.run(network_->layer_hooks().get(),
                {.parameters = states_.addresses(program.executor.table().parameters),
                 .outputs = {&output, 1},
                 .groups = &network_->state()->groups},
                tensors...);
    network_->state()->note_update();
    ++steps_;
    return {loss_, steps_, steps_};
  }

  /// One step observed by a watcher.
  template <AnyTensor... Tensors> StepLoss<T, D> watched(compile::Watcher& watcher, const Tensors&... tensors) {
    Program& program = program_for<Tensors...>();
    const auto stop = [](Program* watched) { watched->executor.watch(nullptr); };
    program.executor.watch(&watcher);
    const std::unique_ptr<Program, decltype(stop)> until_done{&program, stop};
    return (*this)(tensors...);
  }

  Network* network_;
  memory::Buffer<D> loss_; ///< in slot 0
  StepPrograms<Program> programs_{};
};

}}}} // namespace twill::v0::training::TWILL_ISA

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

/// Forward, loss, backward and update as one planned program: `auto step = train_step(model, nn::cross_entropy,
/// rule);`, then `step(image, label)` for each batch. The model has to outlive it.
template <class Network, class L, class R = training::detail::NoRule>
[[nodiscard]] auto train_step(Network& network, L loss, R rule = {}) {
  constexpr bool is_given = !std::is_same_v<R, training::detail::NoRule>;
  constexpr bool is_rule = optim::Rule<R>;
  constexpr bool is_loss = std::is_empty_v<L> && std::is_default_constructible_v<L>;
  constexpr bool is_network = requires { typename Network::model_type; };
  static_assert(is_given, "twill: train_step: the rule of updates is missing: "
                          "train_step(model, nn::cross_entropy, optim::Sgd{{.rate = 0.1}})");
  static_assert(is_rule || !is_given, "twill: train_step: the third argument is a rule of updates, such as "
                                      "optim::Sgd{{.rate = 0.1}}");
  static_assert(is_loss, "twill: train_step: a loss is a function without captures; what it needs besides prediction "
                         "and targets is a further target");
  static_assert(is_network, "twill: train_step: the first argument is a network, nn::Network<Model>, which has the "
                            "weights of a model");
  if constexpr (is_rule && is_loss && is_network)
    return training::TrainStep<Network, L, R>{network, loss, std::move(rule)};
}

}}} // namespace twill::v0::TWILL_ISA
