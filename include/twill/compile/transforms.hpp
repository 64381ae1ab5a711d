#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Derivatives beside `grad`, of tensors and of traced values: `jvp`, `vjp`, `hvp` and `linearize` of a call,
// `jacobian(f)`, `jacfwd(f)`, `jacrev(f)` and `hessian(f)` as functions. Names and order of arguments are torch.func's.
// Functions are captureless lambdas or empty function objects; in models, where arguments are values, the first four
// take lambdas with captures as well. All nest, with each other and with `grad`. Read next: graph/transforms.hpp,
// graph/tangent.hpp.

#include <twill/compile/call_name.hpp>
#include <twill/compile/function.hpp>
#include <twill/core/call_site.hpp>
#include <twill/core/config.hpp>
#include <twill/graph/transforms.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

namespace twill { inline namespace v0 { namespace detail { inline namespace TWILL_ISA {

/// The first elements of an array, or those from a place on.
template <std::size_t From, std::size_t Count, std::size_t N>
constexpr std::array<graph::Value, Count> part_of(const std::array<graph::Value, N>& values) {
  std::array<graph::Value, Count> part{};
  for (std::size_t i = 0; i < Count; ++i) part[i] = values[From + i];
  return part;
}

/// Primals and tangents as tuples; a tensor or value alone is a tuple of one.
template <class T> constexpr auto as_tuple(const T& one) { return std::tuple<T>{one}; }
template <class... T> constexpr auto as_tuple(const std::tuple<T...>& several) {
  return std::tuple<std::remove_cvref_t<T>...>{several};
}
template <class T, std::size_t N> constexpr auto as_tuple(const std::array<T, N>& several) {
  return std::apply([](const auto&... each) { return std::tuple{each...}; }, several);
}

template <class... T> constexpr bool are_values(const std::tuple<T...>*) {
  return (std::derived_from<T, graph::Value> && ...);
}
template <class Tuple> inline constexpr bool holds_values = are_values(static_cast<const Tuple*>(nullptr));

/// The function that a tangent is of: f, or its gradient.
enum class Differentiated : bool { value, gradient };

template <Differentiated What, class F, std::size_t N, std::size_t T>
constexpr auto along_tangents(const F& f, const std::array<graph::Value, N>& primals,
                              const std::array<graph::Value, T>& tangents, CallSite site) {
  if constexpr (What == Differentiated::value)
    return graph::transforms::jvp(f, primals, tangents, site);
  else
    return graph::transforms::hvp(f, primals, tangents, site);
}

/// A value and its tangent, as a function of primals and tangents in one list.
template <Differentiated What, class F, std::size_t Primals> struct TangentFunction {
  static constexpr compile::CallName called() {
    return {written_name<F>(), What == Differentiated::value ? "jvp" : "hvp", false, compile::Others::tangents,
            Primals};
  }
  template <std::derived_from<graph::Value>... Values> constexpr auto operator()(const Values&... values) const {
    const std::array<graph::Value, sizeof...(Values)> all{values...};
    const auto found =
        along_tangents<What>(F{}, part_of<0, Primals>(all), part_of<Primals, sizeof...(Values) - Primals>(all), {});
    return std::tuple{found.value, found.tangent};
  }
};

/// The tangents of the results alone, as a function of primals and tangents in one list.
template <class F, std::size_t Primals> struct LinearFunction {
  static constexpr compile::CallName called() {
    return {written_name<F>(), "linearize", false, compile::Others::tangents, Primals};
  }
  template <std::derived_from<graph::Value>... Values> constexpr auto operator()(const Values&... values) const {
    const std::array<graph::Value, sizeof...(Values)> all{values...};
    const auto linearised = graph::transforms::linearize(F{}, part_of<0, Primals>(all));
    return std::apply(linearised.second, part_of<Primals, sizeof...(Values) - Primals>(all));
  }
};

/// Cotangents of the arguments, as a function of primals and of cotangents of the results in one list.
template <class F, std::size_t Primals> struct CotangentFunction {
  static constexpr compile::CallName called() {
    return {written_name<F>(), "vjp", false, compile::Others::cotangents, Primals};
  }
  template <std::derived_from<graph::Value>... Values> constexpr auto operator()(const Values&... values) const {
    const std::array<graph::Value, sizeof...(Values)> all{values...};
    const auto linearised = graph::transforms::vjp(F{}, part_of<0, Primals>(all));
    return std::apply(linearised.second, part_of<Primals, sizeof...(Values) - Primals>(all));
  }
};

/// Elements of a tuple of tensors, and the one alone if it is one.
template <std::size_t From, class Tuple, std::size_t... I> auto elements_of(Tuple& all, std::index_sequence<I...>) {
  if constexpr (sizeof...(I) == 1)
    return std::get<From>(std::move(all));
  else
    return std::tuple{std::get<From + I>(std::move(all))...};
}

/// The public calls along tangents, of values or of tensors.
template <Differentiated What, class F, class Primals, class Tangents>
constexpr auto call_along(const F& f, const Primals& primals, const Tangents& tangents, CallSite site) {
  if constexpr (holds_values<Primals>) {
    const auto found =
        along_tangents<What>(f, graph::transforms::values_of(primals), graph::transforms::values_of(tangents), site);
    return std::pair{found.value, found.tangent};
  } else {
    static_assert(std::is_empty_v<F>, "twill: jvp, hvp: of tensors, f has to be a lambda without captures");
    constexpr std::size_t count = std::tuple_size_v<Primals>;
    auto all = [&]<std::size_t... P, std::size_t... T>(std::index_sequence<P...>, std::index_sequence<T...>) {
      return CompiledFunction<TangentFunction<What, F, count>>{}(std::get<P>(primals)..., std::get<T>(tangents)...);
    }
    (std::make_index_sequence<count>{}, std::make_index_sequence<std::tuple_size_v<Tangents>>{});
    constexpr std::size_t outputs = std::tuple_size_v<decltype(all)>;
    constexpr std::size_t values = What == Differentiated::value ? outputs / 2 : 1;
    return std::pair{elements_of<0>(all, std::make_index_sequence<values>{}),
                     elements_of<values>(all, std::make_index_sequence<outputs - values>{})};
  }
}

/// A linear function of a call on tensors, `Linear`, of primals and directions. It holds the primals and computes what
/// it needs of the call again.
template <class Linear, AnyTensor... Primals> class TensorLinear {
public:
  explicit TensorLinear(const Primals&... primals) : primals_{primals...} {}

  template <AnyTensor... Directions> [[nodiscard]] auto operator()(const Directions&... directions) const {
    return std::apply([&](const auto&... primals) { return CompiledFunction<Linear>{}(primals..., directions...); },
                      primals_);
  }

private:
  std::tuple<Primals...> primals_;
};

/// The Jacobian of f, of all arguments or of the first `By`.
template <class F, graph::transforms::Along Side, std::size_t By> struct JacobianFunction {
  static constexpr compile::CallName called() {
    using graph::transforms::Along;
    return {written_name<F>(), Side == Along::columns ? "jacfwd" : Side == Along::rows ? "jacrev" : "jacobian"};
  }
  template <std::derived_from<graph::Value>... Values>
  [[nodiscard]] constexpr auto operator()(const Values&... arguments) const {
    constexpr std::size_t by = By == 0 ? sizeof...(Values) : By;
    return graph::transforms::only_or_all(
        graph::transforms::jacobian<by>(F{}, std::array<graph::Value, sizeof...(Values)>{arguments...}, Side));
  }
  template <AnyTensor... Tensors> [[nodiscard]] auto operator()(const Tensors&... tensors) const {
    return CompiledFunction<JacobianFunction>{}(tensors...);
  }
};

/// The second derivatives of f, forward over reverse.
template <class F, std::size_t By> struct HessianFunction {
  static constexpr compile::CallName called() { return {written_name<F>(), "hessian"}; }
  template <std::derived_from<graph::Value>... Values>
  [[nodiscard]] constexpr auto operator()(const Values&... arguments) const {
    constexpr std::size_t by = By == 0 ? sizeof...(Values) : By;
    return JacobianFunction<GradientFunction<F, false, by>, graph::transforms::Along::columns, by>{}(arguments...);
  }
  template <AnyTensor... Tensors> [[nodiscard]] auto operator()(const Tensors&... tensors) const {
    return CompiledFunction<HessianFunction>{}(tensors...);
  }
};

}}}} // namespace twill::v0::detail::TWILL_ISA

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

