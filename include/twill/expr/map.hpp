#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Elementwise functions of your own: functions of symbols, that is ordinary code that the compiler runs once to write
// the lines of the program. An operand used twice is read and computed once. Read next: expr/symbol.hpp.

#include <twill/core/config.hpp>
#include <twill/expr/evaluate.hpp>
#include <twill/expr/leaf.hpp>
#include <twill/expr/operation.hpp>

#include <type_traits>
#include <utility>

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

/// An elementwise function of your own, given as a captureless function of symbols, over one to three operands:
/// `y = map([](auto x) { return x * exp(-x); }, a * b)`.
template <class F, class... X>
requires(Operands<X...> && sizeof...(X) <= 3) [[nodiscard]] auto map(F, X&&... x) {
  static_assert(std::is_empty_v<F> && std::is_default_constructible_v<F>,
                "twill: map takes a function without captures; pass what it needs as operands");
  return expr::function_node<F>(std::forward<X>(x)...);
}

}}} // namespace twill::v0::TWILL_ISA
