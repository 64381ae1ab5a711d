#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Reductions by NumPy's names, over axes in angle brackets: `sum<1>(x)`, `mean<0, 2>(a * b)`, `max<-1>(x, keepdims)`;
// without axes over all of them. A reduction and its operand are one kernel and one pass over memory, and so is a chain
// of reductions along the rows: `exp(x - max<1>(x, keepdims))` divided by its sum. Sums of integers and booleans are
// int64, means of them float32. Read next: expr/statistics.hpp.

#include <twill/core/axes.hpp>
#include <twill/core/config.hpp>
#include <twill/expr/complex_reductions.hpp>
#include <twill/expr/evaluate.hpp>
#include <twill/expr/evaluate_reductions.hpp>
#include <twill/expr/leaf.hpp>
#include <twill/expr/reduced.hpp>

#include <utility>

namespace twill { inline namespace v0 { namespace expr { inline namespace TWILL_ISA {

template <ReducedDims K> inline constexpr Rest rest_of = K::keeps ? Rest::kept : Rest::dropped;

}}}} // namespace twill::v0::expr::TWILL_ISA

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

/// The sum; 0 of no elements.
template <int... Axes, TensorOperand X, ReducedDims K = DroppedDims> [[nodiscard]] auto sum(X&& x, K = {}) {
  if constexpr (expr::is_complex_operand<X>)
    return expr::reduced_parts<expr::Combine<kernel::Reduction::sum>, expr::rest_of<K>, Axes...>(std::forward<X>(x));
  else
    return expr::reduced_node<expr::Combine<kernel::Reduction::sum>, expr::rest_of<K>, Axes...>(std::forward<X>(x));
}

/// The product; 1 of no elements.
template <int... Axes, TensorOperand X, ReducedDims K = DroppedDims> [[nodiscard]] auto prod(X&& x, K = {}) {
  if constexpr (expr::is_complex_operand<X>)
    return expr::complex_product<expr::rest_of<K>, Axes...>(std::forward<X>(x));
  else
    return expr::reduced_node<expr::Combine<kernel::Reduction::product>, expr::rest_of<K>, Axes...>(std::forward<X>(x));
}

/// The greatest element; NaN if there is one. throws: ValueError when there are no elements
template <int... Axes, TensorOperand X, ReducedDims K = DroppedDims> [[nodiscard]] auto max(X&& x, K = {}) {
  return expr::reduced_node<expr::Combine<kernel::Reduction::max>, expr::rest_of<K>, Axes...>(std::forward<X>(x));
}

/// The least element; NaN if there is one. throws: ValueError when there are no elements
template <int... Axes, TensorOperand X, ReducedDims K = DroppedDims> [[nodiscard]] auto min(X&& x, K = {}) {
  return expr::reduced_node<expr::Combine<kernel::Reduction::min>, expr::rest_of<K>, Axes...>(std::forward<X>(x));
}

/// Whether any element is not zero.
template <int... Axes, TensorOperand X, ReducedDims K = DroppedDims> [[nodiscard]] auto any(X&& x, K = {}) {
  return expr::reduced_node<expr::Combine<kernel::Reduction::any>, expr::rest_of<K>, Axes...>(std::forward<X>(x));
}

/// Whether no element is zero; NumPy's `all`, which is a whole axis of an index here.
template <int... Axes, TensorOperand X, ReducedDims K = DroppedDims> [[nodiscard]] auto all_of(X&& x, K = {}) {
  return expr::reduced_node<expr::Combine<kernel::Reduction::all>, expr::rest_of<K>, Axes...>(std::forward<X>(x));
}

/// The mean; NaN of no elements.
template <int... Axes, TensorOperand X, ReducedDims K = DroppedDims> [[nodiscard]] auto mean(X&& x, K = {}) {
  if constexpr (expr::is_complex_operand<X>)
    return expr::reduced_parts<expr::Mean, expr::rest_of<K>, Axes...>(std::forward<X>(x));
  else
    return expr::reduced_node<expr::Mean, expr::rest_of<K>, Axes...>(std::forward<X>(x));
}

/// The index of the greatest element along one axis, or of all in row-major order: the first of several, NaN first.
/// throws: ValueError when there are no elements
template <int... Axis, TensorOperand X, ReducedDims K = DroppedDims>
requires(sizeof...(Axis) <= 1) [[nodiscard]] auto argmax(X&& x, K = {}) {
  return expr::reduced_node<expr::ArgumentOf<kernel::Reduction::max>, expr::rest_of<K>, Axis...>(std::forward<X>(x));
}
/// The index of the least element, as argmax finds the greatest.
template <int... Axis, TensorOperand X, ReducedDims K = DroppedDims>
requires(sizeof...(Axis) <= 1) [[nodiscard]] auto argmin(X&& x, K = {}) {
  return expr::reduced_node<expr::ArgumentOf<kernel::Reduction::min>, expr::rest_of<K>, Axis...>(std::forward<X>(x));
}

}}} // namespace twill::v0::TWILL_ISA