/// The value of f and its derivative along tangents, forward mode: `jvp(f, x, t)`, or `jvp(f, std::tuple{x, w},
/// std::tuple{t, u})`. Primals after the last tangent, such as labels, are constants. Several results are tuples.
/// errors: a tangent of another type or shape than its primal    cost: about two to three times that of f
template <class F, class Primals, class Tangents>
[[nodiscard]] constexpr auto jvp(const F& f, const Primals& primals, const Tangents& tangents,
                                 CallSite site = CallSite::here()) {
  return detail::call_along<detail::Differentiated::value>(f, detail::as_tuple(primals), detail::as_tuple(tangents),
                                                           site);
}

/// The value of f and its pullback, reverse mode: after `const auto [y, pull] = vjp(f, x);`, `pull(u)` is J'u, or a
/// tuple of those of several arguments.
/// cost: on tensors, each call of the pullback computes what it needs of f again
template <class F, class... Primals> [[nodiscard]] constexpr auto vjp(const F& f, const Primals&... primals) {
  if constexpr ((std::derived_from<Primals, graph::Value> && ...)) {
    return graph::transforms::vjp(f, std::array<graph::Value, sizeof...(Primals)>{primals...});
  } else {
    static_assert(std::is_empty_v<F>, "twill: vjp: of tensors, f has to be a lambda without captures");
    using Linear = detail::CotangentFunction<F, sizeof...(Primals)>;
    return std::pair{detail::CompiledFunction<F>{}(primals...), detail::TensorLinear<Linear, Primals...>{primals...}};
  }
}

