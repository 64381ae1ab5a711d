#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Results of staged runs: tensors that can run backward. The history is part of the type, the kept tensors are members,
// and nothing is recorded elsewhere: when the last copy goes out of scope its memory is free. Losses and functions of a
// `Tracked` are further stages. Read next: nn/tracked_functions.hpp.

#include <twill/compile/function.hpp>
#include <twill/core/config.hpp>
#include <twill/nn/layer_hooks.hpp>
#include <twill/nn/losses.hpp>
#include <twill/nn/run_executor.hpp>
#include <twill/nn/stage.hpp>
#include <twill/tensor/create.hpp>

#include <array>
#include <cstddef>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace nn { namespace detail { inline namespace TWILL_ISA {

TWILL_EXPORT inline thread_local bool gradients_are_off = false;

}}}}} // namespace twill::v0::nn::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace nn { inline namespace TWILL_ISA {

/// True inside a `NoGrad` scope of this thread.
[[nodiscard]] inline bool is_no_grad() { return detail::gradients_are_off; }

/// During its life, `forward` on this thread keeps nothing, and its results cannot run backward.
class NoGrad {
public:
  NoGrad() : previous_{detail::gradients_are_off} { detail::gradients_are_off = true; }
  NoGrad(const NoGrad&) = delete;
  NoGrad& operator=(const NoGrad&) = delete;
  ~NoGrad() { detail::gradients_are_off = previous_; }

private:
  bool previous_;
};

/// Interface of a stage to its weights and their gradients; a stage without weights has none.
template <ComputeDevice D> class Weights {
public:
  virtual ~Weights() = default;
  /// The first element of each weight, in the order of the graph's parameters.
  [[nodiscard]] virtual std::span<void* const> addresses() const = 0;
  /// The device of each slot of the model, see graph/slots.hpp.
  [[nodiscard]] virtual std::span<const D> devices() const = 0;
  /// Adds to the gradients of the weights, or makes them.
  virtual void add_gradients(std::vector<memory::Buffer<D>> gradients) = 0;

  /// How many updates have overwritten the weights.
  [[nodiscard]] std::int64_t updates() const { return updates_; }
  /// Counts an update, so that a backward pass of older outputs is refused.
  void note_update() { ++updates_; }

private:
  std::int64_t updates_ = 0;
};

template <StageFunction F, ComputeDevice D, class... Arguments> class Tracked;

/// A tensor with a history: `value()` is the tensor, `backward_from` takes its gradient.
template <class X>
concept AnyTracked = requires(const std::remove_cvref_t<X>& x, const typename std::remove_cvref_t<X>::Value& gradient) {
  requires AnyTensor<typename std::remove_cvref_t<X>::Value>;
  { x.value() } -> std::same_as<const typename std::remove_cvref_t<X>::Value&>;
  x.backward_from(gradient);
};

/// The tracked ones among arguments: a bit for each.
template <class... Arguments> constexpr unsigned tracked_set() {
  unsigned set = 0;
  unsigned bit = 1;
  ((set |= AnyTracked<Arguments> ? bit : 0u, bit <<= 1), ...);
  return set;
}

}}}} // namespace twill::v0::nn::TWILL_ISA

namespace twill { inline namespace v0 { namespace nn { namespace detail { inline namespace TWILL_ISA {

template <AnyTensor X> [[nodiscard]] const X& tensor_of(const X& tensor) { return tensor; }
template <AnyTracked X> [[nodiscard]] const auto& tensor_of(const X& tracked) { return tracked.value(); }
template <class X> using tensor_of_t = std::remove_cvref_t<decltype(tensor_of(std::declval<const X&>()))>;

/// Whether a run depends on the values of the weights.
template <compile::Source S, ComputeDevice D> bool reads_weights() {
  for (const compile::ValueInfo& value : compile::TableFor<S, D>::view().values)
    if (value.storage == compile::Storage::parameter && value.first_use >= 0) return true;
  return false;
}

/// The device of a slot of a source: with a single slot the one shared by its arguments.
template <compile::Source S, ComputeDevice D>
[[nodiscard]] const D& device_of_slot(std::span<const D> devices, int slot) {
  return devices[compile::TableFor<S, D>::sizes.slots == 1 ? 0 : static_cast<std::size_t>(slot)];
}

/// Runs a source on the devices of its slots. Its outputs are untyped blocks of memory.
template <compile::Source S, ComputeDevice D>
std::vector<memory::Buffer<D>> run_to_buffers(std::span<const D> devices, const graph::SymbolValues& symbols,
                                              std::span<void* const> inputs, std::span<void* const> parameters,
                                              const RunContext& context, void* first_output = nullptr) {
  return run_executor(compile::thread_executor<S>(devices), devices, {symbols, inputs, parameters}, context,
                      first_output);
}

}}}}} // namespace twill::v0::nn::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace nn { inline namespace TWILL_ISA {

