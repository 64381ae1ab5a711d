#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Reductions by NumPy's names, over axes in angle brackets: `sum<1>(x)`, `mean<0, 2>(a * b)`, `max<-1>(x, keepdims)`;
// without axes over all of them. A reduction and its operand are one kernel and one pass over memory, and so is a chain
// of reductions along the rows: `exp(x - max<1>(x, keepdims))` divided by its sum. Sums of integers and booleans are
// int64, means of them float32. Read next: expr/statistics.hpp.

#include <twill/core/config.hpp>
#include <twill/expr/evaluate.hpp>
#include <twill/expr/evaluate_reductions.hpp>
#include <twill/expr/leaf.hpp>
#include <twill/expr/reduced.hpp>

#include <utility>

namespace twill { inline namespace v0 { namespace expr { inline namespace TWILL_ISA {

struct KeepDims {};

}}}} // namespace twill::v0::expr::TWILL_ISA

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

/// `sum<1>(x, keepdims)`: the reduced axes stay, with extent 1.
inline constexpr expr::KeepDims keepdims{};

/// The sum; 0 of no elements.
template <int... Axes, TensorOperand X> [[nodiscard]] auto sum(X&& x) {
  return expr::reduced_node<expr::Combine<kernel::Reduction::sum>, expr::Rest::dropped, Axes...>(std::forward<X>(x));
}
template <int... Axes, TensorOperand X> [[nodiscard]] auto sum(X&& x, expr::KeepDims) {
  return expr::reduced_node<expr::Combine<kernel::Reduction::sum>, expr::Rest::kept, Axes...>(std::forward<X>(x));
}

/// The product; 1 of no elements.
template <int... Axes, TensorOperand X> [[nodiscard]] auto prod(X&& x) {
  return expr::reduced_node<expr::Combine<kernel::Reduction::product>, expr::Rest::dropped, Axes...>(
      std::forward<X>(x));
}
template <int... Axes, TensorOperand X> [[nodiscard]] auto prod(X&& x, expr::KeepDims) {
  return expr::reduced_node<expr::Combine<kernel::Reduction::product>, expr::Rest::kept, Axes...>(std::forward<X>(x));
}

/// The greatest element; NaN if there is one. throws: ValueError when there are no elements
template <int... Axes, TensorOperand X> [[nodiscard]] auto max(X&& x) {
  return expr::reduced_node<expr::Combine<kernel::Reduction::max>, expr::Rest::dropped, Axes...>(std::forward<X>(x));
}
template <int... Axes, TensorOperand X> [[nodiscard]] auto max(X&& x, expr::KeepDims) {
  return expr::reduced_node<expr::Combine<kernel::Reduction::max>, expr::Rest::kept, Axes...>(std::forward<X>(x));
}

/// The least element; NaN if there is one. throws: ValueError when there are no elements
template <int... Axes, TensorOperand X> [[nodiscard]] auto min(X&& x) {
  return expr::reduced_node<expr::Combine<kernel::Reduction::min>, expr::Rest::dropped, Axes...>(std::forward<X>(x));
}
template <int... Axes, TensorOperand X> [[nodiscard]] auto min(X&& x, expr::KeepDims) {
  return expr::reduced_node<expr::Combine<kernel::Reduction::min>, expr::Rest::kept, Axes...>(std::forward<X>(x));
}

/// Whether any element is not zero.
template <int... Axes, TensorOperand X> [[nodiscard]] auto any(X&& x) {
  return expr::reduced_node<expr::Combine<kernel::Reduction::any>, expr::Rest::dropped, Axes...>(std::forward<X>(x));
}
template <int... Axes, TensorOperand X> [[nodiscard]] auto any(X&& x, expr::KeepDims) {
  return expr::reduced_node<expr::Combine<kernel::Reduction::any>, expr::Rest::kept, Axes...>(std::forward<X>(x));
}

/// Whether no element is zero; NumPy's `all`, which is a whole axis of an index here.
template <int... Axes, TensorOperand X> [[nodiscard]] auto all_of(X&& x) {
  return expr::reduced_node<expr::Combine<kernel::Reduction::all>, expr::Rest::dropped, Axes...>(std::forward<X>(x));
}
template <int... Axes, TensorOperand X> [[nodiscard]] auto all_of(X&& x, expr::KeepDims) {
  return expr::reduced_node<expr::Combine<kernel::Reduction::all>, expr::Rest::kept, Axes...>(std::forward<X>(x));
}

/// The mean; NaN of no elements.
template <int... Axes, TensorOperand X> [[nodiscard]] auto mean(X&& x) {
  return expr::reduced_node<expr::Mean, expr::Rest::dropped, Axes...>(std::forward<X>(x));
}
template <int... Axes, TensorOperand X> [[nodiscard]] auto mean(X&& x, expr::KeepDims) {
  return expr::reduced_node<expr::Mean, expr::Rest::kept, Axes...>(std::forward<X>(x));
}

/// The index of the greatest element along one axis, or of all in row-major order: the first of several, NaN first.
/// throws: ValueError when there are no elements
template <int... Axis, TensorOperand X>
requires(sizeof...(Axis) <= 1) [[nodiscard]] auto argmax(X&& x) {
  return expr::reduced_node<expr::ArgumentOf<kernel::Reduction::max>, expr::Rest::dropped, Axis...>(std::forward<X>(x));
}
template <int... Axis, TensorOperand X>
requires(sizeof...(Axis) <= 1) [[nodiscard]] auto argmax(X&& x, expr::KeepDims) {
  return expr::reduced_node<expr::ArgumentOf<kernel::Reduction::max>, expr::Rest::kept, Axis...>(std::forward<X>(x));
}
/// The index of the least element, as argmax finds the greatest.
template <int... Axis, TensorOperand X>
requires(sizeof...(Axis) <= 1) [[nodiscard]] auto argmin(X&& x) {
  return expr::reduced_node<expr::ArgumentOf<kernel::Reduction::min>, expr::Rest::dropped, Axis...>(std::forward<X>(x));
}
template <int... Axis, TensorOperand X>
requires(sizeof...(Axis) <= 1) [[nodiscard]] auto argmin(X&& x, expr::KeepDims) {
  return expr::reduced_node<expr::ArgumentOf<kernel::Reduction::min>, expr::Rest::kept, Axis...>(std::forward<X>(x));
}

}}} // namespace twill::v0::TWILL_ISA
