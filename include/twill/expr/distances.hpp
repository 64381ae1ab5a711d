#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Distances between the rows of two tensors, by the norms of expr/norms.hpp: one kernel that reads both and writes the
// distances, without the differences in memory. Not in twill.hpp. Read next: expr/norms.hpp.

#include <twill/core/axes.hpp>
#include <twill/core/config.hpp>
#include <twill/expr/evaluate.hpp>
#include <twill/expr/norms.hpp>
#include <twill/expr/operators.hpp>

#include <utility>

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

/// The distances between all rows of a (..., m, width) and all of b (..., n, width): (..., m, n), of an order as norms
/// have: `cdist(a, b)`, `cdist(a, b, order<1>)`, `cdist(a, b, order_inf)`. Leading axes broadcast.
/// cost: m n width operations
template <TensorOperand A, TensorOperand B, class Order = NormOrder<2>>
[[nodiscard]] auto cdist(A&& a, B&& b, Order order_of_norm = {}) {
  static_assert(std::remove_cvref_t<A>::shape_type::rank >= 2 && std::remove_cvref_t<B>::shape_type::rank >= 2,
                "twill: cdist: both operands have rows: two axes at least");
  const auto left = expr::evaluated(std::forward<A>(a));
  const auto right = expr::evaluated(std::forward<B>(b));
  return norm<-1>(left.template unsqueeze<-2>() - right.template unsqueeze<-3>(), order_of_norm);
}

}}} // namespace twill::v0::TWILL_ISA
