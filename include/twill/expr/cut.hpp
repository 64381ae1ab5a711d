#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Cuts of expressions that have more lines than a program takes: parts of them are computed first, each by a program of
// its own, and stand as tensors in what is left. A part's values are rounded to its element type, as those of a
// statement of its own would be. Read next: expr/evaluate.hpp.

#include <twill/core/config.hpp>
#include <twill/expr/code.hpp>
#include <twill/expr/leaf.hpp>
#include <twill/expr/node.hpp>
#include <twill/expr/symbol.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace twill { inline namespace v0 { namespace expr { inline namespace TWILL_ISA {

/// The lines of a part of a cut expression, which leave room for conversions and outputs.
inline constexpr int most_lines_of_a_part = Code::capacity - 8;

/// Whether an expression with this code is cut: a program may also convert its result.
[[nodiscard]] constexpr bool is_cut(const Code& code) { return code.is_too_long || code.count > Code::capacity - 4; }

/// The lines that an operation has beside those of its operands, at most: equal lines are one in a program.
template <class Op, class... A> [[nodiscard]] constexpr int own_lines() {
  Code code{};
  const int operands[] = {code.constant(A::dtype)...};
  const int before = code.count;
  [&]<std::size_t... I>(std::index_sequence<I...>) { static_cast<void>(Op::emit(Symbol{code, operands[I]}...)); }
  (std::index_sequence_for<A...>{});
  return code.count - before;
}

/// The lines of an expression, at most.
template <class E>
inline constexpr int lines_of = [] {
  Code code{};
  static_cast<void>(E::lower(code, Frame{}));
  return code.count;
}();
template <class Op, class... A>
inline constexpr int lines_of<Node<Op, A...>> = own_lines<Op, A...>() + (lines_of<A> + ...);

template <class E> [[nodiscard]] auto shortened(const E& expression);
template <int Longest, class A> [[nodiscard]] auto operand_of_cut(const A& operand) {
  if constexpr (lines_of<A> < Longest)
    return operand;
  else
    return shortened(operand);
}

/// What takes the place of a cut expression or of an operand of one: an expression of few enough lines, whose longest
/// parts are computed by this call, or a tensor.
template <class E> [[nodiscard]] auto shortened(const E& expression) {
  if constexpr (lines_of<E> <= most_lines_of_a_part) {
    using S = typename E::shape_type;
    return Held<typename E::value_type, typename E::device_type, S>{evaluate_as<S>(expression)};
  } else {
    auto rest = expression.operands.apply([]<class... A>(const A&... operand) {
      return rebuilt(static_cast<const E*>(nullptr), operand_of_cut<std::max({lines_of<A>...})>(operand)...);
    });
    if constexpr (lines_of<decltype(rest)> <= most_lines_of_a_part)
      return rest;
    else
      return shortened(rest);
  }
}

}}}} // namespace twill::v0::expr::TWILL_ISA
