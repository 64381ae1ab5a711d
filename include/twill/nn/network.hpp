#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Networks: models with weights on a device. The model is a type whose static `forward` is traced; the network owns one
// buffer for each weight, their gradients once computed, and the model's run-time numbers. `forward` keeps the values
// for a backward pass, `infer` nothing; both call the hooks of nn/hooks.hpp. Read next: training/train_step.hpp.

#include <twill/core/config.hpp>
#include <twill/core/text.hpp>
#include <twill/nn/hooks.hpp>
#include <twill/nn/initialise.hpp>
#include <twill/nn/layer_hooks.hpp>
#include <twill/nn/network_state.hpp>
#include <twill/nn/slot.hpp>
#include <twill/nn/stage.hpp>
#include <twill/nn/tracked.hpp>
#include <twill/nn/tracked_functions.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace nn { inline namespace TWILL_ISA {

/// A model M with weights of type T on a device of kind D.
template <Model M, ComputeDevice D = Cpu, FloatingScalar T = float> class Network {
  using Shown = compile::Signature<PlainForward<ModelStage<M, T, true>>>; // weights have one order in every trace
  using Output = compile::shown_output_t<PlainForward<ModelStage<M, T, true>>, 0, D>;
  using Hooks = hooks_t<M, T, D, Output>;

public:
  /// The model as a stage of weights and inputs, in training.
  using Stage = ModelStage<M, T, true>;
  /// The model in evaluation: dropout keeps all, batch norms use their running statistics.
  using Evaluation = PlainForward<ModelStage<M, T, false>>;
  using Element = T;
  using device_type = D;
  using model_type = M;
  static constexpr int slots = Shown::sizes.slots; ///< of devices for the model's parts, see nn/slot.hpp

  /// Draws the initial weights from the device's generator. If the model has several slots, all of them are on it.
  explicit Network(D device = current_device<D>()) : Network{std::vector<D>(static_cast<std::size_t>(slots), device)} {}

  /// A network on one device for each slot of the model. throws: ValueError for another number of devices
  explicit Network(std::vector<D> devices)
      : state_{std::make_shared<NetworkState<D>>(one_for_each_slot(std::move(devices)), parameter_infos(),
                                                 &detail::add_weights<T, D>, detail::half_addition<T, D>())},
        run_scalars_{Shown::view().run_scalars} {
    state_->last_draw = generator(device()).next();
    draw_weights();
  }

  /// Draws the initial weights from this draw: as one of the ranks along the axes of these groups, each of which holds
  /// its part of the weights of a single device.
  Network(D device, const kernel::RankGroups& groups, const RandomDraw& draw)
      : state_{std::make_shared<NetworkState<D>>(device, parameter_infos(), &detail::add_weights<T, D>,
                                                 detail::half_addition<T, D>())},
        run_scalars_{Shown::view().run_scalars} {
    state_->last_draw = draw;
    state_->groups = groups;
    draw_weights();
  }

  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;
  Network(Network&&) noexcept = default;
  Network& operator=(Network&&) noexcept = default;

  /// The weights named by the model, in the order of its trace.
  [[nodiscard]] static ListView<graph::ParameterInfo> parameter_infos() { return Shown::view().parameters; }

  /// The device on which inputs are expected: the one of slot 0.
  [[nodiscard]] D device() const { return state_->device; }
  /// The devices of all slots.
  [[nodiscard]] std::span<const D> devices() const { return state_->devices(); }

  /// Makes the network one of the ranks along the axis of a group. Weights divided over ranks are drawn again, as this
  /// rank's part; bind before anything runs. For the others, all ranks must draw alike (`manual_seed`).
  Network& bind(std::shared_ptr<kernel::RankGroup> group) {
    state_->groups.add(std::move(group));
    for (std::size_t i = 0; i < state_->infos.size(); ++i)
      if (state_->infos[i].shard.is_part()) draw_weight(i, state_->last_draw);
    return *this;
  }

  /// Runs the model and keeps the values needed by a backward pass, which continues into tracked inputs, such as the
  /// result of another network. throws: ShapeError, DeviceError naming both; what a hook throws
  template <StageOperand... Inputs> [[nodiscard]] auto forward(const Inputs&... inputs) const {
    check_inputs<CallOf<"forward", M>, T, D, void, detail::tensor_of_t<Inputs>...>();
    if constexpr (arguments_fit<M, T, D, void, detail::tensor_of_t<Inputs>...> && Shown::is_sound) { // else refused
      compile::require_device(call_of_stage<Stage>("forward"), device(), detail::tensor_of(inputs)...);
      return forward_on(state_, context_of_next_run(), inputs...);
    }
  }

  /// Runs the model on the weights of `state`: the network's own, or a replica's, on the device of the inputs.
  template <StageOperand... Inputs>
  [[nodiscard]] auto forward_on(const std::shared_ptr<NetworkState<D>>& state, RunContext context,
                                const Inputs&... inputs) const {
    call_begin_hooks("forward", detail::tensor_of(inputs)...);
    context.groups = state->groups;
    Tracked<Stage, D, Inputs...> result(state, std::move(context), inputs...);
    if constexpr (result.is_sound) {
      if (!hooks_->forward.is_empty())
        call_hooks(hooks_->forward, std::tuple<const detail::tensor_of_t<Inputs>&...>{detail::tensor_of(inputs)...},
                   result.value());
      result.call_on_backward({hooks_, &hooks_->backward});
    }
    return result;
  }

  /// The run-time numbers of the next `forward`: those set by `set`, the mode, and a draw from the device's generator.
  [[nodiscard]] RunContext context_of_next_run() const {
    RunContext context = context_without_draw();
    if (context.run_scalars.draws()) {
      const RandomDraw draw = state_->next_draw();
      context.run_scalars.set_draw(draw.seed, draw.step);
    }
    return context;
  }

  /// The run-time numbers of a run whose draw is set elsewhere.
  [[nodiscard]] RunContext context_without_draw() const {
    compile::RunScalars run_scalars = run_scalars_;
    if (!training_)
      for (std::size_t i = 0; i < run_scalars.infos().size(); ++i)
        if (run_scalars.infos()[i].training_only) run_scalars.set_at(i, run_scalars.infos()[i].in_evaluation);
    return {std::move(run_scalars), 0, layer_hooks_, state_->groups};
  }

  /// Runs the model in evaluation, without dropout; keeps nothing.
  template <AnyTensor... Inputs> [[nodiscard]] auto infer(const Inputs&... inputs) const {
    check_inputs<CallOf<"infer", M>, T, D, void, Inputs...>();
    if constexpr (arguments_fit<M, T, D, void, Inputs...> && Shown::is_sound) { // else refused
      compile::require_device(Evaluation::called(), device(), inputs...);
      call_begin_hooks("infer", inputs...);
      const std::array<Dims, sizeof...(Inputs)> shapes{inputs.shape()...};
      const graph::SymbolValues symbols = compile::resolve_symbols(compile::TableFor<Evaluation, D>::view(), shapes);
      using Result = compile::output_t<Evaluation, 0, D>;
      constexpr auto shown = compile::TableFor<Evaluation, D>::template output<0>();
      Result result(detail::device_of_slot<Evaluation>(devices(), shown.slot), shown.shape.evaluate(symbols));
      const std::tuple contiguous{inputs.contiguous()...};
      const auto addresses =
          std::apply([](const auto&... x) { return std::array<void*, sizeof...(x)>{x.data()...}; }, contiguous);
      detail::run_to_buffers<Evaluation>(devices(), symbols, addresses, state_->addresses(),
                                         RunContext{run_scalars_, 0, layer_hooks_, state_->groups}, result.data());
      if (!hooks_->forward.is_empty())
        call_hooks(hooks_->forward, std::tuple<const Inputs&...>{inputs...}, Output(result));
      return result;
    }
  }

  /// Does not compile: a network takes tensors.
  template <class... Inputs>
  requires(!(AnyTensor<Inputs> && ...)) Output infer(const Inputs&...)
  const {
    static_assert(sizeof...(Inputs) == 0, "twill: infer: a network takes tensors; evaluate an expression first: "
                                          "const Tensor x = image / 255;");
    return {};
  }
  /// Does not compile: a network takes tensors.
  template <class... Inputs>
  requires(!(StageOperand<Inputs> && ...)) Output forward(const Inputs&...)
  const {
    static_assert(sizeof...(Inputs) == 0, "twill: forward: a network takes tensors; evaluate an expression first: "
                                          "const Tensor x = image / 255;");
    return {};
  }

  // Hooks: called in each staged run, concurrently in each replica of a `DataParallel`, in the order of creation. Those
  // on the whole model receive tensors, which planned steps do not make; those on layers copies, also in planned steps.

  /// `hook(inputs...)` before each `forward` and `infer`.
  template <class F> HookHandle on_forward_begin(F&& hook) {
    return hang(hooks_->forward_begin, std::forward<F>(hook));
  }

  /// `hook(inputs..., output)` after each `forward` and `infer`.
  template <class F> HookHandle on_forward(F&& hook) { return hang(hooks_->forward, std::forward<F>(hook)); }

  /// `hook(gradient of the output)` after each backward pass through the model, when the weights have their gradients.
  template <class F> HookHandle on_backward(F&& hook) { return hang(hooks_->backward, std::forward<F>(hook)); }

  /// `hook(const compile::Observation&)` with each input of the layers whose names match a pattern ("encoder.*"), in
  /// each run, for networks of `nn::Hooked<Model>`. Hooks are called after the run, in the order of the layers; runs
  /// with hooks go instruction by instruction: slower, with equal bits. throws: ValueError when no layer matches
  template <class F> HookHandle on_layer_begin(std::string_view pattern, F&& hook) {
    return hang_on_layers(layer_hooks_, Shown::view().taps, "on_layer_begin", pattern, graph::TapKind::layer_input,
                          false, std::forward<F>(hook));
  }

  /// `hook(const compile::Observation&)` with each result of the matching layers.
  template <class F> HookHandle on_layer(std::string_view pattern, F&& hook) {
    return hang_on_layers(layer_hooks_, Shown::view().taps, "on_layer", pattern, graph::TapKind::layer_output, false,
                          std::forward<F>(hook));
  }

  /// `hook(const compile::Observation&)` with the gradient of each result, in the backward pass.
  template <class F> HookHandle on_layer_backward(std::string_view pattern, F&& hook) {
    return hang_on_layers(layer_hooks_, Shown::view().taps, "on_layer_backward", pattern, graph::TapKind::layer_output,
                          true, std::forward<F>(hook));
  }

  /// `hook(const compile::Observation&)` with the gradient by each input, after the layer's backward pass: the part of
  /// this layer, whatever else uses the value. A layer whose input is not differentiated, such as data or indices, has
  /// none, nor does one inside the body of a scan.
  template <class F> HookHandle on_layer_backward_end(std::string_view pattern, F&& hook) {
    return hang_on_layers(layer_hooks_, Shown::view().taps, "on_layer_backward_end", pattern,
                          graph::TapKind::layer_input, true, std::forward<F>(hook));
  }

  /// `hook(const compile::Observation&)` with values marked by `nn::tap` in the model, and their gradients.
  template <class F> HookHandle on_tap(std::string_view pattern, F&& hook) {
    return hang_on_layers(layer_hooks_, Shown::view().taps, "on_tap", pattern, graph::TapKind::value, {},
                          std::forward<F>(hook));
  }

  /// Hooks on layers; null if there are none.
  [[nodiscard]] const std::shared_ptr<LayerHooks>& layer_hooks() const { return layer_hooks_; }

  /// A weight by its name, sharing the network's memory: `model.template parameter<"hidden.weight">()`.
  template <FixedString Name> [[nodiscard]] auto parameter() const {
    constexpr std::size_t index = find(Name.view());
    static_assert(is_found(index), "twill: parameter: the model has no weight of this name");
    state_->require_whole("parameter");
    return tensor_of_parameter < is_found(index) ? index : 0 > (state_->buffers[index]);
  }

  /// The gradient of a weight. throws: ValueError before any backward pass
  template <FixedString Name> [[nodiscard]] auto gradient() const {
    constexpr std::size_t index = find(Name.view());
    static_assert(is_found(index), "twill: gradient: the model has no weight of this name");
    if (!state_->gradients[index])
      throw ValueError("gradient: '" + std::string{Name.view()} + "' has none; call backward first");
    return tensor_of_parameter < is_found(index) ? index : 0 > (state_->gradients[index]);
  }

  /// All weights with their names; buffers are shared. throws: ValueError while weights are in parts on several ranks
  [[nodiscard]] std::vector<ParameterView<D>> parameters() const {
    state_->require_whole("parameters");
    std::vector<ParameterView<D>> views{};
    for (std::size_t i = 0; i < state_->infos.size(); ++i) {
      const graph::ParameterInfo& info = state_->infos[i];
      views.push_back(
          {info.name.view(), info.dtype, info.shape.evaluate({}), state_->buffers[i], state_->gradients[i]});
    }
    return views;
  }

  /// Releases all gradients.
  void zero_grad() {
    for (memory::Buffer<D>& gradient : state_->gradients) gradient.reset();
  }

  /// Sets training mode: dropout drops and batch norms update their running statistics.
  void train() { training_ = true; }
  /// Sets evaluation mode: dropout keeps all and batch norms use their running statistics.
  void eval() { training_ = false; }
  /// Whether it is in training mode, the initial mode.
  [[nodiscard]] bool is_training() const { return training_; }

  /// Changes a run-time number of the model, such as a dropout probability. throws: ValueError listing those that exist
  void set(std::string_view name, double number) { run_scalars_.set(name, number); }
  /// The run-time numbers of its programs.
  [[nodiscard]] const compile::RunScalars& run_scalars() const { return run_scalars_; }

  /// Moves the weights of all slots to another device of this kind, in place.
  Network& to(D device) { return to(std::vector<D>(static_cast<std::size_t>(slots), device)); }
  /// Moves the weights to a device for each slot, in place. throws: ValueError for another number of devices
  Network& to(std::vector<D> devices) {
    devices = one_for_each_slot(std::move(devices));
    if (!std::equal(devices.begin(), devices.end(), state_->devices().begin())) state_->move_to(std::move(devices));
    return *this;
  }

  /// A network of the same weights on a device of another kind.
  template <ComputeDevice D2>
  requires(!std::same_as<D, D2>) [[nodiscard]] Network<M, D2, T> to(D2 device) const {
    state_->require_whole("to");
    Network<M, D2, T> result{device};
    for (std::size_t i = 0; i < state_->buffers.size(); ++i)
      copy_bytes(device, result.state()->buffers[i].data(), state_->buffers[i].device(), state_->buffers[i].data(),
                 state_->buffers[i].bytes(), CopyOptions{});
    return result;
  }

  /// Weights and buffers, which copies and wrappers of the network share.
  [[nodiscard]] const std::shared_ptr<NetworkState<D>>& state() const { return state_; }

private:
  [[nodiscard]] static std::vector<D> one_for_each_slot(std::vector<D> devices) {
    if (devices.size() != static_cast<std::size_t>(slots))
      throw ValueError(join_text({"network: the model puts parts into ", slots, " device slots, ", devices.size(),
                                  " devices were given; give one for each slot, the same one twice if need be"}));
    return devices;
  }
  void draw_weights() {
    if constexpr (std::same_as<D, Cpu> && detail::computes_in_half<M, T>) detail::say_that_half_is_emulated();
    for (std::size_t i = 0; i < state_->infos.size(); ++i) draw_weight(i, state_->last_draw);
  }
  void draw_weight(std::size_t i, const RandomDraw& draw) {
    const graph::ParameterInfo& info = state_->infos[i];
    const kernel::RankGroup* const group = info.shard.is_part() ? state_->groups.find(info.shard.axis) : nullptr;
    initialise_parameter(state_->device_of(info), info, i, draw, state_->buffers[i].data(),
                         group != nullptr ? group->rank() : 0,
                         i + 1 < state_->infos.size() ? &state_->infos[i + 1] : nullptr);
  }

  static constexpr std::size_t find(std::string_view name) {
    const auto& parameters = Shown::frozen.parameters;
    std::size_t index = 0;
    while (index < Shown::sizes.parameters && parameters[index].name.view() != name) ++index;
    return index;
  }

  static constexpr bool is_found(std::size_t index) { return index < Shown::sizes.parameters; }

  template <std::size_t Index, std::size_t... Axis>
  static auto shape_of_parameter(std::index_sequence<Axis...>)
      -> Shape<Shown::frozen.parameters[Index].shape.axes[Axis].factor...>;

  template <std::size_t Index> static auto tensor_of_parameter(const memory::Buffer<D>& buffer) {
    constexpr auto& info = Shown::frozen.parameters[Index];
    using S =
        decltype(shape_of_parameter<Index>(std::make_index_sequence<static_cast<std::size_t>(info.shape.rank)>{}));
    using Stored = scalar_t<info.dtype>;
    return Tensor<Stored, D, S>(buffer, static_cast<Stored*>(buffer.data()), S::dims(), contiguous_strides(S::dims()));
  }

  template <class List, class F> HookHandle hang(List& list, F&& hook) {
    const std::uint64_t number = list.add(std::forward<F>(hook));
    return {std::shared_ptr<detail::AnyHookList>{hooks_, &list}, number};
  }

  /// Hooks receive the inputs in the types declared by the model, whatever the arguments' types.
  template <class List, class... Inputs, class... Results>
  void call_hooks(const List& list, const std::tuple<const Inputs&...>& inputs, const Results&... results) const {
    [&]<class... Declared>(std::type_identity<std::tuple<Declared...>>) {
      std::apply(
          [&](const auto&... input) {
            list(typename DeclaredInput<Declared, T>::template tensor<D>(input)..., results...);
          },
          inputs);
    }(std::type_identity<inputs_t<M>>{});
  }

  template <class... Inputs> void call_begin_hooks(const char* call, const Inputs&... inputs) const {
    if (hooks_->forward_begin.is_empty()) return;
    // Wrong shapes are refused with the messages of a run.
    const std::array<Dims, sizeof...(Inputs)> shapes{inputs.shape()...};
    compile::TableView shown = Shown::view();
    shown.name.call = call;
    static_cast<void>(compile::resolve_symbols(shown, shapes));
    call_hooks(hooks_->forward_begin, std::tuple<const Inputs&...>{inputs...});
  }

  std::shared_ptr<NetworkState<D>> state_;
  compile::RunScalars run_scalars_;
  std::shared_ptr<Hooks> hooks_ = std::make_shared<Hooks>();
  std::shared_ptr<LayerHooks> layer_hooks_ = std::make_shared<LayerHooks>();
  bool training_ = true;
};

/// Does not compile: a network has no text.
template <class Stream, Model M, ComputeDevice D, FloatingScalar T>
requires requires(Stream& stream) { stream.rdbuf(); }
Stream& operator<<(Stream& stream, const Network<M, D, T>&) {
  static_assert(sizeof(M) == 0,
                "twill: print: a network has no text; print to_string(summary<Model>()), or the tensors "
                "of model.parameters()");
  return stream;
}

}}}} // namespace twill::v0::nn::TWILL_ISA
