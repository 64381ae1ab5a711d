#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Reductions of the row inside functions of symbols: `sum(x)` of a symbol is one value for the whole row, which
// arithmetic broadcasts again. A reduced value is computed once, however often it is named, so softmax or variance are
// ordinary code of a few lines. `rowwise` hands them to users. Read next: expr/reduction_operations.hpp.

#include <twill/core/config.hpp>
#include <twill/core/dtype.hpp>
#include <twill/core/promotion.hpp>
#include <twill/elementwise/rows.hpp>
#include <twill/expr/code.hpp>
#include <twill/expr/symbol.hpp>
#include <twill/kernel/program.hpp>

namespace twill { inline namespace v0 { namespace expr { inline namespace TWILL_ISA {

[[nodiscard]] constexpr Symbol reduce_row(kernel::Reduction reduction, Symbol x) {
  return {x.code(), x.code().reduce(kernel::LineKind::reduce, reduction, x.line())};
}
/// The number of elements of a row, in the type of x.
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
/// For truth values the greatest means whether any holds.
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
/// The type in which squares of a type's numbers are summed, so that their root is right wherever it is representable.
[[nodiscard]] constexpr DType square_sum_type(DType type) {
  return type == DType::float16 ? DType::float32 : DType::float64; // float32 holds the squares of all float16
}

/// A power of two for each row, by which its values can be multiplied before they are squared: no square of differences
/// overflows, none that counts vanishes. 1 where they are neither huge nor tiny, and for float16. x is `widened`.
[[nodiscard]] constexpr Symbol square_scale(DType type, Symbol value) {
  if (type == DType::float16) return value.number(1);
  const Symbol greatest = max(abs(value));
  const bool is_wide = value.type() == DType::float64;
  const double large = is_wide ? 0x1p+400 : 0x1p+48, small = is_wide ? 0x1p-400 : 0x1p-30, tiny = is_wide ? 0 : 0x1p-80;
  const Symbol up = where(greatest < small, value.number(is_wide ? 0x1p+600 : 0x1p+50), value.number(1));
  const Symbol further = is_wide ? up : where(greatest < tiny, value.number(0x1p+110), up);
  return where(greatest > large, value.number(is_wide ? 0x1p-600 : 0x1p-80), further);
}

/// The mean square of differences from the mean with divisor n - correction, times the square of a scale.
struct ScaledVariance {
  Symbol value;
  Symbol scale;

  [[nodiscard]] constexpr Symbol variance() const { return value / scale / scale; }
  [[nodiscard]] constexpr Symbol deviation() const { return sqrt(value) / scale; }
};

/// From scaled differences of `count` values from their mean; their sum gives the error of the rounded mean.
/// Source: Chan, Golub and LeVeque, "Algorithms for computing the sample variance" (1983), the corrected formula.
[[nodiscard]] constexpr ScaledVariance scaled_variance(Symbol scaled, Symbol scale, Symbol count, int correction) {
  const Symbol rest = sum(scaled);
  const Symbol total = maximum(sum(square(scaled)) - rest * (rest / count), 0.0);
  return {total / maximum(count - static_cast<double>(correction), 0.0), scale};
}

/// sum((x - mean)^2) / (n - correction), right wherever it and the sum of the row can be represented.
[[nodiscard]] constexpr ScaledVariance scaled_variance(Symbol x, int correction) {
  const Symbol value = widened(x), scale = square_scale(x.type(), value);
  const Symbol lowered = -(mean(value) * scale);
  const int scaled = x.code().step(Primitive::fma, value.type(), {value.line(), scale.line(), lowered.line(), 0});
  return scaled_variance({x.code(), scaled}, scale, row_length(value), correction);
}
[[nodiscard]] constexpr Symbol var(Symbol x, int correction = 0) { return scaled_variance(x, correction).variance(); }
[[nodiscard]] constexpr Symbol stddev(Symbol x, int correction = 0) {
  return scaled_variance(x, correction).deviation();
}

/// Reductions of the row for the formulas of elementwise/rows.hpp, whose values are `widened`.
struct AlongRow {
  static constexpr Symbol sum(Symbol x) { return expr::sum(x); }
  static constexpr Symbol mean(Symbol x) { return expr::mean(x); }
  static constexpr Symbol max(Symbol x) { return expr::max(x); }
  static constexpr Symbol fixed(Symbol x) { return x; }
};
/// log(sum(exp(x))) without overflow; -inf where all are -inf.
[[nodiscard]] constexpr Symbol logsumexp(Symbol x) { return formula::LogSumExp{}(widened(x), AlongRow{}); }

}}}} // namespace twill::v0::expr::TWILL_ISA
