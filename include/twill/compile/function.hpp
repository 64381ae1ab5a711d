#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Functions of tensors from traced functions: `compiled(f)`, `grad(f)`, `value_and_grad(f)` for a captureless lambda or
// empty function object. The same objects work inside a trace, so transforms nest: `grad(grad(f))`. Each combination of
// function and argument types is compiled once. Read next: nn/network.hpp.

#include <twill/compile/arguments.hpp>
#include <twill/compile/run/executor.hpp>
#include <twill/compile/run_scalars.hpp>
#include <twill/core/call_site.hpp>
#include <twill/core/config.hpp>
#include <twill/core/text.hpp>
#include <twill/graph/gradient.hpp>
#include <twill/graph/variables.hpp>

#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

namespace twill { inline namespace v0 { namespace compile { inline namespace TWILL_ISA {

/// The source of a function of arguments. F is stateless, so its type identifies it.
template <class F, class... Arguments> struct FunctionSource {
  /// The graph of the call.
  static constexpr graph::Graph trace() {
    graph::Graph graph{};
    with_arguments<Arguments...>(graph, [&](const auto&... values) { add_outputs(graph, F{}(values...)); });
    return graph;
  }
  /// The function, in messages; functions that twill makes of others have a name of their own.
  static constexpr CallName called() {
    if constexpr (requires { F::called(); })
      return F::called();
    else
      return {.type = written_name<F>()};
  }
};

/// The source of the gradients of a function's scalar result by its floating arguments.
template <class F, bool WithValue, class... Arguments> struct GradientSource {
  /// The graph of the call and of its gradients.
  static constexpr graph::Graph trace() {
    graph::Graph graph{};
    with_arguments<Arguments...>(graph, [&](const auto&... values) {
      const graph::Value result = F{}(values...);
      if (WithValue) add_outputs(graph, result);
      std::array<graph::Value, (std::size_t{0} + ... + (is_floating(Arguments::dtype) ? 1 : 0))> variables{};
      std::size_t next = 0;
      ((is_floating(Arguments::dtype) ? void(variables[next++] = values) : void()), ...);
      add_outputs(graph, graph::gradients(result, variables));
    });
    return graph;
  }
  /// The gradient of the function, in messages.
  static constexpr CallName called() { return {written_name<F>(), WithValue ? "value_and_grad" : "grad"}; }
};

}}}} // namespace twill::v0::compile::TWILL_ISA

namespace twill { inline namespace v0 { namespace compile { namespace detail { inline namespace TWILL_ISA {

template <class D, class Other> void require_one_device(const D& device, const Other& other) {
  if (!(other == device))
    throw DeviceError(join_text(
        {"call: operands are on ", to_string(device), " and ", to_string(other), "; move one with to(device)"}));
}

/// The executor of some devices among those of a thread and a source, made when it is missing. One function for all
/// sources; it asks for `view` and `kernels` only then.
template <ComputeDevice D, std::size_t Slots>
auto& executor_among(std::map<std::array<int, Slots>, executor_t<D, Slots>>& executors, std::span<const D> devices,
                     TableView (*view)(), std::span<const KernelFunctionOn<team_t<D>>> (*kernels)()) {
  std::array<int, Slots> indices{};
  for (std::size_t slot = 0; slot < Slots; ++slot) indices[slot] = devices[slot].index;
  const auto found = executors.find(indices);
  if (found != executors.end()) return found->second;
  return executors.try_emplace(indices, devices.first(Slots), view(), kernels(), Arena::for_each_run).first->second;
}

template <Source S, ComputeDevice D, std::size_t... K>
auto allocate_outputs(const D& device, const graph::SymbolValues& symbols, std::index_sequence<K...>) {
  return std::tuple<output_t<S, K, D>...>{
      output_t<S, K, D>(device, TableFor<S, D>::template output<K>().shape.evaluate(symbols))...};
}

}}}}} // namespace twill::v0::compile::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace compile { inline namespace TWILL_ISA {

/// The device of tensors. throws: DeviceError if they are on several
template <AnyTensor First, AnyTensor... Rest> const auto& common_device(const First& first, const Rest&... rest) {
  (detail::require_one_device(first.device(), rest.device()), ...);
  return first.device();
}

/// The executor of a source on the devices of its slots, one for each thread.
template <Source S, ComputeDevice D> auto& thread_executor(std::span<const D> devices) {
  using Table = TableFor<S, D>;
  constexpr auto slots = static_cast<std::size_t>(Table::sizes.slots);
  thread_local std::map<std::array<int, slots>, executor_t<D, Table::sizes.slots>> executors{};
  return detail::executor_among<D, slots>(executors, devices, &Table::view, &Table::template kernels<team_t<D>>);
}