/// The result of stage F on a device kind, for arguments that are tensors or tracked themselves.
template <StageFunction F, ComputeDevice D, class... Arguments> class Tracked {
  static constexpr unsigned input_set = tracked_set<Arguments...>();
  using Forward = KeepingForward<F, input_set>;

public:
  /// The tensor of a tracked value.
  using Value = compile::output_t<Forward, 0, D>;
  using device_type = D;
  static constexpr auto argument_kind = elementwise::ArgumentKind::tracked; ///< of functions of single elements
  /// Whether the stage is without a fault; after one its types mean nothing.
  static constexpr bool is_sound = !compile::TableFor<Forward, D>::sizes.fault.any();

  /// Runs the stage forward.
  Tracked(std::shared_ptr<Weights<D>> weights, RunContext context, const Arguments&... arguments)
      : weights_{std::move(weights)}, context_{std::move(context)}, arguments_{arguments...} {
    const D argument_device = compile::common_device(detail::tensor_of(arguments)...);
    const std::span<const D> devices = devices_around(argument_device);
    const auto view = compile::TableFor<Forward, D>::view();
    const std::array<Dims, sizeof...(Arguments)> shapes{detail::tensor_of(arguments).shape()...};
    symbols_ = compile::resolve_symbols(view, shapes);
    constexpr auto shown = compile::TableFor<Forward, D>::template output<0>();
    value_ = Value(detail::device_of_slot<Forward>(devices, shown.slot), shown.shape.evaluate(symbols_));
    const std::tuple inputs{detail::tensor_of(arguments).contiguous()...};
    const auto addresses =
        std::apply([](const auto&... x) { return std::array<void*, sizeof...(x)>{x.data()...}; }, inputs);
    kept_ = is_no_grad() ? forward<PlainForward<F>>(devices, addresses) : forward<Forward>(devices, addresses);
    kept_.erase(kept_.begin());
    if (weights_) updates_ = weights_->updates();
    if (is_no_grad()) forget();
  }

  /// The tensor.
  [[nodiscard]] const Value& value() const { return value_; }
  /// The tensor, for implicit use.
  [[nodiscard]] operator const Value&() const { return value_; }
  /// The number of a tensor of one element; waits for it.
  [[nodiscard]] auto item() const { return value_.item(); }
  /// The extents.
  [[nodiscard]] Dims shape() const { return value_.shape(); }
  /// The device of the tensor.
  [[nodiscard]] D device() const { return value_.device(); }

  /// The inputs of the run besides its arguments.
  [[nodiscard]] const RunContext& context() const { return context_; }

  /// Calls these hooks with the gradient of the value after each backward pass through this stage.
  void call_on_backward(std::shared_ptr<const HookList<Value>> hooks) { on_backward_ = std::move(hooks); }

  /// Releases the value and everything kept for a backward pass now instead of at the end of the scope.
  void reset() noexcept {
    forget();
    value_.reset();
  }

  /// Adds the gradients of this scalar to those of every weight it depends on.
  /// throws: ShapeError unless there is one element, ValueError when it was computed without gradients
  void backward() const {
    if (value_.elements() != 1)
      throw ShapeError("backward: the value has shape " + to_string(value_.shape()) + ", not one element");
    Value one(value_.device(), value_.shape());
    one.fill(static_cast<typename Value::value_type>(1));
    backward_from(one);
  }

  /// Continues the backward pass from a gradient of this value.
  void backward_from(const Value& cotangent) const {
    if (!records_) throw ValueError("backward: nothing was kept for it; the value was computed under NoGrad, or reset");
    using Pass = Backward<F, input_set>;
    if (weights_ && detail::reads_weights<Pass, D>() && weights_->updates() != updates_)
      throw ValueError(
          "backward: the weights were updated after forward, which needs them as they were; call backward before step");
    const Value gradient = cotangent.contiguous();
    const std::tuple inputs =
        std::apply([](const auto&... x) { return std::tuple{detail::tensor_of(x).contiguous()...}; }, arguments_);
    std::vector<void*> addresses{};
    std::apply([&](const auto&... x) { (addresses.push_back(x.data()), ...); }, inputs);
    addresses.push_back(gradient.data());
    for (const memory::Buffer<D>& kept : kept_) addresses.push_back(kept.data());
    addresses.push_back(value_.data()); // read only if the pass needs the result
    const std::size_t wanted = compile::TableFor<Pass, D>::sizes.inputs;
    addresses.resize(wanted);
    const D own_device = value_.device();
    auto gradients =
        detail::run_to_buffers<Pass>(devices_around(own_device), symbols_, addresses, parameters(), context_);
    pass_on(std::move(gradients), std::index_sequence_for<Arguments...>{});
    if (on_backward_ && !on_backward_->is_empty()) (*on_backward_)(cotangent);
  }

private:
  /// Drops the history: kept tensors, and the handles of the arguments.
  void forget() noexcept {
    records_ = false;
    kept_.clear();
    weights_.reset();
    const auto drop = [](auto& argument) {
      if constexpr (requires { argument.reset(); }) argument.reset();
    };
    std::apply([&](auto&... argument) { (drop(argument), ...); }, arguments_);
  }

  [[nodiscard]] std::span<void* const> parameters() const {
    return weights_ ? weights_->addresses() : std::span<void* const>{};
  }

  template <compile::Source S>
  std::vector<memory::Buffer<D>> forward(std::span<const D> devices, std::span<void* const> inputs) const {
    return detail::run_to_buffers<S>(devices, symbols_, inputs, parameters(), context_, value_.data());
  }

  /// The devices of the stage's slots: those of the weights if it has several, else that of its arguments.
  [[nodiscard]] std::span<const D> devices_around(const D& arguments) const {
    if constexpr (compile::TableFor<Forward, D>::sizes.slots > 1)
      return weights_->devices();
    else
      return {&arguments, 1};
  }

  /// Passes the last buffers to the tracked arguments and the rest to the weights.
  template <std::size_t... I> void pass_on(std::vector<memory::Buffer<D>> gradients, std::index_sequence<I...>) const {
    constexpr std::size_t tracked = (std::size_t{0} + ... + (AnyTracked<Arguments> ? 1 : 0));
    std::size_t next = gradients.size() - tracked;
    const auto give = [&](const auto& argument) {
      if constexpr (AnyTracked<decltype(argument)>) {
        using Gradient = typename std::remove_cvref_t<decltype(argument)>::Value;
        const memory::Buffer<D> buffer = std::move(gradients[next++]);
        const Dims shape = argument.shape();
        argument.backward_from(Gradient(buffer, static_cast<typename Gradient::value_type*>(buffer.data()), shape,
                                        contiguous_strides(shape)));
      }
    };
    std::vector<memory::Buffer<D>> of_weights(
        std::make_move_iterator(gradients.begin()),
        std::make_move_iterator(gradients.begin() + static_cast<std::ptrdiff_t>(next)));
    if (weights_) weights_->add_gradients(std::move(of_weights));
    (give(std::get<I>(arguments_)), ...);
  }

  std::shared_ptr<Weights<D>> weights_{};
  RunContext context_{};
  std::tuple<Arguments...> arguments_;
  graph::SymbolValues symbols_{};
  Value value_{};
  std::vector<memory::Buffer<D>> kept_{};
  std::shared_ptr<const HookList<Value>> on_backward_{};
  std::int64_t updates_ = 0; ///< of the weights, before the forward pass
  bool records_ = true;
};

