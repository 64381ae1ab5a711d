#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Kernels of your own, from captureless functions of symbols: ordinary code that is run once, by the compiler, to write
// the lines of a program. An operand used twice is read and computed once. `map` is elementwise. In row programs `sum`,
// `mean`, `max` and similar functions reduce the row, and any chain of reductions is one kernel: `rowwise` gives a
// value for each element, `per_row` one for each row. Read next: expr/row_symbols.hpp for the functions they may use,
// expr/normalise.hpp for examples.

#include <twill/core/config.hpp>
#include <twill/core/promotion.hpp>
#include <twill/expr/evaluate.hpp>
#include <twill/expr/evaluate_reductions.hpp>
#include <twill/expr/leaf.hpp>
#include <twill/expr/operation.hpp>
#include <twill/expr/reduced.hpp>
#include <twill/expr/reductions.hpp>
#include <twill/expr/row_symbols.hpp>

#include <cstddef>
#include <string_view>
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

namespace twill { inline namespace v0 { namespace expr { inline namespace TWILL_ISA {

/// Whether a function has no captures, so that its type tells what it computes.
template <class F> inline constexpr bool is_program = std::is_empty_v<F>&& std::is_default_constructible_v<F>;

/// Refuses other functions of rows; what follows goes on with an operand, so that the refusal is the one error.
template <class F> constexpr void require_program() {
  static_assert(is_program<F>, "twill: a row program is a function without captures; pass what it needs as operands");
}

/// A function of symbols that computes 16-bit floats as float and gives them back. A last operand that is a setting has
/// no part in the choice of the type.
template <class F, bool HasSetting = false> struct RowFunction {
  static constexpr std::string_view name() {
    if constexpr (requires { F::name; })
      return F::name;
    else
      return "rowwise";
  }
  static constexpr Symbol emit(auto... symbols) {
    if constexpr (!is_program<F>) { // refused
      return (symbols, ...);
    } else {
      const DType types[] = {symbols.type()...};
      DType common = types[0];
      for (std::size_t i = 1; i < sizeof...(symbols) - HasSetting; ++i) common = promote(common, types[i]);
      const auto wide = [](Symbol x) { return is_floating(x.type()) ? widened(x) : x; };
      const Symbol result = F{}(wide(symbols)...);
      return result.type() == compute_type(common) ? result.to(common) : result;
    }
  }
};

}}}} // namespace twill::v0::expr::TWILL_ISA

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

/// A function of the rows along an axis, with a value for each element:
/// `rowwise([](auto x) { const auto e = exp(x - max(x)); return e / sum(e); }, a * b)`. Operands broadcast.
template <int Axis = -1, class F, class... X>
requires(Operands<X...> && sizeof...(X) <= 4) [[nodiscard]] auto rowwise(F, X&&... x) {
  expr::require_program<F>();
  return expr::reduced_node<expr::RowFunction<F>, expr::Rest::whole, Axis>(std::forward<X>(x)...);
}

/// A value for each row along an axis, which disappears: `per_row([](auto x) { return max(x) - min(x); }, a)`.
template <int Axis = -1, class F, class... X>
requires(Operands<X...> && sizeof...(X) <= 4) [[nodiscard]] auto per_row(F, X&&... x) {
  expr::require_program<F>();
  return expr::reduced_node<expr::RowFunction<F>, expr::Rest::dropped, Axis>(std::forward<X>(x)...);
}
template <int Axis = -1, class F, class... X>
requires(Operands<X...> && sizeof...(X) <= 4) [[nodiscard]] auto per_row(F, KeptDims, X&&... x) {
  expr::require_program<F>();
  return expr::reduced_node<expr::RowFunction<F>, expr::Rest::kept, Axis>(std::forward<X>(x)...);
}

}}} // namespace twill::v0::TWILL_ISA
