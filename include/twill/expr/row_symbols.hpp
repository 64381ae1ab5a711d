#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Reductions of the row inside functions of symbols: `sum(x)` of a symbol is one value for the whole row, which arithmetic
// broadcasts again. What is reduced is computed once, however often the function names it, so softmax or variance are
// ordinary code of a few lines. `rowwise` hands them to users. Read next: expr/reduction_operations.hpp.

#include <twill/core/config.hpp>
#include <twill/core/dtype.hpp>
#include <twill/core/promotion.hpp>
#include <twill/expr/code.hpp>
#include <twill/expr/symbol.hpp>
#include <twill/expr/symbol_functions.hpp>
#include <twill/kernel/program.hpp>

namespace twill::inline v0::expr::inline TWILL_ISA {

[[nodiscard]] constexpr Symbol reduce_row(kernel::Reduction reduction, Symbol x) {
  return {x.code(), x.code().reduce(kernel::LineKind::reduce, reduction, x.line())};
}
/// How many elements a row has, in the type of x.
[[nodiscard]] constexpr Symbol row_length(Symbol x) { return {x.code(), x.code().row_length(x.type())}; }
/// The position of each element in its row, int64.
[[nodiscard]] constexpr Symbol row_index(Symbol x) { return {x.code(), x.code().row_index()}; }

/// The type in which a value is summed and averaged along a row: a 16-bit float widened.
[[nodiscard]] constexpr Symbol widened(Symbol x) { return x.to(compute_type(floating_type(x.type()))); }

/// Sums of integers and truth values are int64.
[[nodiscard]] constexpr Symbol sum(Symbol x) { return reduce_row(kernel::Reduction::sum, x.to(sum_type(x.type()))); }
[[nodiscard]] constexpr Symbol prod(Symbol x) {
  return reduce_row(kernel::Reduction::product, x.to(sum_type(x.type())));
}
/// The greatest of truth values is whether any holds.
[[nodiscard]] constexpr Symbol max(Symbol x) {
  return reduce_row(x.type() == DType::boolean ? kernel::Reduction::any : kernel::Reduction::max, x);
}
[[nodiscard]] constexpr Symbol min(Symbol x) {
  return reduce_row(x.type() == DType::boolean ? kernel::Reduction::all : kernel::Reduction::min, x);
}
[[nodiscard]] constexpr Symbol any(Symbol x) { return reduce_row(kernel::Reduction::any, x.to(DType::boolean)); }
[[nodiscard]] constexpr Symbol all_of(Symbol x) { return reduce_row(kernel::Reduction::all, x.to(DType::boolean)); }
[[nodiscard]] constexpr Symbol mean(Symbol x) {
  const Symbol total = sum(widened(x));
  return total / row_length(total);
}
/// sum((x - mean)^2) / (n - correction)
[[nodiscard]] constexpr Symbol var(Symbol x, int correction = 1) {
  const Symbol value = widened(x);
  const Symbol total = sum(square(value - mean(value)));
  return total / maximum(row_length(total) - static_cast<double>(correction), 0.0);
}

/// What is subtracted before exponentials are taken: the greatest, or 0 where that is infinite or NaN.
[[nodiscard]] constexpr Symbol finite_max(Symbol x) {
  const Symbol greatest = max(x);
  return where(isfinite(greatest), greatest, greatest.number(0));
}
/// log(sum(exp(x))) without overflow; -inf of nothing but -inf.
[[nodiscard]] constexpr Symbol logsumexp(Symbol x) {
  const Symbol value = widened(x);
  const Symbol shift = finite_max(value);
  return log(sum(exp(value - shift))) + shift;
}

} // namespace twill::inline v0::expr::inline TWILL_ISA
