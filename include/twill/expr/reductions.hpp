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

#include <concepts>
#include <utility>

namespace twill { inline namespace v0 { namespace expr { inline namespace TWILL_ISA {

/// Whether a reduced axis stays, with extent 1.
struct KeepDims {
  static constexpr Rest rest = Rest::kept;
};
struct DropDims {
  static constexpr Rest rest = Rest::dropped;
};
template <class K>
concept RestOfDims = std::same_as<K, KeepDims> || std::same_as<K, DropDims>;

}}}} // namespace twill::v0::expr::TWILL_ISA

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

/// `sum<1>(x, keepdims)`: the reduced axes stay, with extent 1.
inline constexpr expr::KeepDims keepdims{};

/// The sum; 0 of no elements.
template <int... Axes, TensorOperand X, expr::RestOfDims K = expr::DropDims> [[nodiscard]] auto sum(X&& x, K = {}) {
  return expr::reduced_node<expr::Combine<kernel::Reduction::sum>, K::rest, Axes...>(std::forward<X>(x));
}

/// The product; 1 of no elements.
template <int... Axes, TensorOperand X, expr::RestOfDims K = expr::DropDims> [[nodiscard]] auto prod(X&& x, K = {}) {
  return expr::reduced_node<expr::Combine<kernel::Reduction::product>, K::rest, Axes...>(std::forward<X>(x));
}

/// The greatest element; NaN if there is one. throws: ValueError when there are no elements
template <int... Axes, TensorOperand X, expr::RestOfDims K = expr::DropDims> [[nodiscard]] auto max(X&& x, K = {}) {
  return expr::reduced_node<expr::Combine<kernel::Reduction::max>, K::rest, Axes...>(std::forward<X>(x));
}

/// The least element; NaN if there is one. throws: ValueError when there are no elements
template <int... Axes, TensorOperand X, expr::RestOfDims K = expr::DropDims> [[nodiscard]] auto min(X&& x, K = {}) {
  return expr::reduced_node<expr::Combine<kernel::Reduction::min>, K::rest, Axes...>(std::forward<X>(x));
}

/// Whether any element is not zero.
template <int... Axes, TensorOperand X, expr::RestOfDims K = expr::DropDims> [[nodiscard]] auto any(X&& x, K = {}) {
  return expr::reduced_node<expr::Combine<kernel::Reduction::any>, K::rest, Axes...>(std::forward<X>(x));
}

/// Whether no element is zero; NumPy's `all`, which is a whole axis of an index here.
template <int... Axes, TensorOperand X, expr::RestOfDims K = expr::DropDims> [[nodiscard]] auto all_of(X&& x, K = {}) {
  return expr::reduced_node<expr::Combine<kernel::Reduction::all>, K::rest, Axes...>(std::forward<X>(x));
}

/// The mean; NaN of no elements.
template <int... Axes, TensorOperand X, expr::RestOfDims K = expr::DropDims> [[nodiscard]] auto mean(X&& x, K = {}) {
  return expr::reduced_node<expr::Mean, K::rest, Axes...>(std::forward<X>(x));
}

/// The index of the greatest element along one axis, or of all in row-major order: the first of several, NaN first.
/// throws: ValueError when there are no elements
template <int... Axis, TensorOperand X, expr::RestOfDims K = expr::DropDims>
requires(sizeof...(Axis) <= 1) [[nodiscard]] auto argmax(X&& x, K = {}) {
  return expr::reduced_node<expr::ArgumentOf<kernel::Reduction::max>, K::rest, Axis...>(std::forward<X>(x));
}
/// The index of the least element, as argmax finds the greatest.
template <int... Axis, TensorOperand X, expr::RestOfDims K = expr::DropDims>
requires(sizeof...(Axis) <= 1) [[nodiscard]] auto argmin(X&& x, K = {}) {
  return expr::reduced_node<expr::ArgumentOf<kernel::Reduction::min>, K::rest, Axis...>(std::forward<X>(x));
}

}}} // namespace twill::v0::TWILL_ISA
