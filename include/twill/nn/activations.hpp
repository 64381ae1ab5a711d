#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Activation functions of rows, softmax and its relatives, for traced values: the formulas of elementwise/rows.hpp
// along an axis. Those of single elements: elementwise/activations.hpp. Read next: nn/normalisation.hpp.

#include <twill/core/config.hpp>
#include <twill/graph/functions.hpp>
#include <twill/graph/reductions.hpp>
#include <twill/ops/biased_product.hpp>

namespace twill { inline namespace v0 { namespace graph { namespace detail { inline namespace TWILL_ISA {

/// The greatest of each row, and how far logsumexp exceeds it: apart, since their sum would lose the digits of the
/// second. Rows whose greatest is infinite have NaN, as in PyTorch's log_softmax and cross entropy.
struct Normaliser {
  Value greatest;
  Value excess;
};
[[nodiscard]] TWILL_CONSTEXPR Normaliser normaliser(Value x, int axis, int line) {
  const AlongAxis row{axis, line};
  const Value greatest = row.fixed(row.max(x));
  return {greatest, log(row.sum(exp(x - greatest)))};
}

}}}}} // namespace twill::v0::graph::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace graph { inline namespace TWILL_ISA {

/// exp(x - max) / sum over one axis.
[[nodiscard]] TWILL_CONSTEXPR Value softmax(Value x, int axis = -1, int line = __builtin_LINE()) {
  return formula::Softmax{}(detail::autocast_to_wide(x), AlongAxis{axis, line});
}

/// log(sum(exp(x))) over one axis, which stays with extent one. Rows with infinity have their maximum for it, as have
/// rows of nothing but its negative.
[[nodiscard]] TWILL_CONSTEXPR Value logsumexp(Value x, int axis = -1, int line = __builtin_LINE()) {
  return formula::LogSumExp{}(detail::autocast_to_wide(x), AlongAxis{axis, line});
}

/// x - logsumexp(x) over one axis; NaN in rows whose maximum is infinite.
[[nodiscard]] TWILL_CONSTEXPR Value log_softmax(Value x, int axis = -1, int line = __builtin_LINE()) {
  return formula::LogSoftmax{}(detail::autocast_to_wide(x), AlongAxis{axis, line});
}

}}}} // namespace twill::v0::graph::TWILL_ISA
