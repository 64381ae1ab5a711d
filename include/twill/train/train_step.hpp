#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// A training step as one planned program: forward, loss, backward and update are one table in one arena, and a steady step
// allocates nothing. Rates, probabilities and seeds may change between steps, batches may be smaller than the largest.
// Read next: parallel/data_parallel.hpp.

#include <twill/train/optimiser.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace twill::inline v0::train {

/// The loss of a step, read when it is needed. It is overwritten by the next step.
template <class T, HostDevice D> class StepLoss {
 public:
  StepLoss(const memory::Buffer<D>& slot, const std::int64_t& newest, std::int64_t step) : slot_{&slot}, newest_{&newest}, step_{step} {}

  /// Waits for the step and reads its loss. throws: ValueError when a later step has overwritten it
  [[nodiscard]] T item() const {
    if (step_ != *newest_)
      throw ValueError("item: the loss of step " + std::to_string(step_) + " was overwritten by step " + std::to_string(*newest_) +
                       "; read it before the next step");
    return twill::detail::read_item(slot_->device(), static_cast<const T*>(slot_->data()), Dims{});
  }
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
  using M = typename Network::model_type;
  static constexpr std::size_t model_inputs = std::tuple_size_v<nn::inputs_t<M>>;

  template <class Sequence, class... Tensors> struct SourceFor;
  template <std::size_t... I, class... Tensors> struct SourceFor<std::index_sequence<I...>, Tensors...> {
    using type = WholeStep<M, T, L, R, compile::argument_t<std::tuple_element_t<model_inputs + I, std::tuple<Tensors...>>>...>;
  };

 public:
  /// The source of a step on tensors of these types, for inspection.
  template <AnyTensor... Tensors>
  using source = typename SourceFor<std::make_index_sequence<sizeof...(Tensors) - model_inputs>, Tensors...>::type;

  TrainStep(Network& network, L, R given)
      : rule{std::move(given)}, network_{&network}, loss_{network.device(), sizeof(T)} {}

  /// One step. Arguments: the model's inputs, then the loss's targets. throws: ShapeError, DeviceError, OutOfMemoryError
  template <AnyTensor... Tensors> StepLoss<T, D> operator()(const Tensors&... tensors) {
    static_assert(sizeof...(Tensors) >= model_inputs, "twill: train_step: pass the model's inputs, then the targets of the loss");
    using Source = source<Tensors...>;
    require_device(tensors...);
    Program& program = program_for<Source>();
    const std::array<Dims, sizeof...(Tensors)> shapes{tensors.shape()...};
    const graph::SymbolValues symbols = compile::resolve_symbols(program.executor.table(), shapes);
    const std::tuple inputs{tensors.contiguous()...};
    const auto addresses = std::apply([](const auto&... x) { return std::array<void*, sizeof...(x)>{x.data()...}; }, inputs);
    prepare(program);
    void* output = loss_.data();
    program.executor.run(symbols, {.inputs = addresses,
                                   .parameters = state_.addresses(*network_->state(), program.executor.table().parameters),
                                   .outputs = {&output, 1},
                                   .knobs = program.knobs.bits(),
                                   .first_row = 0});
    return {loss_, steps_, steps_};
  }

  /// The bytes of the arena that a step with tensors of these types and shapes uses, before anything runs.
  template <AnyTensor... Tensors> [[nodiscard]] std::size_t arena_bytes(const Tensors&... tensors) {
    using Source = source<Tensors...>;
    Program& program = program_for<Source>();
    const std::array<Dims, sizeof...(Tensors)> shapes{tensors.shape()...};
    return program.executor.arena_bytes(compile::resolve_symbols(program.executor.table(), shapes));
  }

  [[nodiscard]] std::int64_t steps() const { return steps_; }

  R rule;  ///< its options may change between steps

 private:
  /// A compiled step for one combination of argument types.
  struct Program {
    explicit Program(D device, compile::TableView table, std::span<const compile::KernelFunction> kernels, const compile::Knobs& model)
        : executor{device, table, kernels, compile::Arena::kept}, knobs{table.knobs}, numbers{knobs} {
      for (std::size_t i = 0; i < table.knobs.size(); ++i)
        if (const int from = model.find(table.knobs[i].name.view()); from >= 0) shared.push_back({i, static_cast<std::size_t>(from)});
      draws = knobs.draws();
    }
    compile::Executor<D> executor;
    compile::Knobs knobs;
    RuleNumbers<R> numbers;
    std::vector<std::pair<std::size_t, std::size_t>> shared{};
    bool draws = false;
  };

  template <compile::Source S> Program& program_for() {
    const void* key = compile::kernels<S>.data();
    for (const auto& [known, program] : programs_)
      if (known == key) return *program;
    programs_.emplace_back(key, std::make_unique<Program>(network_->device(), compile::Compiled<S>::view(), compile::kernels<S>, network_->knobs()));
    return *programs_.back().second;
  }

  void prepare(Program& program) {
    program.numbers.write(rule, ++steps_, program.knobs);
    for (const auto& [to, from] : program.shared) program.knobs.copy_at(to, network_->knobs(), from);
    if (program.draws) {
      const Draw draw = generator(network_->device()).next();
      program.knobs.set_draw(draw.seed, draw.step);
    }
  }

  template <class... Tensors> void require_device(const Tensors&... tensors) const {
    const D device = network_->device();
    const auto check = [&](const auto& tensor) {
      if (!(tensor.device() == device))
        throw DeviceError("train_step: the model lies on " + to_string(device) + ", an argument on " + to_string(tensor.device()) +
                          "; move one with to(device)");
    };
    (check(tensors), ...);
  }

  Network* network_;
  memory::Buffer<D> loss_;
  OptimiserState<D> state_{};
  std::vector<std::pair<const void*, std::unique_ptr<Program>>> programs_{};
  std::int64_t steps_ = 0;
};

} // namespace twill::inline v0::train

namespace twill::inline v0 {

/// Forward, loss, backward and update as one planned program: `auto step = train_step(model, nn::cross_entropy, rule);`,
/// then `step(image, label)` for each batch. The model has to outlive it.
template <class Network, class L, optim::Rule R> [[nodiscard]] auto train_step(Network& network, L loss, R rule) {
  return train::TrainStep<Network, L, R>{network, loss, std::move(rule)};
}

} // namespace twill::inline v0
