#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Einstein summation: `einsum<"bij,bjk->bik">(a, b)`, products and sums by the letters of axes, NumPy's einsum with the
// pattern checked by the compiler. Letters that the result lacks are summed over, a letter twice in one operand is its
// diagonal, `...` means leading axes that broadcast. More than two operands are multiplied in the order that costs
// least. Read next: expr/contraction_order.hpp.

#include <twill/core/config.hpp>
#include <twill/core/refused.hpp>
#include <twill/core/text.hpp>
#include <twill/expr/evaluate_products.hpp>
#include <twill/expr/leaf.hpp>
#include <twill/expr/matmul.hpp>
#include <twill/expr/pattern.hpp>
#include <twill/expr/product.hpp>

#include <string_view>
#include <utility>

namespace twill { inline namespace v0 { namespace expr { inline namespace TWILL_ISA {

template <FixedString Text, int... Ranks> struct EinsumRule {
  static constexpr std::string_view name() { return "einsum"; }
  static constexpr Problem problem = Problem::einsum_letter_has_two_extents;
  static constexpr Pattern pattern = [] {
    const int ranks[] = {Ranks...};
    return PatternReader{Text.view(), ranks, static_cast<int>(sizeof...(Ranks))}.read();
  }();
};

/// Refuses a pattern whose text is wrong, or does not fit the operands.
template <class Rule> consteval void check_pattern() {
  constexpr const Pattern& pattern = Rule::pattern;
  constexpr std::int64_t left = pattern.left;
  constexpr std::int64_t right = pattern.right;
  constexpr char letter = static_cast<char>(left);
  if constexpr (pattern.fault == PatternFault::operands)
    static_cast<void>(
        sizeof(Mistake<
               refused<Problem::einsum_pattern_has_another_number_of_operands, with::left<left>, with::right<right>>>));
  else if constexpr (pattern.fault == PatternFault::rank)
    static_cast<void>(
        sizeof(Mistake<refused<Problem::einsum_letters_differ_from_the_rank, with::count<left>, with::rank<right>>>));
  else if constexpr (pattern.fault == PatternFault::unknown_letter)
    static_cast<void>(sizeof(Mistake<refused<Problem::einsum_output_letter_is_in_no_operand, with::letter<letter>>>));
  else if constexpr (pattern.fault == PatternFault::letter_twice)
    static_cast<void>(sizeof(Mistake<refused<Problem::einsum_output_names_a_letter_twice, with::letter<letter>>>));
  else if constexpr (pattern.fault == PatternFault::character)
    static_cast<void>(
        sizeof(Mistake<refused<Problem::einsum_pattern_has_an_unexpected_character, with::letter<letter>>>));
  else if constexpr (pattern.fault == PatternFault::ellipsis)
    static_cast<void>(sizeof(Mistake<refused<Problem::einsum_output_lacks_the_ellipsis, with::count<left>>>));
  else if constexpr (pattern.fault == PatternFault::axes)
    static_cast<void>(sizeof(Mistake<refused<Problem::product_has_more_than_eight_axes, with::count<left>>>));
}

}}}} // namespace twill::v0::expr::TWILL_ISA

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

/// Multiplies the operands and sums over the letters that the result lacks, as NumPy's einsum does.
/// throws: ShapeError when extents of one letter differ, DeviceError
/// cost: one matrix product for each pair of operands
template <FixedString Pattern, TensorOperand... X>
requires(sizeof...(X) >= 1 && sizeof...(X) <= expr::max_factors) [[nodiscard]] auto einsum(X&&... x) {
  using Rule = expr::EinsumRule<Pattern, expr::operand_rank<X>...>;
  if constexpr (Rule::pattern.fault != expr::PatternFault::none) {
    expr::check_pattern<Rule>();
    return expr::first_of(std::forward<X>(x)...);
  } else {
    return expr::product_node<Rule>(std::forward<X>(x)...);
  }
}

}}} // namespace twill::v0::TWILL_ISA
