#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Arguments of differentiated functions as variables: each is a node of its own, so a derivative by one argument leaves
// out other uses of its value, and arguments that are computed of each other have partial derivatives. All transforms
// begin with it. Read next: graph/transforms.hpp.

#include <twill/core/call_site.hpp>
#include <twill/core/config.hpp>
#include <twill/graph/gradient.hpp>

#include <array>
#include <cstddef>
#include <tuple>

namespace twill { inline namespace v0 { namespace graph { namespace detail {

/// The value as a node of its own: derivatives by this node leave out other uses of the value.
[[nodiscard]] TWILL_CONSTEXPR Value renamed(Value value) {
  return {value.graph(), value.graph().add(node_over(Kind::after, value))};
}

}}}} // namespace twill::v0::graph::detail

namespace twill { inline namespace v0 { namespace graph { namespace transforms {

/// The arguments of a function that is to be differentiated by the first `By` of them: those are nodes of their own, so
/// derivatives are partial ones, also where an argument is computed of another.
template <std::size_t By, std::size_t N>
[[nodiscard]] constexpr std::array<Value, N> variables_of(std::array<Value, N> arguments) {
  static_assert(By >= 1 && By <= N, "twill: there are fewer arguments than those to differentiate by");
  for (std::size_t i = 0; i < By; ++i) arguments[i] = graph::detail::renamed(arguments[i]);
  return arguments;
}

/// The value of f and its gradients by the first `By` arguments.
template <std::size_t By, class F, std::size_t N>
[[nodiscard]] constexpr std::array<Value, By + 1> value_and_gradients(const F& f, std::array<Value, N> primals,
                                                                      CallSite site) {
  primals = variables_of<By>(primals);
  std::array<Value, By> x{};
  for (std::size_t i = 0; i < By; ++i) x[i] = primals[i];
  const Value value = std::apply(f, primals);
  const std::array<Value, By> by = graph::gradients(value, x, site);
  std::array<Value, By + 1> all{value};
  for (std::size_t i = 0; i < By; ++i) all[i + 1] = by[i];
  return all;
}

}}}} // namespace twill::v0::graph::transforms