/// Runs a source over tensors; its outputs come as a tuple. Refused shapes name the site, where there is one.
template <Source S, AnyTensor... Tensors> auto run_source(const CallSite& site, const Tensors&... tensors) {
  const auto& device = common_device(tensors...);
  using D = std::remove_cvref_t<decltype(device)>;
  using Table = TableFor<S, D>;
  static_assert(Table::sizes.slots == 1,
                "twill: call: the function puts parts into device slots, which only an nn::Network has devices for");
  auto& executor = thread_executor<S>(std::span<const D>{&device, 1});
  const std::array<Dims, sizeof...(Tensors)> shapes{tensors.shape()...};
  const graph::SymbolValues symbols = resolve_symbols(executor.table(), shapes, site);
  const std::tuple operands{tensors.contiguous()...};
  auto outputs = detail::allocate_outputs<S>(
      device, symbols, std::make_index_sequence<static_cast<std::size_t>(Table::sizes.outputs)>{});
  const auto addresses = [](const auto&... tensor) { return std::array<void*, sizeof...(tensor)>{tensor.data()...}; };
  const auto input_addresses = std::apply(addresses, operands);
  const auto output_addresses = std::apply(addresses, outputs);
  RunScalars run_scalars{executor.table().run_scalars};
  if (run_scalars.draws()) {
    const RandomDraw draw = generator(device).next();
    run_scalars.set_draw(draw.seed, draw.step);
  }
  executor.run(symbols, {.inputs = input_addresses, .outputs = output_addresses, .run_scalars = run_scalars.bits()});
  return outputs;
}

}}}} // namespace twill::v0::compile::TWILL_ISA

namespace twill { inline namespace v0 { namespace detail { inline namespace TWILL_ISA {

/// The one result of a function, or the tuple of several.
template <class... Outputs> auto only_or_all(std::tuple<Outputs...>&& outputs) {
  if constexpr (sizeof...(Outputs) == 1)
    return std::get<0>(std::move(outputs));
  else
    return std::move(outputs);
}

/// Stands for a refused function, so that its calls are no errors too.
struct RefusedFunction {
  template <class First, class... Rest> constexpr const First& operator()(const First& first, const Rest&...) const {
    return first;
  }
};

/// A function made of F, unless F has captures: each type of function is traced once, without an object of it.
template <class F, class Function> constexpr auto without_captures(const Function& function) {
  static_assert(std::is_empty_v<F>,
                "twill: a function that the compiler traces is a lambda without captures or an empty function object; "
                "hand in what it captures as a further argument");
  if constexpr (std::is_empty_v<F>)
    return function;
  else
    return RefusedFunction{};
}

/// A traced value for each tensor. A class: nvcc loses the pack in an alias that ignores its argument.
template <class> struct TracedArgument { using type = graph::Value; };

/// True where F takes a traced value for each tensor; else it does not compile.
template <class F, class... Tensors> consteval bool takes_values() {
  constexpr bool takes = std::is_invocable_v<F, const typename TracedArgument<Tensors>::type&...>;
  static_assert(takes, "twill: a function that the compiler traces takes values, not tensors: one for each argument, "
                       "[](auto x, auto y) or [](graph::Value x, graph::Value y)");
  return takes;
}

/// The result of `compiled(f)`: f, on tensors.
template <class F> struct CompiledFunction {
  CallSite site{}; ///< of `compiled(f)`, for messages: a lambda has no name
  template <AnyTensor... Tensors> [[nodiscard]] auto operator()(const Tensors&... tensors) const {
    if constexpr (takes_values<F, Tensors...>())
      return only_or_all(
          compile::run_source<compile::FunctionSource<F, compile::argument_t<Tensors>...>>(site, tensors...));
    else
      return RefusedFunction{}(tensors...);
  }
};

/// The gradients of f's scalar result with respect to all its floating arguments, in order, or to its first `By`; of
/// one argument one gradient.
template <class F, bool WithValue, std::size_t By> struct GradientFunction {
  template <std::derived_from<graph::Value>... Values>
  [[nodiscard]] constexpr auto operator()(const Values&... arguments) const {
    constexpr std::size_t by = By == 0 ? sizeof...(Values) : By;
    const auto all = graph::transforms::value_and_gradients<by>(
        F{}, std::array<graph::Value, sizeof...(Values)>{arguments...}, CallSite::here());
    if constexpr (by == 1 && !WithValue) {
      return all[1];
    } else if constexpr (WithValue) {
      return all;
    } else {
      std::array<graph::Value, by> gradients{};
      for (std::size_t i = 0; i < by; ++i) gradients[i] = all[i + 1];
      return gradients;
    }
  }
  /// For tensors, arguments that are not floating, such as labels, are passed on and have no gradient.
  template <AnyTensor... Tensors> [[nodiscard]] auto operator()(const Tensors&... tensors) const {
    static_assert((is_floating(compile::argument_t<Tensors>::dtype) || ...),
                  "twill: grad: at least one argument has to be floating; cast one");
    if constexpr (!takes_values<F, Tensors...>())
      return RefusedFunction{}(tensors...);
    else if constexpr (By == 0)
      return only_or_all(
          compile::run_source<compile::GradientSource<F, WithValue, compile::argument_t<Tensors>...>>({}, tensors...));
    else
      return CompiledFunction<GradientFunction>{}(tensors...);
  }
};

}}}} // namespace twill::v0::detail::TWILL_ISA

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

/// f as one compiled function of tensors: traced for the types it is called with, fused, planned.
template <class F> [[nodiscard]] constexpr auto compiled(F, CallSite site = CallSite::here()) {
  return detail::without_captures<F>(detail::CompiledFunction<F>{site});
}

/// The gradient of a scalar function with respect to its argument, or a tuple of those of several arguments; nests.
/// `grad<1>(f)` is by the first argument only, others are constants.
template <std::size_t By = 0, class F> [[nodiscard]] constexpr auto grad(F) {
  return detail::without_captures<F>(detail::GradientFunction<F, false, By>{});
}

/// The value of a scalar function, then its gradients, as a tuple.
template <std::size_t By = 0, class F> [[nodiscard]] constexpr auto value_and_grad(F) {
  return detail::without_captures<F>(detail::GradientFunction<F, true, By>{});
}

}}} // namespace twill::v0::TWILL_ISA
