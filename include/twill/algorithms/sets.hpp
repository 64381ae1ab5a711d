#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Sets of elements, with NumPy's names: membership, and the ascending distinct elements of intersections, unions and
// differences. NaN equals nothing, itself included, so it is in no set. Not in twill.hpp. Read next:
// algorithms/unique.hpp.

#include <twill/algorithms/rows.hpp>
#include <twill/algorithms/search.hpp>
#include <twill/algorithms/sort.hpp>
#include <twill/algorithms/unique.hpp>
#include <twill/core/config.hpp>
#include <twill/core/promotion.hpp>
#include <twill/expr/evaluate.hpp>
#include <twill/expr/join.hpp>
#include <twill/expr/masks.hpp>
#include <twill/expr/operators.hpp>
#include <twill/expr/take.hpp>
#include <twill/tensor/tensor.hpp>

#include <cstdint>
#include <utility>

namespace twill { inline namespace v0 { namespace algorithms { inline namespace TWILL_ISA {

/// Both operands as vectors of their common element type.
template <class A, class B> [[nodiscard]] auto as_common_vectors(A&& a, B&& b) {
  const auto left = tensor_of_operand(std::forward<A>(a));
  const auto right = tensor_of_operand(std::forward<B>(b));
  using T = promote_t<typename decltype(left)::value_type, typename decltype(right)::value_type>;
  return std::pair{left.template to<T>().flatten(), right.template to<T>().flatten()};
}

}}}} // namespace twill::v0::algorithms::TWILL_ISA

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

/// Whether each element of x is among those of `set`, in the shape of x. cost: a sort of the set, a search for each
/// element
template <TensorOperand X, TensorOperand S> [[nodiscard]] auto isin(X&& x, S&& set) {
  const auto source = algorithms::tensor_of_operand(std::forward<X>(x));
  const auto sorted = sort(algorithms::tensor_of_operand(std::forward<S>(set)).flatten());
  if (sorted.elements() == 0) return eval(less(source, source)); // false
  const auto places = eval(minimum(searchsorted(sorted, source), sorted.elements() - 1));
  return eval(equal(take<0>(sorted, places), source));
}

/// The distinct elements that are in both, ascending.
template <TensorOperand A, TensorOperand B> [[nodiscard]] auto intersect1d(A&& a, B&& b) {
  const auto [left, right] = algorithms::as_common_vectors(std::forward<A>(a), std::forward<B>(b));
  const auto distinct = unique(left);
  return eval(masked_select(distinct, isin(distinct, right)));
}

/// The distinct elements that are in one of them or in both, ascending.
template <TensorOperand A, TensorOperand B> [[nodiscard]] auto union1d(A&& a, B&& b) {
  const auto [left, right] = algorithms::as_common_vectors(std::forward<A>(a), std::forward<B>(b));
  return unique(concat<0>(left, right));
}

/// The distinct elements of a that are not in b, ascending.
template <TensorOperand A, TensorOperand B> [[nodiscard]] auto setdiff1d(A&& a, B&& b) {
  const auto distinct = unique(algorithms::tensor_of_operand(std::forward<A>(a)));
  return eval(masked_select(distinct, logical_not(isin(distinct, std::forward<B>(b)))));
}

/// The distinct elements that are in exactly one of them, ascending.
template <TensorOperand A, TensorOperand B> [[nodiscard]] auto setxor1d(A&& a, B&& b) {
  const auto [left, right] = algorithms::as_common_vectors(std::forward<A>(a), std::forward<B>(b));
  return unique(concat<0>(setdiff1d(left, right), setdiff1d(right, left)));
}

}}} // namespace twill::v0::TWILL_ISA