/// The value of f and the linear function of its tangents, forward mode: after `const auto [y, push] = linearize(f,
/// x);` `push(t)` is J t, of tangents of the first arguments. Traced values share the primal part among all calls.
/// cost: on tensors, each call of the linear function computes what it needs of f again
template <class F, class... Primals> [[nodiscard]] constexpr auto linearize(const F& f, const Primals&... primals) {
  if constexpr ((std::derived_from<Primals, graph::Value> && ...)) {
    return graph::transforms::linearize(f, std::array<graph::Value, sizeof...(Primals)>{primals...});
  } else {
    static_assert(std::is_empty_v<F>, "twill: linearize: of tensors, f has to be a lambda without captures");
    using Linear = detail::LinearFunction<F, sizeof...(Primals)>;
    return std::pair{detail::CompiledFunction<F>{}(primals...), detail::TensorLinear<Linear, Primals...>{primals...}};
  }
}

/// The value of a scalar function and its Hessian times tangents, forward over reverse, arguments as those of `jvp`.
/// cost: about twice that of its gradient, without the Hessian in memory
template <class F, class Primals, class Tangents>
[[nodiscard]] constexpr auto hvp(const F& f, const Primals& primals, const Tangents& tangents,
                                 CallSite site = CallSite::here()) {
  return detail::call_along<detail::Differentiated::gradient>(f, detail::as_tuple(primals), detail::as_tuple(tangents),
                                                              site);
}

/// The Jacobian, as a function of the same arguments: the axes of the result, then those of the argument. Of several
/// results and arguments it is a tuple, result by result. `jacobian<1>(f)` is by the first argument only, others are
/// constants. It is computed in rows or in columns, whichever are fewer: as `jacrev` or as `jacfwd`.
/// cost: one backward pass batched over the rows or forward pass batched over the columns, after one pass of f
template <std::size_t By = 0, class F> [[nodiscard]] constexpr auto jacobian(F) {
  return detail::without_captures<F>(detail::JacobianFunction<F, graph::transforms::Along::shorter_side, By>{});
}

/// The Jacobian column by column, in forward mode: for functions of few numbers, with many results.
template <std::size_t By = 0, class F> [[nodiscard]] constexpr auto jacfwd(F) {
  return detail::without_captures<F>(detail::JacobianFunction<F, graph::transforms::Along::columns, By>{});
}

/// The Jacobian row by row, in reverse mode: for functions with few results, of many numbers.
template <std::size_t By = 0, class F> [[nodiscard]] constexpr auto jacrev(F) {
  return detail::without_captures<F>(detail::JacobianFunction<F, graph::transforms::Along::rows, By>{});
}

/// The second derivatives of a scalar function, as a function of the same arguments: the axes of the argument, twice.
/// Of several arguments it is a tuple of all pairs, row after row.
/// cost: one `hvp`, batched over the elements of the arguments
template <std::size_t By = 0, class F> [[nodiscard]] constexpr auto hessian(F) {
  return detail::without_captures<F>(detail::HessianFunction<F, By>{});
}

}}} // namespace twill::v0::TWILL_ISA
