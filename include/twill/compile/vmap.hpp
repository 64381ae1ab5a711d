#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// `vmap(f)`: a function of one example as one of batches, of tensors and of traced values. The name is JAX's and
// PyTorch's, axes are in angle brackets. Each kernel runs once for all examples: products become larger or stacked
// ones, so `vmap<unbatched, 0, 0>(grad<1>(loss))` gives the gradients of each example without a loop. It nests, with
// itself and all other transforms. Read next: graph/batching.hpp, graph/batching_rules.hpp.

#include <twill/compile/function.hpp>
#include <twill/core/config.hpp>
#include <twill/graph/vmap.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <type_traits>

namespace twill { inline namespace v0 {

/// Axes of the results of `vmap`, one for all of them or one for each.
template <int... Axes> struct OutAxes {
  static constexpr std::array<int, sizeof...(Axes)> axes{Axes...}; ///< in the order of the results
};
/// As an argument: `vmap<0, unbatched>(f, out_axes<1>)`.
template <int... Axes> inline constexpr OutAxes<Axes...> out_axes{};

}} // namespace twill::v0

namespace twill { inline namespace v0 { namespace detail { inline namespace TWILL_ISA {

/// The axes of `count` arguments: those given, or one for all.
template <std::size_t Count, int... Axes> constexpr std::array<int, Count> axes_of_arguments() {
  static_assert(sizeof...(Axes) <= 1 || sizeof...(Axes) == Count,
                "twill: vmap: there has to be one axis for all arguments, or an axis or `unbatched` for each of them");
  if constexpr (sizeof...(Axes) == Count) {
    return {Axes...};
  } else {
    constexpr int all = (0 + ... + Axes);
    std::array<int, Count> axes{};
    for (int& axis : axes) axis = all;
    return axes;
  }
}

/// The result of `vmap(f)`.
template <class F, class Out, int... Axes> struct VmapFunction {
  static_assert(sizeof...(Axes) == 0 || (... || (Axes != unbatched)),
                "twill: vmap: at least one argument has to be batched; give it an axis");
  [[no_unique_address]] F function{};
  static constexpr compile::CallName called() { return {written_name<F>(), "vmap"}; }

  template <std::derived_from<graph::Value>... Values>
  [[nodiscard]] constexpr auto operator()(const Values&... arguments) const {
    constexpr std::size_t count = sizeof...(Values);
    return graph::transforms::only_or_all(graph::transforms::vmap(
        function, std::array<graph::Value, count>{arguments...}, axes_of_arguments<count, Axes...>(), Out::axes, {}));
  }
  template <AnyTensor... Tensors> [[nodiscard]] auto operator()(const Tensors&... tensors) const {
    static_assert(std::is_empty_v<F>, "twill: vmap: of tensors, f has to be a lambda without captures");
    return CompiledFunction<VmapFunction>{}(tensors...);
  }
};

}}}} // namespace twill::v0::detail::TWILL_ISA

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

/// f for each example of a batch, as a function of batches: `vmap(f)(xs)` has row i f(xs[i]). Axes in angle brackets
/// say which axis of each argument counts the examples, `vmap<0, unbatched>(f)(xs, w)`, one for all arguments or one
/// for each, the first where there are none; negative ones count from the end. Results have that axis first, or where
/// `out_axes<1>` says. Random draws differ between examples, as those of a larger batch.
/// errors: extents of examples that differ, an update of a buffer, an operation without a batching rule
/// cost: each kernel once for all examples
template <int... Axes, class F> [[nodiscard]] constexpr auto vmap(F f) {
  return detail::VmapFunction<F, OutAxes<0>, Axes...>{f};
}
template <int... Axes, class F, int... Out> [[nodiscard]] constexpr auto vmap(F f, OutAxes<Out...>) {
  return detail::VmapFunction<F, OutAxes<Out...>, Axes...>{f};
}

}}} // namespace twill::v0::TWILL_ISA
