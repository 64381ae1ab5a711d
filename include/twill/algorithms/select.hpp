#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Selection along an axis: the greatest, the least, and the k-th elements, with their indices. Names, defaults and
// order are PyTorch's: `topk` gives the greatest first, `topk(x, k, ascending)` the least first; NaN counts as the
// greatest; equal elements come in the order of their indices. Read next: algorithms/sort.hpp.

#include <twill/algorithms/policy.hpp>
#include <twill/algorithms/rows.hpp>
#include <twill/algorithms/sort.hpp>
#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/core/shape.hpp>
#include <twill/tensor/tensor.hpp>

#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

namespace twill { inline namespace v0 { namespace algorithms {

/// Elements, and their positions along the axis.
template <class Values, class Indices> struct Selected {
  Values values;   ///< the elements
  Indices indices; ///< int64, their positions along the axis
};

}}} // namespace twill::v0::algorithms

namespace twill { inline namespace v0 { namespace algorithms { inline namespace TWILL_ISA {

/// The elements [first, first + count) along the last axis of sorted rows, with the axes in their original positions.
template <int Axis, class Rows> [[nodiscard]] auto cut(const Rows& rows, std::int64_t first, std::int64_t count) {
  return as_before<Axis>(rows(ellipsis, slice{first, first + count}));
}

/// Elements [first, first + count) of the sorted order along an axis, by the policy.
template <int Axis, bool IsDescending, class Policy, class X>
[[nodiscard]] auto select(const char* operation, Policy policy, const X& source, std::int64_t first,
                          std::int64_t count) {
  auto rows = copied_rows<Axis>(source);
  const std::int64_t length = rows.size(-1);
  if (count < 0 || first < 0 || first + count > length)
    throw ValueError(std::string(operation) + ": k is " + std::to_string(first + count) + ", the axis has " +
                     std::to_string(length) + " elements");
  const auto indices = sort_rows_with_indices<IsDescending>(policy, rows);
  auto values = cut<Axis>(rows, first, count);
  auto places = cut<Axis>(indices, first, count);
  return algorithms::Selected<decltype(values), decltype(places)>{std::move(values), std::move(places)};
}

}}}} // namespace twill::v0::algorithms::TWILL_ISA

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

/// The k greatest elements along an axis, greatest first, and their indices. Options: a policy, and `ascending` for the
/// k least. throws: ValueError (k outside 0 to the extent)    cost: a sort of each row
template <int Axis = -1, TensorOperand X, class... O>
requires algorithms::Options<O...>
[[nodiscard]] auto topk(X&& x, std::int64_t k, O...) {
  constexpr bool least = (std::is_same_v<O, algorithms::Ascending> || ...);
  const auto source = algorithms::tensor_of_operand(std::forward<X>(x));
  return algorithms::select<Axis, !least>("topk", algorithms::policy_t<O...>{}, source, 0, k);
}

/// The k-th least element along an axis (the least is k = 1) and its index; the axis disappears.
/// throws: ValueError (k outside 1 to the extent)    cost: a sort of each row
template <int Axis = -1, TensorOperand X, class... O>
requires algorithms::Options<O...>
[[nodiscard]] auto kthvalue(X&& x, std::int64_t k, O...) {
  const auto source = algorithms::tensor_of_operand(std::forward<X>(x));
  const auto one = algorithms::select<Axis, algorithms::is_descending<O...>>("kthvalue", algorithms::policy_t<O...>{},
                                                                             source, k - 1, 1);
  constexpr int axis = axis_of<Axis, std::remove_cvref_t<decltype(source)>::rank>;
  auto values = one.values.template squeeze<axis>();
  auto indices = one.indices.template squeeze<axis>();
  return algorithms::Selected<decltype(values), decltype(indices)>{std::move(values), std::move(indices)};
}

}}} // namespace twill::v0::TWILL_ISA
