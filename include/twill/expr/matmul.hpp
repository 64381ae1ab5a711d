#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Matrix products of tensors, NumPy's `matmul`, and the dense layer around them. They are expressions like any other: a
// statement computes the product and, after each block of its rows, bias and activation in place. Transposed views
// reach the product as they are; vectors are rows on the left, columns on the right. Read next: expr/products.hpp.

#include <twill/core/config.hpp>
#include <twill/core/refused.hpp>
#include <twill/expr/evaluate_products.hpp>
#include <twill/expr/leaf.hpp>
#include <twill/expr/operators.hpp>
#include <twill/expr/pattern.hpp>
#include <twill/expr/product.hpp>

#include <string_view>
#include <utility>

namespace twill { inline namespace v0 { namespace expr { inline namespace TWILL_ISA {

/// Batch axes broadcast, aligned from the right; then rows, inner, columns.
[[nodiscard]] constexpr Pattern matmul_pattern(int left, int right) {
  Pattern pattern{};
  pattern.count = 2;
  const int batch = (left > right ? left : right) > 2 ? (left > right ? left : right) - 2 : 0;
  pattern.stretched = (1U << batch) - 1U;
  const int rows = batch;
  const int inner = batch + 1;
  const int columns = batch + 2;
  pattern.labels = batch + 3;
  for (int axis = left > 2 ? batch - (left - 2) : batch; axis < batch; ++axis) pattern[0].append(axis);
  for (int axis = right > 2 ? batch - (right - 2) : batch; axis < batch; ++axis) pattern[1].append(axis);
  for (int axis = 0; axis < batch; ++axis) pattern.result.append(axis);
  if (left > 1) pattern[0].append(rows);
  pattern[0].append(inner);
  pattern[1].append(inner);
  if (right > 1) pattern[1].append(columns);
  if (left > 1) pattern.result.append(rows);
  if (right > 1) pattern.result.append(columns);
  return pattern;
}

template <int Left, int Right> struct MatmulRule {
  static constexpr std::string_view name() { return "matmul"; }
  static constexpr Pattern pattern = matmul_pattern(Left, Right);
  static constexpr Problem problem = Problem::matmul_left_columns_differ_from_right_rows;
};

/// The rank of an operand's shape.
template <class X> inline constexpr int operand_rank = std::remove_cvref_t<X>::shape_type::rank;

}}}} // namespace twill::v0::expr::TWILL_ISA

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

/// The matrix product of the last two axes; axes before them broadcast. A vector on the left is a row, on the right a
/// column, and its axis disappears.
/// throws: ShapeError, DeviceError
template <TensorOperand A, TensorOperand B> [[nodiscard]] auto matmul(A&& left, B&& right) {
  constexpr int a = expr::operand_rank<A>;
  constexpr int b = expr::operand_rank<B>;
  if constexpr (a == 0 || b == 0)
    static_cast<void>(sizeof(
        Mistake<refused<Problem::matmul_needs_at_least_one_dimension, with::left_rank<a>, with::right_rank<b>>>));
  return expr::product_node<expr::MatmulRule<a, b>>(std::forward<A>(left), std::forward<B>(right));
}

}}} // namespace twill::v0::TWILL_ISA