/// The stage of a stateless function of arguments.
template <class F, class... Arguments> struct CallStage {
  using function_type = F;
  /// An empty graph, without weights.
  static constexpr graph::Graph make_graph() { return graph::Graph{}; }
  /// Traces the function of its arguments.
  static constexpr graph::Value build(graph::Graph& graph) {
    return compile::with_arguments<Arguments...>(graph, [](const auto&... values) { return F{}(values...); });
  }
};

}}}} // namespace twill::v0::nn::TWILL_ISA

namespace twill { inline namespace v0 { namespace nn { namespace detail { inline namespace TWILL_ISA {

template <class X> struct StageArgument { using type = compile::argument_t<X>; };
template <AnyTracked X> struct StageArgument<X> { using type = compile::argument_t<typename X::Value>; };

}}}}} // namespace twill::v0::nn::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace nn { inline namespace TWILL_ISA {

template <class X>
concept StageOperand = AnyTensor<X> || AnyTracked<X>;

/// Applies a stateless traced function to tensors and tracked values as one more stage.
template <class F, StageOperand First, StageOperand... Rest>
requires(std::is_empty_v<F> && (AnyTracked<First> || ... || AnyTracked<Rest>))
    [[nodiscard]] auto apply(F, const First& first, const Rest&... rest) {
  using D = typename First::device_type;
  using Stage =
      CallStage<F, typename detail::StageArgument<First>::type, typename detail::StageArgument<Rest>::type...>;
  using Table = compile::TableFor<KeepingForward<Stage, tracked_set<First, Rest...>()>, D>;
  static_assert(Table::sizes.slots == 1,
                "twill: apply: the function puts parts into device slots, which only an nn::Network has devices for");
  RunContext context{compile::RunScalars{Table::view().run_scalars}, 0};
  if (context.run_scalars.draws()) {
    const RandomDraw draw = generator(first.device()).next();
    context.run_scalars.set_draw(draw.seed, draw.step);
  }
  const auto take_groups = [&](const auto& x) {
    if constexpr (requires { x.context().groups; })
      if (context.groups.all().empty()) context.groups = x.context().groups;
  };
  (take_groups(first), ..., take_groups(rest));
  return Tracked<Stage, D, First, Rest...>({}, std::move(context), first, rest...);
}

/// Of tensors alone, the result of the function: a tensor without a history.
template <class F, AnyTensor First, AnyTensor... Rest>
requires std::is_empty_v<F>
[[nodiscard]] auto apply(F f, const First& first, const Rest&... rest) { return compiled(f)(first, rest...); }

}}}} // namespace twill::v0::nn::TWILL_ISA
