#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// A model with weights on a device. The model is a type whose static `forward` is traced by the compiler; the network owns
// one buffer for each weight, their gradients once there are some, and the model's run-time numbers. `forward` keeps what
// a backward pass needs, `infer` keeps nothing; both call the hooks of nn/hooks.hpp. Read next: train/train_step.hpp.

#include <twill/core/config.hpp>
#include <twill/core/pattern.hpp>
#include <twill/device/cpu/half_arithmetic.hpp>
#include <twill/nn/hooks.hpp>
#include <twill/nn/initialise.hpp>
#include <twill/nn/tracked.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace twill::inline v0::nn::inline TWILL_ISA {

/// Declares the inputs of a model in a graph and traces it.
template <Model M> [[nodiscard]] constexpr graph::Value trace_model(graph::Graph& graph) {
  return [&]<class... Inputs>(std::type_identity<std::tuple<Inputs...>>) {
    const std::tuple<Inputs...> inputs{Inputs::declare(graph)...}; // braces: in order
    return graph::Value{std::apply([](const auto&... input) { return M::forward(input...); }, inputs)};
  }(std::type_identity<inputs_t<M>>{});
}

/// The stage that a model of element type T is, in training (with dropout) or not.
template <Model M, FloatingScalar T, bool Training> struct ModelStage {
  using model_type = M;
  using unfitted_type = ModelStage<unfitted_t<M>, T, Training>;
  static constexpr graph::Graph make_graph() {
    graph::Graph graph{dtype_of<T>};
    graph.training = Training;
    return graph;
  }
  static constexpr graph::Value build(graph::Graph& graph) { return trace_model<M>(graph); }
  /// What the model's programs need, by the size of its trace.
  static constexpr compile::TableSizes room() {
    return compile::room_around(compile::Face<PlainForward<ModelStage<M, T, true>>>::sizes);
  }
};

/// A weight as the run time sees it.
template <ComputeDevice D> struct ParameterView {
  std::string_view name;
  DType dtype;
  Dims shape;
  memory::Buffer<D> buffer;
  memory::Buffer<D> gradient; ///< empty until a backward pass
};

} // namespace twill::inline v0::nn::inline TWILL_ISA

namespace twill::inline v0::nn::detail::inline TWILL_ISA {

/// Whether a model of T computes in float16, by itself or by mixed precision.
template <class M, class T> inline constexpr bool computes_in_half = std::same_as<T, half>;
template <class M, class T>
requires requires { typename M::autocast_type; }
inline constexpr bool computes_in_half<M, T> = std::same_as<typename M::autocast_type, half> || std::same_as<T, half>;

/// total += addend, element by element.
template <FloatingScalar T, ComputeDevice D>
void add_elements(const D& device, std::int64_t count, void* total, void* addend) {
  using kernel::Access, kernel::In, kernel::Operand, kernel::Out, kernel::Step;
  Operand operands[3]{};
  void* data[3] = {total, addend, total};
  for (int k = 0; k < 3; ++k) {
    operands[k].data = data[k];
    operands[k].strides[0] = 1;
  }
  kernel::launch(kernel::Program<In<T, Access::contiguous>, In<T, Access::contiguous>,
                                 Step<kernel::Primitive::add, 0, 1>, Out<T, 2>>{},
                 device, Dims(count), operands);
}

/// throws: ValueError that lists what is tapped, unless something there fits the pattern
inline void require_tap(std::span<const graph::TapInfo> taps, std::string_view where, std::string_view pattern,
                        compile::TapPlace place) {
  std::string known{};
  for (const graph::TapInfo& tap : taps) {
    if (tap.place != place) continue;
    if (matches(pattern, tap.name.view())) return;
    known += (known.empty() ? "" : ", ") + std::string{tap.name.view()};
  }
  const bool is_value = place == compile::TapPlace::value;
  throw ValueError(std::string{where} + ": no " + (is_value ? "tap" : "layer") + " of the model is called '" +
                   std::string{pattern} + "'; " +
                   (!known.empty() ? "there are " + known
                    : is_value     ? "mark values with nn::tap"
                                   : "make the network of nn::Hooked<Model>, which taps layers"));
}

/// The same for a weight of a network of T, some of whose weights may be float32.
template <FloatingScalar T, ComputeDevice D>
void add_weights(const D& device, DType dtype, std::int64_t count, void* total, void* addend) {
  if (dtype == dtype_of<T>) return add_elements<T>(device, count, total, addend);
  if constexpr (sizeof(T) < sizeof(float)) add_elements<float>(device, count, total, addend);
}

} // namespace twill::inline v0::nn::detail::inline TWILL_ISA

namespace twill::inline v0::nn::inline TWILL_ISA {

/// What tracked results share with the network that made them.
template <ComputeDevice D> class NetworkState : public Weights<D> {
public:
  /// Adds so many elements to others.
  using Add = void (*)(const D& device, DType dtype, std::int64_t count, void* total, void* addend);

  NetworkState(D place, std::span<const graph::ParameterInfo> parameters, Add adding)
      : device{place}, infos{parameters}, add{adding}, gradients(parameters.size()) {
    for (const graph::ParameterInfo& info : infos) {
      buffers.emplace_back(device, bytes_of(info));
      addresses_.push_back(buffers.back().data());
    }
  }

  [[nodiscard]] static std::size_t bytes_of(const graph::ParameterInfo& info) {
    return static_cast<std::size_t>(info.shape.elements().factor) * size_of(info.dtype);
  }

  [[nodiscard]] std::span<void* const> addresses() const override { return addresses_; }

  /// Adds to the gradients there are, in the order of the trainable weights.
  void add_gradients(std::vector<memory::Buffer<D>> fresh) override {
    std::size_t next = 0;
    for (std::size_t i = 0; i < infos.size(); ++i) {
      if (infos[i].role != graph::Role::weight) continue;
      memory::Buffer<D> gradient = std::move(fresh[next++]);
      if (!gradients[i])
        gradients[i] = std::move(gradient);
      else
        add(device, infos[i].dtype, infos[i].shape.elements().factor, gradients[i].data(), gradient.data());
    }
  }

  void move_to(D target) {
    for (std::size_t i = 0; i < buffers.size(); ++i) {
      for (memory::Buffer<D>* buffer : {&buffers[i], &gradients[i]}) {
        if (!*buffer) continue;
        memory::Buffer<D> moved(target, bytes_of(infos[i]));
        copy_bytes(target, moved.data(), device, buffer->data(), moved.bytes(), CopyOptions{});
        *buffer = std::move(moved);
      }
      addresses_[i] = buffers[i].data();
    }
    synchronize(device);
    device = target;
  }

  D device;
  std::span<const graph::ParameterInfo> infos;
  Add add; ///< for the network's element type, so that no other is compiled
  std::vector<memory::Buffer<D>> buffers{};
  std::vector<memory::Buffer<D>> gradients{};

private:
  std::vector<void*> addresses_{};
};

/// A model M with weights of type T on a device of kind D.
template <Model M, ComputeDevice D = Cpu, FloatingScalar T = float> class Network {
  using Shown = compile::Face<PlainForward<ModelStage<M, T, true>>>; // weights have one order in every trace
  using Output = compile::shown_output_t<PlainForward<ModelStage<M, T, true>>, 0, D>;
  using Hooks = hooks_t<M, T, D, Output>;

public:
  using Stage = ModelStage<M, T, true>;
  using Evaluation = PlainForward<ModelStage<M, T, false>>;
  using Element = T;
  using device_type = D;
  using model_type = M;

  /// Draws the initial weights from the device's generator.
  explicit Network(D device = current_device<D>())
      : state_{std::make_shared<NetworkState<D>>(device, parameter_infos(), &detail::add_weights<T, D>)},
        knobs_{Shown::view().knobs} {
    if constexpr (std::same_as<D, Cpu> && detail::computes_in_half<M, T>) say_that_half_is_emulated();
    const Draw draw = generator(device).next();
    for (std::size_t i = 0; i < state_->infos.size(); ++i)
      initialise_parameter(device, state_->infos[i], i, draw, state_->buffers[i].data());
  }

  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;
  Network(Network&&) = default;
  Network& operator=(Network&&) = default;

  /// The weights that the model names, in the order of its trace.
  [[nodiscard]] static std::span<const graph::ParameterInfo> parameter_infos() { return Shown::view().parameters; }

  [[nodiscard]] D device() const { return state_->device; }

  /// Runs the model and keeps what a backward pass needs. throws: ShapeError, DeviceError naming both; what a hook throws
  template <AnyTensor... Inputs> [[nodiscard]] auto forward(const Inputs&... inputs) const {
    check_inputs<M, T, D, false, Inputs...>();
    require_device(inputs...);
    return forward_on(state_, context_of_next_run(), inputs...);
  }

  /// The same on the weights of `state`: the network's own, or a replica's, whose device the inputs share.
  template <AnyTensor... Inputs>
  [[nodiscard]] auto forward_on(const std::shared_ptr<NetworkState<D>>& state, RunContext context,
                                const Inputs&... inputs) const {
    call_begin_hooks(inputs...);
    Tracked<Stage, D, Inputs...> result(state, std::move(context), inputs...);
    if (!hooks_->forward.is_empty())
      call_hooks(hooks_->forward, std::tuple<const Inputs&...>{inputs...}, result.value());
    result.call_on_backward({hooks_, &hooks_->backward});
    return result;
  }

  /// The run-time numbers of the next `forward`: what `set` said, the mode, and a draw from the device's generator.
  [[nodiscard]] RunContext context_of_next_run() const {
    compile::Knobs knobs = knobs_;
    if (!training_)
      for (std::size_t i = 0; i < knobs.infos().size(); ++i)
        if (knobs.infos()[i].training_only) knobs.set_at(i, knobs.infos()[i].in_evaluation);
    if (knobs.draws()) {
      const Draw draw = generator(device()).next();
      knobs.set_draw(draw.seed, draw.step);
    }
    return {std::move(knobs), 0, layer_hooks_};
  }

  /// Runs the model as in evaluation, without dropout; keeps nothing.
  template <AnyTensor... Inputs> [[nodiscard]] auto infer(const Inputs&... inputs) const {
    check_inputs<M, T, D, false, Inputs...>();
    require_device(inputs...);
    call_begin_hooks(inputs...);
    const std::array<Dims, sizeof...(Inputs)> shapes{inputs.shape()...};
    const graph::SymbolValues symbols = compile::resolve_symbols(compile::Compiled<Evaluation>::view(), shapes);
    using Result = compile::output_t<Evaluation, 0, D>;
    Result result(device(), compile::detail::output_info<Evaluation, 0>().shape.evaluate(symbols));
    const std::tuple contiguous{inputs.contiguous()...};
    const auto addresses =
        std::apply([](const auto&... x) { return std::array<void*, sizeof...(x)>{x.data()...}; }, contiguous);
    detail::run_to_buffers<Evaluation>(device(), symbols, addresses, state_->addresses(),
                                       RunContext{knobs_, 0, layer_hooks_}, result.data());
    if (!hooks_->forward.is_empty())
      call_hooks(hooks_->forward, std::tuple<const Inputs&...>{inputs...}, Output(result));
    return result;
  }

  // Hooks: called in each staged run, in each replica of a `DataParallel` at once, in the order of their making. Those on the
  // whole model see tensors, which planned steps do not make; those on layers see copies, in planned steps, too.

  /// `hook(inputs...)` before each `forward` and `infer`.
  template <class F> HookHandle on_forward_begin(F&& hook) {
    return hang(hooks_->forward_begin, std::forward<F>(hook));
  }

  /// `hook(inputs..., output)` after each `forward` and `infer`.
  template <class F> HookHandle on_forward(F&& hook) { return hang(hooks_->forward, std::forward<F>(hook)); }

  /// `hook(gradient of the output)` after each backward pass through the model, when the gradients of the weights are there.
  template <class F> HookHandle on_backward(F&& hook) { return hang(hooks_->backward, std::forward<F>(hook)); }

  /// `hook(const compile::Observation&)` with each input of the layers whose names fit a pattern ("encoder.*"), in each run, for
  /// networks of `nn::Hooked<Model>`. Hooks are called after the run, in the order in which the layers work; runs with hooks
  /// go instruction by instruction, which takes time and changes no bit. throws: ValueError when no layer fits
  template <class F> HookHandle on_layer_begin(std::string_view pattern, F&& hook) {
    return hang_on_layer("on_layer_begin", pattern, compile::TapPlace::layer_input, false, std::forward<F>(hook));
  }

  /// The same with each result.
  template <class F> HookHandle on_layer(std::string_view pattern, F&& hook) {
    return hang_on_layer("on_layer", pattern, compile::TapPlace::layer_output, false, std::forward<F>(hook));
  }

  /// The same with the gradient of each result, in the backward pass.
  template <class F> HookHandle on_layer_backward(std::string_view pattern, F&& hook) {
    return hang_on_layer("on_layer_backward", pattern, compile::TapPlace::layer_output, true, std::forward<F>(hook));
  }

  /// The same with what the model marks by `nn::tap`, and with its gradient.
  template <class F> HookHandle on_tap(std::string_view pattern, F&& hook) {
    return hang_on_layer("on_tap", pattern, compile::TapPlace::value, {}, std::forward<F>(hook));
  }

  [[nodiscard]] const std::shared_ptr<LayerHooks>& layer_hooks() const { return layer_hooks_; }

  /// A weight by its name, sharing the network's memory: `model.template parameter<"hidden.weight">()`.
  template <FixedString Name> [[nodiscard]] auto parameter() const {
    constexpr std::size_t index = find(Name.view());
    static_assert(index < Shown::sizes.parameters, "twill: parameter: the model has no weight of this name");
    return tensor_of_parameter<index>(state_->buffers[index]);
  }

  /// The gradient of a weight. throws: ValueError before any backward pass
  template <FixedString Name> [[nodiscard]] auto gradient() const {
    constexpr std::size_t index = find(Name.view());
    static_assert(index < Shown::sizes.parameters, "twill: gradient: the model has no weight of this name");
    if (!state_->gradients[index])
      throw ValueError("gradient: '" + std::string{Name.view()} + "' has none; call backward first");
    return tensor_of_parameter<index>(state_->gradients[index]);
  }

  /// All weights with their names; the buffers are shared.
  [[nodiscard]] std::vector<ParameterView<D>> parameters() const {
    std::vector<ParameterView<D>> views{};
    for (std::size_t i = 0; i < state_->infos.size(); ++i) {
      const graph::ParameterInfo& info = state_->infos[i];
      views.push_back(
          {info.name.view(), info.dtype, info.shape.evaluate({}), state_->buffers[i], state_->gradients[i]});
    }
    return views;
  }

  /// Gives up all gradients.
  void zero_grad() {
    for (memory::Buffer<D>& gradient : state_->gradients) gradient.reset();
  }

  void train() { training_ = true; }
  void eval() { training_ = false; }
  [[nodiscard]] bool is_training() const { return training_; }

  /// Changes a run-time number of the model, such as a dropout probability. throws: ValueError listing those there are
  void set(std::string_view name, double number) { knobs_.set(name, number); }
  [[nodiscard]] const compile::Knobs& knobs() const { return knobs_; }

  /// Moves the weights to another device of this kind, in place.
  Network& to(D device) {
    if (!(device == state_->device)) state_->move_to(device);
    return *this;
  }

  /// A network of the same weights on a device of another kind.
  template <ComputeDevice D2>
  requires(!std::same_as<D, D2>) [[nodiscard]] Network<M, D2, T> to(D2 device) const {
    Network<M, D2, T> result{device};
    for (std::size_t i = 0; i < state_->buffers.size(); ++i)
      copy_bytes(device, result.state()->buffers[i].data(), state_->device, state_->buffers[i].data(),
                 state_->buffers[i].bytes(), CopyOptions{});
    return result;
  }

  [[nodiscard]] const std::shared_ptr<NetworkState<D>>& state() const { return state_; }

private:
  static constexpr std::size_t find(std::string_view name) {
    const auto& parameters = Shown::frozen.parameters;
    std::size_t index = 0;
    while (index < Shown::sizes.parameters && parameters[index].name.view() != name) ++index;
    return index;
  }

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

  /// The hook sees what fits, its gradient only or its value only where that is said.
  template <class F>
  HookHandle hang_on_layer(std::string_view where, std::string_view pattern, compile::TapPlace place,
                           std::optional<bool> of_gradient, F&& hook) {
    detail::require_tap(Shown::view().taps, where, pattern, place);
    const std::uint64_t number =
        layer_hooks_->add([pattern = std::string{pattern}, place, of_gradient,
                           hook = std::forward<F>(hook)](const compile::Observation& seen) mutable {
          if (seen.place == place && of_gradient.value_or(seen.is_gradient) == seen.is_gradient &&
              matches(pattern, seen.layer))
            hook(seen);
        });
    return {layer_hooks_, number};
  }

  template <class List, class F> HookHandle hang(List& list, F&& hook) {
    const std::uint64_t number = list.add(std::forward<F>(hook));
    return {std::shared_ptr<detail::AnyHookList>{hooks_, &list}, number};
  }

  /// Hooks see the inputs as the model declares them, whatever their types know.
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

  template <class... Inputs> void call_begin_hooks(const Inputs&... inputs) const {
    if (hooks_->forward_begin.is_empty()) return;
    // Shapes that do not fit are refused in the words of a run.
    const std::array<Dims, sizeof...(Inputs)> shapes{inputs.shape()...};
    static_cast<void>(compile::resolve_symbols(Shown::view(), shapes));
    call_hooks(hooks_->forward_begin, std::tuple<const Inputs&...>{inputs...});
  }

  template <class... Inputs> void require_device(const Inputs&... inputs) const {
    const auto check = [&](const auto& input) {
      if (!(input.device() == device()))
        throw DeviceError("forward: the model lies on " + to_string(device()) + ", an input on " +
                          to_string(input.device()) + "; move one with to(device)");
    };
    (check(inputs), ...);
  }

  std::shared_ptr<NetworkState<D>> state_;
  compile::Knobs knobs_;
  std::shared_ptr<Hooks> hooks_ = std::make_shared<Hooks>();
  std::shared_ptr<LayerHooks> layer_hooks_ = std::make_shared<LayerHooks>();
  bool training_ = true;
};

} // namespace twill::inline v0::nn::inline TWILL_ISA
